// Whether the places along one symbolic dim, such as the rows of a batch, influence each other.
//
// Each value is the same for all rows, or holds one row after the other along an axis, or is lost: what an element of it depends on is
// not known. An op that treats places of the rows' axis alike and apart keeps rows; all others lose them. So what is said of a value is
// proven; a lost one may be sound all the same.
#ifndef LLMC_PASSES_GRAPH_ROWFLOW_H
#define LLMC_PASSES_GRAPH_ROWFLOW_H

#include "passes/Graph/ShapeAnalysis.h"

namespace llmc {

/// Rows: places of dim `axis` are those of the symbolic dim, each a stretch of equal length where the dim is a multiple of it.
/// Lost: `obstacle` is the number of what lost it.
struct RowState {
  enum class Kind { Shared, Rows, Lost } kind = Kind::Shared;
  int64_t axis = 0;
  size_t obstacle = 0;

  static RowState shared() { return {}; }
  static RowState rows(int64_t axis) { return {Kind::Rows, axis, 0}; }
  bool isShared() const { return kind == Kind::Shared; }
  bool isRows() const { return kind == Kind::Rows; }
  bool isLost() const { return kind == Kind::Lost; }
  bool operator==(const RowState &) const = default;
};

/// Where rows were lost. `mixes`: the op computes across rows; otherwise nobody knows.
struct RowObstacle {
  mlir::Operation *op;
  std::string reason;
  bool mixes;
};

class RowFlow {
public:
  RowFlow(mlir::func::FuncOp function, const ShapeAnalysis &shapes, llvm::StringRef dim);

  /// Not so inside loops and branches that data of rows, or their number, decide on.
  bool isFollowed(mlir::Value value) const { return states.contains(value); }
  const RowState &of(mlir::Value value) const { return states.find(value)->second; }
  const RowObstacle &obstacle(size_t number) const { return obstacles[number]; }

  // For the rules of ops (RowRules.cpp):
  llvm::ArrayRef<graph::DimExpr> dims(mlir::Value value) const { return shapes.dims(value); }
  const graph::TensorShape &shape(mlir::Value value) const { return shapes.of(value); }
  bool mentions(graph::DimExpr expr) const;
  /// `expr` as a multiple of the dim: the factor, or nothing.
  std::optional<graph::DimExpr> factorOf(graph::DimExpr expr) const;
  RowState lose(mlir::Operation *op, const llvm::Twine &reason, bool mixes);
  /// That the op computes across the rows, which are along `axis` of what it reads.
  RowState mix(mlir::Operation *op, int64_t axis) {
    return lose(op, "computes across axis " + llvm::Twine(axis) + ", which is " + dim, true);
  }

private:
  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation &op);
  void visitIf(graph::IfOp op);
  bool canFollow(graph::LoopOp op) const;
  void visitLoop(graph::LoopOp op);
  void loseLoop(graph::LoopOp op, RowState state);
  RowState opaque(mlir::Operation &op);
  RowState joined(mlir::Operation *op, RowState lhs, RowState rhs);
  bool hasRowSymbols(mlir::Operation &op) const;

  const ShapeAnalysis &shapes;
  std::string dim;
  llvm::DenseMap<mlir::Value, RowState> states;
  std::vector<RowObstacle> obstacles;
  std::optional<RowState> everything; // lost, once a size depends on the data of rows
};

/// What the op's rule says of its results; nothing if it has no rule. No operand is lost.
std::optional<llvm::SmallVector<RowState>> rowRule(RowFlow &flow, mlir::Operation *op);

} // namespace llmc

#endif // LLMC_PASSES_GRAPH_ROWFLOW_H
