// Fourier transforms whose sizes, length or axis only the run shows.
#pragma once

#include "compiler/Import/NodeContext.h"

namespace llmc {

/// x [front, size, behind, parts], of real (one part) or complex numbers, with its second dim transformed: [front, columns, behind, 2],
/// or one part less for the one-sided inverse, whose result is real. Elements beyond the length are dropped, missing ones are 0.
mlir::Value transformAtRunTime(NodeContext &node, mlir::Value x, graph::DimExpr length, bool inverse, bool onesided);

/// How many points a transform of that length has.
graph::DimExpr columnsOf(graph::DimExpr length, bool inverse, bool onesided);

} // namespace llmc
