// The kernel of everything that is a matrix product at heart: result[row, column] = sum over k of left[row, k] *
// right[k, column].
//
// A work item is a block of rows times a group of panels of one step of the outer loops. Within it, panels are the
// outer loop and row tiles the inner one, so that a panel comes once from the L2 cache. Rows are cut into tiles of
// nearly equal height.
#ifndef LLMC_COMPILER_CODEGEN_CPU_GEMM_H
#define LLMC_COMPILER_CODEGEN_CPU_GEMM_H

#include "compiler/Codegen/Cpu/Epilogue.h"
#include "compiler/Codegen/Cpu/Strategy.h"
#include <functional>

namespace llmc::cpu {

struct Gemm {
  Gemm(Nest nest, Epilogue epilogue, graph::DimExpr segments, graph::DimExpr depth)
      : nest(std::move(nest)), epilogue(std::move(epilogue)), segments(segments), depth(depth) {}

  Nest nest; // the innermost loop is the columns
  Epilogue epilogue;
  unsigned rowLoop = 0; // number of the loop over rows; all others but the innermost are outer loops

  /// k runs over `segments` runs of `depth` steps. With one segment there is no loop over them.
  graph::DimExpr segments, depth;

  /// The left operand: an access with its steps, or rows that `Rows` finds.
  std::optional<unsigned> left;
  graph::DimExpr leftSegmentStep, leftStep;
  class Rows;
  Rows *rows = nullptr;
  std::optional<int64_t> rowBytes; // see GemmShape

  /// The right operand: panels as packed constants (strides of the access are then those of the panels' groups in
  /// elements), or any strided matrix, whose panels are packed into scratch as they are needed.
  unsigned right = 0;
  bool rightIsPacked = false;
  graph::DimExpr rightSegmentStep, rightStep;
};

/// Rows of a left operand that do not lie at a fixed stride.
class Gemm::Rows {
public:
  virtual ~Rows() = default;
  /// Bytes of scratch it needs.
  virtual graph::DimExpr scratchBytes(const GemmStrategy &strategy) = 0;
  /// Once per call of the kernel.
  virtual void prepareKernel(mlir::Value scratch, const GemmStrategy &strategy) = 0;
  /// Once per work item: rows `first` to `last` (exclusive) at `indices` of the outer loops.
  virtual void prepareBlock(const Nest &nest, unsigned rowLoop, llvm::ArrayRef<mlir::Value> indices, mlir::Value first,
                            mlir::Value last) = 0;
  /// Pointers to k = 0 of `count` rows from `row` on (counted from the block's first) in `segment`.
  virtual llvm::SmallVector<mlir::Value> pointers(mlir::Value row, int64_t count, mlir::Value segment) = 0;
};

/// Collapses into the loop over rows all loops that can be walked together with it; `candidates` are numbers of loops
/// over which the right operand does not move, innermost last. Gives the number of the loop over rows.
unsigned collapseRows(Nest &nest, llvm::SmallVector<unsigned> candidates);

/// Emits the kernel's loops and sets its cost. Fails, with an error, if the epilogue can not be applied.
mlir::LogicalResult emitGemm(KernelBuilder &kb, Gemm &gemm);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_GEMM_H
