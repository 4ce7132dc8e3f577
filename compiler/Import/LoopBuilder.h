// A loop whose values may change their sizes from trip to trip.
#pragma once

#include "compiler/Import/NodeContext.h"

namespace llmc {

struct LoopSpec {
  graph::DimExpr trips;  // how many at most
  mlir::Value condition; // whether there is a first one; null: yes
  bool hasCondition;     // whether the first result of the body says if there is another one
  llvm::SmallVector<mlir::Value> inits;
  /// Makes a trip: the condition, if any, the next values, and after them what is collected. `trip` counts from 0.
  std::function<std::optional<llvm::SmallVector<mlir::Value>>(graph::DimExpr trip, llvm::ArrayRef<mlir::Value> carried)> body;
};

/// The last values, and after them what is collected; nothing after a problem.
llvm::SmallVector<mlir::Value> buildLoop(NodeContext &node, const LoopSpec &spec);

/// The values that a block ends with, and its checks.
void endBlock(NodeContext &node, InnerBlock &block, llvm::ArrayRef<graph::DimExpr> sizes);
/// The value of one element with `rank` dims of 1, made at the end of a block.
mlir::Value withRank(NodeContext &node, mlir::Value value, int64_t rank, mlir::Block &block);
/// Whether it has one element for sure.
bool hasOneElement(NodeContext &node, mlir::Value value);

} // namespace llmc
