// Symbolic shapes of all values of a function.
#ifndef LLMC_PASSES_GRAPH_SHAPEANALYSIS_H
#define LLMC_PASSES_GRAPH_SHAPEANALYSIS_H

#include "dialects/Graph/Graph.h"
#include "llvm/ADT/MapVector.h"

namespace llmc {

/// Names of the attributes that describe a function's symbolic dims (see the dialect's description).
constexpr llvm::StringLiteral dimsAttrName = "graph.dims";       // per argument: array of #graph.expr
constexpr llvm::StringLiteral symbolsAttrName = "graph.symbols"; // per function: symbol -> array<i64: lo, hi>
constexpr llvm::StringLiteral checksAttrName = "graph.checks";   // per block: array of [lhs, rhs, "message"]

/// The op whose attribute `graph.checks` has the checks of a block: its function, or for the block of a branch or loop its yield.
mlir::Operation *holderOfChecks(mlir::Block &block);

/// The ranges that `graph.symbols` gives.
graph::DimRanges symbolRanges(mlir::func::FuncOp function);

class ShapeAnalysis {
public:
  /// Follows shapes through the function's blocks, in order. `failed` tells whether a shape rule reported an error.
  explicit ShapeAnalysis(mlir::func::FuncOp function);

  bool failed() const { return hasFailed; }
  const graph::TensorShape &of(mlir::Value value) const {
    auto found = shapes.find(value);
    assert(found != shapes.end() && "a value made after the analysis needs an alias");
    return found->second;
  }
  llvm::ArrayRef<graph::DimExpr> dims(mlir::Value value) const { return of(value).dims; }
  const graph::DimRanges &ranges() const { return dimRanges; }
  /// A ShapeInference over the operands of `op`, as the op's own rule saw it; facts it assumes are dropped.
  graph::ShapeInference inferenceFor(mlir::Operation *op) const;
  /// `value` stands for `original` from now on.
  void alias(mlir::Value value, mlir::Value original) { shapes[value] = graph::TensorShape(of(original)); }
  /// Adds what had to be assumed to the checks of the block where it is used; repeats are dropped.
  void recordChecks();

private:
  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation &op);
  bool visitControl(mlir::Operation &op);
  void setDims(mlir::ValueRange values, mlir::ArrayAttr dims);
  void visitLowered(mlir::Operation &op);
  void setFromType(mlir::Value value);

  mlir::func::FuncOp function;
  graph::DimRanges dimRanges;
  llvm::DenseMap<mlir::Value, graph::TensorShape> shapes;
  llvm::MapVector<mlir::Block *, llvm::SmallVector<mlir::Attribute>> assumed;
  bool hasFailed = false;
};

/// Whether each of `dims` has an expression; what depends on data has none.
bool allKnown(llvm::ArrayRef<graph::DimExpr> dims);

} // namespace llmc

#endif // LLMC_PASSES_GRAPH_SHAPEANALYSIS_H
