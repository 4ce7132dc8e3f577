// A nest of parallel loops over the result of a root op, and how each tensor of the kernel is walked by it.
//
// The nest starts as one loop per dim of the result. Templates then split and collapse loops; an access
// is a view with one stride per loop, 0 where the loop does not move it, so broadcasts and transposes are only strides.
#ifndef LLMC_COMPILER_CODEGEN_CPU_NEST_H
#define LLMC_COMPILER_CODEGEN_CPU_NEST_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"
#include "mlir/IR/AffineMap.h"

namespace llmc::cpu {

struct Access {
  View view;
  graph::Dims strides; // in elements, one per loop
};

class Nest {
public:
  Nest(KernelBuilder &kb, llvm::ArrayRef<graph::DimExpr> sizes);

  struct Loop {
    graph::DimExpr size;
    /// The loops it was collapsed from, outermost first: number of the original loop, and its size.
    llvm::SmallVector<std::pair<unsigned, graph::DimExpr>, 4> origins;
  };
  llvm::SmallVector<Loop, 6> loops;
  llvm::SmallVector<Access> accesses;

  /// Adds the access of `view` by `map` (result dims are loop numbers or the constant 0) and gives its number.
  unsigned addAccess(const View &view, mlir::AffineMap map);
  unsigned addAccess(Access access);

  /// Loop `loop` becomes two: the outer one in its place, an inner one of `inner` steps behind it. `inner` divides its
  /// size.
  void split(unsigned loop, graph::DimExpr inner);
  /// Inserts a loop of one step before loop `position`, with stride `stride` everywhere.
  void insertUnitLoop(unsigned position, int64_t stride);
  /// Whether loops `outer` and `inner` can be walked as one by all accesses.
  bool canCollapse(unsigned outer, unsigned inner) const;
  /// Makes them one, which takes the place of `inner`; the numbers of loops behind `outer` fall by one.
  void collapse(unsigned outer, unsigned inner);

  /// Coordinates in the original loops that make up loop `loop` at position `linear`, by original number.
  void coordinates(unsigned loop, mlir::Value linear, llvm::DenseMap<unsigned, mlir::Value> &result) const;
  /// Pointer to the element of `access` at `indices`, one per loop; a null index is 0.
  mlir::Value pointer(unsigned access, llvm::ArrayRef<mlir::Value> indices) const;

private:
  KernelBuilder &kb;
  unsigned numOriginals;
};

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_NEST_H
