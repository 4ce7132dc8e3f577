// Dispatches on tensors -> steps on buffers: one function.
#ifndef LLMC_PASSES_PLAN_PLANNER_H
#define LLMC_PASSES_PLAN_PLANNER_H

#include "dialects/Plan/Plan.h"
#include "passes/Graph/ShapeAnalysis.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace llmc {

class Planner {
public:
  explicit Planner(mlir::func::FuncOp function)
      : function(function), analysis(function), b(function.getContext()) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convert(mlir::Operation *op);
  mlir::LogicalResult bindResults(graph::DispatchOp dispatch);
  void readNumbers(graph::ReadNumbersOp op);
  /// The symbols that `op` defines are known from here on.
  void knowSymbols(mlir::Operation *op);
  /// Whether a number that has not been read yet is part of them.
  bool isOpen(llvm::ArrayRef<graph::DimExpr> exprs) const;
  bool isOpen(mlir::Value tensor) const { return isOpen(analysis.dims(tensor)); }
  void addChecks();
  void bindOutputs();
  void copyUnboundOutputs();
  mlir::ArrayAttr dims(mlir::Value value) { return graph::dimsAttr(b.getContext(), analysis.dims(value)); }
  mlir::Type element(mlir::Value value) { return mlir::getElementTypeOrSelf(value.getType()); }
  mlir::StringAttr boundaryName(mlir::ArrayAttr attributes, size_t index, llvm::StringRef fallback);
  mlir::Value viewOf(mlir::Value parent, mlir::Value tensor, mlir::Location loc);
  mlir::Value placeOf(mlir::Value tensor, mlir::Location loc);

  // Branches and loops, in ControlToPlan.cpp.
  mlir::LogicalResult convertIf(graph::IfOp op);
  mlir::LogicalResult convertBranch(graph::IfOp op, mlir::Block &from, mlir::Block &to);
  mlir::LogicalResult convertLoop(graph::LoopOp op);
  mlir::LogicalResult convertInner(mlir::Block &from);
  void bindBranchResult(mlir::Value yielded, mlir::Value result);
  void writeBranchResult(mlir::Value yielded, mlir::Value result, mlir::Location loc);
  mlir::Value apart(mlir::Value yielded, const llvm::SmallDenseSet<mlir::Value> &places, mlir::Location loc);
  mlir::DictionaryAttr frameOf(mlir::Operation *op);

  mlir::func::FuncOp function;
  ShapeAnalysis analysis;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers; // tensor -> buffer
  llvm::SmallVector<mlir::Value> outputBuffers;
  llvm::StringSet<> unread;        // symbols whose number no step has read yet
  llvm::SmallVector<mlir::Attribute> checks;   // not yet added
};

} // namespace llmc

#endif // LLMC_PASSES_PLAN_PLANNER_H
