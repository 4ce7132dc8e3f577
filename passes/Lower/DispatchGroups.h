// Which ops one kernel computes.
#ifndef LLMC_PASSES_LOWER_DISPATCHGROUPS_H
#define LLMC_PASSES_LOWER_DISPATCHGROUPS_H

#include "passes/Lower/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace llmc {

struct DispatchGroup {
  enum class Kind {
    Root,      // one convolution, pooling or matrix product, and at most one element-wise op on its result
    Rows,      // reductions and element-wise ops over the same leading dims
    Reference, // one graph op with no generated code
  };
  Kind kind;
  llvm::SmallVector<mlir::Operation *> ops; // in program order
  int64_t rowRank = -1;                     // Rows: number of leading dims that all ops share; -1: whatever the first has
};

/// Whether the op needs a kernel at run time (constants, views, sizes and slices do not).
bool needsKernel(mlir::Operation *op);

/// Whether ops stay on their side of this one: it defines symbols, or its blocks use values, which no operand shows.
bool isFence(mlir::Operation *op);

/// Groups the kernel ops of a block: each op belongs to exactly one group, and running the groups one after another, each at the place
/// of its last op, respects all uses. Without `fuse` each group has one op.
std::vector<DispatchGroup> groupDispatches(mlir::Block &block, bool fuse);

} // namespace llmc

#endif // LLMC_PASSES_LOWER_DISPATCHGROUPS_H
