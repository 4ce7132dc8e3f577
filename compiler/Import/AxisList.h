// A list of axes that only the run shows, be their number known or not.
//
// A tensor has a known number of axes, so what a node says of the axes in its list becomes, by ops, a tensor with one element per axis.
#pragma once

#include "compiler/Import/NodeContext.h"

namespace llmc {

class AxisList {
public:
  /// The axes of a tensor of `rank` that `axes`, a list or a scalar, has; counted from the end if negative.
  AxisList(NodeContext &node, mlir::Value axes, int64_t rank);

  /// How many axes the list has; null after a problem.
  graph::DimExpr count() const { return size; }
  /// Per axis 1 if the list has it, else 0. Each run fails if an axis is out of range or given twice.
  graph::Dims chosen();
  /// Per axis the number that `values` has for it, or else that of `absent`, which has one for all or one per axis.
  mlir::Value spread(mlir::Value values, mlir::Value absent);

private:
  NodeContext &node;
  graph::DimExpr size;
  mlir::Value isAxis; // [rank, size], of 0 and 1
  mlir::Value isAny;  // [rank], of 0 and 1
};

} // namespace llmc
