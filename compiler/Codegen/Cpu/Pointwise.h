// Values of element-wise generics at given positions, computed on demand.
//
// The loops are the dims of the tensor that is stored. Whoever drives them (the element-wise template, or the epilogue of a
// contraction, convolution or row kernel) gives positions; the value there of any tensor follows by composing indexing maps back
// to memory, or to a tensor that the driver provides itself, such as the accumulator of a contraction. So producers with fewer
// dims, broadcasts and transposes need no code of their own. Values that do not vary along the vectorised loop are computed
// once per row, by `hoist`.
#ifndef LLMC_COMPILER_CODEGEN_CPU_POINTWISE_H
#define LLMC_COMPILER_CODEGEN_CPU_POINTWISE_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <functional>

namespace llmc::cpu {

/// A vector of positions: lane l is at `index`, plus l in group `vectorGroup`.
struct Position {
  llvm::SmallVector<mlir::Value> index; // i64, one per group of loops
  unsigned vectorGroup = 0;
  Lanes lanes;
};

class Pointwise {
public:
  using Access = std::pair<mlir::Value, mlir::AffineMap>; // a tensor, through a map from the loops to its dims

  /// For tensors of `sizes`, each loop a group of its own.
  Pointwise(KernelBuilder &kb, graph::Dims sizes);

  /// Makes `tensor` known: `value(map, position)` gives its vector at a position of the loops, through `map` from loops to the
  /// tensor's dims; of one lane if the map does not vary along the vectorised loop.
  using Provider = std::function<mlir::Value(mlir::AffineMap, const Position &)>;
  void provide(mlir::Value tensor, Provider value) { providers[tensor] = std::move(value); }
  /// Makes `tensor` known as memory, as an intermediate in scratch is.
  void addView(mlir::Value tensor, View view) { views[tensor] = std::move(view); }

  /// Checks that `tensor` can be computed from memory and provided tensors, and collects what it reads. Call for each tensor
  /// that will be evaluated, after `provide`. Fails with an error.
  llvm::LogicalResult require(mlir::Value tensor) { return require(tensor, identity()); }
  llvm::LogicalResult require(mlir::Value tensor, mlir::AffineMap map);

  /// Merges neighbouring loops through which all required tensors step evenly, if `allowed` (outer, inner) too, and drops loops of
  /// size 1. If none is left there is one group of size 1.
  void collapse(llvm::function_ref<bool(unsigned, unsigned)> allowed = [](unsigned, unsigned) { return true; });
  /// The loops that step as one, and their common size.
  llvm::ArrayRef<llvm::SmallVector<unsigned, 4>> loopGroups() const { return groups; }
  llvm::ArrayRef<graph::DimExpr> groupSizes() const { return sizesOfGroups; }

  /// Lanes of a native vector of the widest scalar involved.
  unsigned naturalLanes() const { return kb.level.vectorBytes / widest; }
  /// Rough cost of one vector of the required tensors, in cycles.
  unsigned cycles() const { return estimatedCycles; }
  /// Number of tensors that are read along `group` in steps other than 0 and 1, so element by element.
  unsigned stridedReads(unsigned group) const;

  /// Starts a new row: forgets earlier values and computes what of `accesses` does
  /// not vary along the position's vectorised group.
  void hoist(const Position &position, llvm::ArrayRef<Access> accesses);
  /// Vector of `tensor` at `position`, of as many lanes as the position. Values computed at the same position are shared
  /// until the next `newPosition`.
  mlir::Value evaluate(mlir::Value tensor, const Position &position) { return evaluate(tensor, identity(), position); }
  mlir::Value evaluate(mlir::Value tensor, mlir::AffineMap map, const Position &position);
  void newPosition() { values.clear(); }
  /// i64 vector of the index along `loop`, a dim or constant of the loops.
  mlir::Value indexAlong(mlir::AffineExpr loop, const Position &position);
  /// Stores a vector at `position` of `view`, whose dims are those of the loops, or follow from them through `map`. Along the
  /// vectorised group the view must be contiguous.
  void store(mlir::Value vector, const View &view, const Position &position) { store(vector, view, identity(), position); }
  void store(mlir::Value vector, const View &view, mlir::AffineMap map, const Position &position);

  /// All tensors that computing `access` goes through, itself included, down to memory and provided tensors.
  llvm::SetVector<Access> closureOf(const Access &access) const;
  mlir::AffineMap identity() const;

private:
  bool mayMerge(unsigned outer, unsigned inner) const;
  /// Map from the loops to the iteration space of `op`, whose result `result` is read through `map`. Null if not invertible.
  mlir::AffineMap loopsOf(mlir::linalg::GenericOp op, unsigned result, mlir::AffineMap map) const;
  bool varies(mlir::AffineMap map, unsigned group) const;
  graph::Dims stridesOf(const View &view, mlir::AffineMap map); // per loop
  llvm::LogicalResult requireGeneric(mlir::linalg::GenericOp op, mlir::AffineMap loops);
  mlir::Value evaluateGeneric(mlir::OpResult result, mlir::AffineMap map, const Position &position);
  mlir::Value compute(mlir::Value tensor, mlir::AffineMap map, const Position &position); // without sharing
  mlir::Value loadAt(mlir::Value tensor, mlir::AffineMap map, const Position &position);
  mlir::Value pointerAt(const View &view, llvm::ArrayRef<graph::DimExpr> strides, const Position &position);
  graph::DimExpr strideAlong(unsigned group, llvm::ArrayRef<graph::DimExpr> strides) const;
  llvm::SmallVector<Access> operandsOf(const Access &access) const;
  void hoistFrom(mlir::Value tensor, mlir::AffineMap map, const Position &position);

  KernelBuilder &kb;
  graph::Dims sizes;
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>> groups; // loops that step as one
  graph::Dims sizesOfGroups;
  llvm::DenseMap<mlir::Value, Provider> providers;
  llvm::DenseMap<mlir::Value, View> views;  // of tensors in memory
  llvm::MapVector<Access, graph::Dims> reads; // of memory, with strides per loop
  llvm::SetVector<Access> visited;          // all that `require` has seen
  llvm::SmallDenseSet<unsigned> loopsWithIndex;       // whose value a body asks for
  llvm::DenseMap<Access, mlir::Value> uniforms;       // hoisted, at full lanes
  llvm::DenseMap<std::pair<Access, unsigned>, mlir::Value> values; // by lanes
  unsigned widest = 1;
  unsigned estimatedCycles = 0;
};

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_POINTWISE_H
