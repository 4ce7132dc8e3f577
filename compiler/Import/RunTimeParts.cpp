// Slices and pads by numbers that only the run shows: as subviews, joined tensors, and gathers along one axis after the other.
#include "compiler/Import/RunTimeParts.h"

#include "compiler/Import/AxisList.h"
#include "compiler/Import/Converters.h"
#include "dialects/Graph/DimLogic.h"

using namespace mlir;

namespace llmc {

using namespace graph;

namespace {

/// Arithmetic on tensors of i64.
struct Integers {
  NodeContext &node;

  Value number(int64_t value) { return node.constant(DenseElementsAttr::get(RankedTensorType::get({}, i64()), value)); }
  Value tensor(DimExpr value) { return node.create<FromDimsOp>({}, {node.named("dims", ArrayRef{value})}); }
  Value add(Value a, Value b) { return node.create<AddOp>({a, b}); }
  Value sub(Value a, Value b) { return node.create<SubOp>({a, b}); }
  Value mul(Value a, Value b) { return node.create<MulOp>({a, b}); }
  Value div(Value a, Value b) { return node.create<DivOp>({a, b}); }
  Value min(Value a, Value b) { return node.create<MinOp>({a, b}); }
  Value max(Value a, Value b) { return node.create<MaxOp>({a, b}); }
  Value less(Value a, Value b) { return node.create<LessOp>({a, b}); }
  Value where(Value condition, Value yes, Value no) { return node.create<WhereOp>({condition, yes, no}); }

private:
  Type i64() { return IntegerType::get(node.context(), 64); }
};

/// Per dim, the first element, the number of elements, and the distance of one from the next.
struct Bounds {
  Value starts, sizes, steps;
};

/// Numbers of one per dim that ONNX's Slice has, with its counting from the end and clamping.
Bounds clampedBounds(NodeContext &node, Value shape, Value starts, Value ends, Value steps) {
  Integers i{node};
  Value zero = i.number(0), one = i.number(1), last = i.sub(shape, one);
  Value goesBack = i.less(steps, zero), least = i.where(goesBack, i.number(-1), zero), most = i.where(goesBack, last, shape);
  auto fromFront = [&](Value place) { return i.where(i.less(place, zero), i.add(place, shape), place); };
  starts = i.min(i.max(fromFront(starts), zero), most);
  ends = i.min(i.max(fromFront(ends), least), most);
  Value distance = i.where(goesBack, i.sub(starts, ends), i.sub(ends, starts));
  Value more = i.div(i.sub(distance, one), node.create<AbsOp>({i.where(node.create<EqualOp>({steps, zero}), one, steps)}));
  return {starts, i.where(i.less(zero, distance), i.add(more, one), zero), steps};
}

Value subview(NodeContext &node, Value x, ArrayRef<DimExpr> offsets, ArrayRef<DimExpr> sizes) {
  SmallVector<int64_t> steps(sizes.size(), 1);
  return node.create<SubviewOp>({x}, {node.named("offsets", offsets), node.named("sizes", sizes), node.named("steps", steps)});
}

/// Element i of a list, as a list of one.
Value element(NodeContext &node, Value list, int64_t i) { return part(node, list, 0, node.number(i), node.number(1)); }

Value gathered(NodeContext &node, Value x, int64_t axis, Value places) {
  return node.create<GatherOp>({x, places}, {node.named("axis", axis)});
}

void refuseStepsOfZero(NodeContext &node, Value steps) {
  Value isZero = castTo(node, node.create<EqualOp>({steps, node.scalar(steps, 0)}), node.elementType(steps));
  Value found = node.create<ReduceSumOp>({isZero}, {node.named("axes", ArrayRef<int64_t>{0})});
  if (DimExpr count = node.readNumber(found, {0, INT64_MAX}))
    node.require(count, node.number(0), "a step is 0");
}

/// Adds `front` and `back` elements, none of them fewer than 0, around one dim; all are `value`.
Value surrounded(NodeContext &node, Value x, int64_t axis, DimExpr front, DimExpr back, Value value) {
  auto filled = [&](DimExpr size) {
    Dims dims = node.dims(x);
    dims[axis] = size;
    return node.create<BroadcastOp>({value}, {node.named("dims", dims)});
  };
  SmallVector<Value> parts;
  if (!front.isConstant(0))
    parts.push_back(filled(front));
  parts.push_back(x);
  if (!back.isConstant(0))
    parts.push_back(filled(back));
  return parts.size() == 1 ? x : node.create<ConcatOp>(parts, {node.named("axis", axis)});
}

/// The same with elements of x: the place of each along the dim.
Value continued(NodeContext &node, Value x, int64_t axis, DimExpr front, DimExpr back, int64_t mode) {
  enum { Reflect = 1, Edge = 2, Wrap = 3 };
  if (front.isConstant(0) && back.isConstant(0))
    return x;
  Integers i{node};
  DimExpr dim = node.dims(x)[axis], one = node.number(1);
  Value places = i.sub(iota(node, dim + front + back), i.tensor(front));
  if (mode == Edge)
    return gathered(node, x, axis, i.min(i.max(places, i.number(0)), i.tensor(dim - 1)));
  DimExpr period = (mode == Wrap ? dim : dim * 2 - 2).max(one);
  places = node.create<ModOp>({places, i.tensor(period)});
  return gathered(node, x, axis, mode == Wrap ? places : i.min(places, i.sub(i.tensor(period), places)));
}

/// x without the elements that negative pads remove.
Value cropped(NodeContext &node, Value x, ArrayRef<DimExpr> before, ArrayRef<DimExpr> after) {
  const DimRanges &ranges = node.shared().ranges;
  DimExpr zero = node.number(0);
  Dims offsets, sizes = node.dims(x);
  bool isWhole = true;
  for (auto [dim, front, back] : llvm::zip_equal(sizes, before, after)) {
    DimExpr offset = ranges.simplify((zero - front).max(zero)), removed = offset + ranges.simplify((zero - back).max(zero));
    offsets.push_back(offset);
    isWhole &= removed.isConstant(0);
    node.require(isNegative(dim - removed), zero, "pads remove more elements than a dim has");
    dim = removed.isConstant(0) ? dim : atLeastZero(dim - removed);
  }
  return isWhole ? x : subview(node, x, offsets, sizes);
}

} // namespace

Value sliceAtRunTime(NodeContext &node, Value x, Value starts, Value ends, Value axes, Value steps) {
  std::optional<Dims> dims = node.knownDims(x, "Slice"), count = node.knownDims(starts, "Slice");
  if (!dims || !count)
    return {};
  if (count->size() != 1) {
    node.fail("starts have rank " + Twine(count->size()) + ", expected a list");
    return {};
  }
  int64_t rank = dims->size();
  AxisList list(node, axes ? axes : iota(node, (*count)[0]), rank);
  Dims isSliced = list.chosen();
  Integers i{node};
  Value shape = shapeOf(node, x, 0, INT64_MAX);
  Value allSteps = steps ? list.spread(steps, i.number(1)) : i.number(1);
  Bounds bounds = clampedBounds(node, shape, list.spread(starts, i.number(0)), list.spread(ends, shape), allSteps);
  std::optional<Dims> sizes = node.numbersOf(bounds.sizes, {0, INT64_MAX});
  if (!sizes)
    return {};
  if (!steps) {
    std::optional<Dims> offsets = node.numbersOf(bounds.starts, {0, INT64_MAX});
    for (int64_t axis = 0; offsets && axis < rank; ++axis)
      if (isSliced[axis].isConstant(0)) {
        (*offsets)[axis] = node.number(0);
        (*sizes)[axis] = (*dims)[axis];
      }
    return offsets ? subview(node, x, *offsets, *sizes) : Value();
  }
  refuseStepsOfZero(node, allSteps);
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (isSliced[axis].isConstant(0))
      continue;
    Value places = i.mul(iota(node, (*sizes)[axis]), element(node, allSteps, axis));
    x = gathered(node, x, axis, i.add(places, element(node, bounds.starts, axis)));
  }
  return x;
}

Value padded(NodeContext &node, Value x, ArrayRef<DimExpr> before, ArrayRef<DimExpr> after, Value value, int64_t mode) {
  if (!node.knownDims(x, "Pad"))
    return {};
  SmallVector<int64_t> known;
  for (DimExpr pad : llvm::concat<const DimExpr>(before, after))
    if (std::optional<int64_t> number = pad.asConstant())
      known.push_back(*number);
  if (known.size() == before.size() + after.size()) {
    SmallVector<Value> operands = {x};
    if (value && mode == 0)
      operands.push_back(value);
    return node.create<PadOp>(operands, {node.named("pads", known), node.named("mode", mode)});
  }
  x = cropped(node, x, before, after);
  value = value ? node.create<ViewOp>({value}, {node.named("dims", ArrayRef<DimExpr>())}) : node.scalar(x, 0);
  auto atLeastNone = [&](DimExpr pad) { return node.shared().ranges.simplify(pad.max(node.number(0))); };
  for (int64_t axis = 0; x && axis < node.rank(x); ++axis) {
    DimExpr front = atLeastNone(before[axis]), back = atLeastNone(after[axis]);
    x = mode == 0 ? surrounded(node, x, axis, front, back, value) : continued(node, x, axis, front, back, mode);
  }
  return x;
}

} // namespace llmc
