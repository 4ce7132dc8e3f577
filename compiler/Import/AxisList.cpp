// Lists of axes as one element per axis.
#include "compiler/Import/AxisList.h"

#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {

using namespace graph;

/// Integers of any shape as a list of i64.
static Value asList(NodeContext &node, Value values, DimExpr count) {
  values = castTo(node, values, IntegerType::get(node.context(), 64));
  return node.rank(values) == 1 ? values : node.create<ViewOp>({values}, {node.named("dims", ArrayRef{count})});
}

AxisList::AxisList(NodeContext &node, Value axes, int64_t rank) : node(node) {
  std::optional<Dims> dims = node.knownDims(axes, "a list of axes");
  if (!dims)
    return;
  if (dims->size() > 1) {
    node.fail("the axes have rank " + Twine(dims->size()) + ", expected a list");
    return;
  }
  size = productOf(node.context(), *dims);
  Value list = asList(node, axes, size), zero = node.scalar(list, 0);
  Value fromFront = node.create<AddOp>({list, node.scalar(list, static_cast<double>(rank))});
  list = node.create<WhereOp>({node.create<LessOp>({list, zero}), fromFront, list});
  Value places = node.create<UnsqueezeOp>({iota(node, node.number(rank))}, {node.named("axes", ArrayRef<int64_t>{1})});
  Value equal = node.create<EqualOp>({places, node.create<UnsqueezeOp>({list}, {node.named("axes", ArrayRef<int64_t>{0})})});
  isAxis = castTo(node, equal, IntegerType::get(node.context(), 64));
  Value found = node.create<ReduceSumOp>({isAxis}, {node.named("axes", ArrayRef<int64_t>{1})});
  isAny = node.create<MinOp>({found, node.scalar(list, 1)});
}

Dims AxisList::chosen() {
  Dims result = node.numbersOf(isAny, {0, 1}).value_or(Dims());
  DimExpr found = node.number(0);
  for (DimExpr one : result)
    found = found + one;
  node.require(found, size, "an axis is out of range or given twice");
  return result;
}

Value AxisList::spread(Value values, Value absent) {
  std::optional<Dims> dims = node.knownDims(values, "a list of numbers");
  if (!dims)
    return {};
  if (dims->size() != 1) {
    node.fail("expects a list for the axes, got rank " + Twine(dims->size()));
    return {};
  }
  node.require((*dims)[0], size, (*dims)[0].str() + " numbers are given for " + size.str() + " axes");
  Value row = asList(node, values, size);
  row = node.create<UnsqueezeOp>({(*dims)[0] == size ? row : firstOf(node, row, 0, size)}, {node.named("axes", ArrayRef<int64_t>{0})});
  Value sum = node.create<ReduceSumOp>({node.create<MulOp>({isAxis, row})}, {node.named("axes", ArrayRef<int64_t>{1})});
  return node.create<WhereOp>({node.create<EqualOp>({isAny, node.scalar(isAny, 1)}), sum, absent});
}

} // namespace llmc
