// Slices and pads by numbers that only the run shows.
#pragma once

#include "compiler/Import/NodeContext.h"

namespace llmc {

/// ONNX's Slice with lists of any length, of which none needs to be known. `axes` and `steps` may be null.
mlir::Value sliceAtRunTime(NodeContext &node, mlir::Value x, mlir::Value starts, mlir::Value ends, mlir::Value axes, mlir::Value steps);

/// x with `before` and `after` elements more in each dim, or fewer if they are negative. `value` is for mode 0 and may be null, for
/// zero; the modes are those of graph.pad.
mlir::Value padded(NodeContext &node, mlir::Value x, llvm::ArrayRef<graph::DimExpr> before, llvm::ArrayRef<graph::DimExpr> after,
                   mlir::Value value, int64_t mode);

} // namespace llmc
