// Broadcasting of dims of which only the run shows whether they are 1.
#pragma once

#include "compiler/Import/NodeContext.h"

namespace llmc {

/// The operands of an op that broadcasts all but their last `own` dims. Where dims of different symbols meet, each of them is as long as
/// the result's.
llvm::SmallVector<mlir::Value> stretched(NodeContext &node, mlir::ValueRange operands, int64_t own = 0);
/// x with `size` elements along a dim that has as many, or one.
mlir::Value stretchedAlong(NodeContext &node, mlir::Value x, int64_t axis, graph::DimExpr size);
/// ONNX's Expand to sizes that are known, be it at run time.
mlir::Value expandedTo(NodeContext &node, mlir::Value x, llvm::ArrayRef<graph::DimExpr> target);

} // namespace llmc
