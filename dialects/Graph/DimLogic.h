// Conditions in dim expressions: 0 or 1, made of minimum and maximum. For sizes that depend on numbers read at run time, such as
// the -1 of a Reshape. Each is one atom of the polynomials, since products of sums would grow beyond measure.
#ifndef LLMC_DIALECTS_GRAPH_DIMLOGIC_H
#define LLMC_DIALECTS_GRAPH_DIMLOGIC_H

#include "dialects/Graph/DimExpr.h"

namespace llmc::graph {

/// 1 if value < 0, else 0; of any int64.
inline DimExpr isNegative(DimExpr value) {
  DimExpr zero = DimExpr::constant(value.context(), 0);
  return zero - value.min(zero).max(zero - 1);
}

/// 1 if lhs == rhs, else 0. The difference must fit int64.
inline DimExpr isEqual(DimExpr lhs, DimExpr rhs) {
  DimExpr zero = DimExpr::constant(lhs.context(), 0);
  return (zero + 1 - (lhs - rhs).max(rhs - lhs)).max(zero);
}

/// `size`, or 0 if it is negative: an atom for a sum.
inline DimExpr atLeastZero(DimExpr size) { return size.max(DimExpr::constant(size.context(), 0)); }

/// The size `yes` if condition is 1, `no` if it is 0; negative ones count as 0.
inline DimExpr select(DimExpr condition, DimExpr yes, DimExpr no) { return atLeastZero(no + condition * (yes - no)); }

/// ONNX's counting from the end: value, or value + size if it is negative.
inline DimExpr countedFromEnd(DimExpr value, DimExpr size) { return value + isNegative(value) * size; }

} // namespace llmc::graph

#endif // LLMC_DIALECTS_GRAPH_DIMLOGIC_H
