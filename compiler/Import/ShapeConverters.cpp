// Operators that speak about shapes or change only them.
#include "compiler/Import/AxisList.h"
#include "compiler/Import/Converters.h"
#include "compiler/Import/Stretching.h"
#include "dialects/Graph/DimLogic.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

void identity(NodeContext &node) { node.result(node.item(0)); }

/// A dropout that draws numbers is refused, by the run if only that shows it.
void refuseTraining(NodeContext &node, Value ratio, Value training) {
  if (!training)
    return;
  if (ratio)
    training = node.create<AndOp>({training, node.create<NotOp>({node.create<EqualOp>({ratio, node.scalar(ratio, 0)})})});
  if (DimExpr drops = node.readNumber(castTo(node, training, IntegerType::get(node.context(), 64)), {0, 1}))
    node.require(drops, node.number(0), "training_mode = true is not supported");
}

/// In inference a dropout is the identity, and its mask, of bools since opset 10, is true.
void dropout(NodeContext &node) {
  if (node.version < 6)
    node.ignoreAttribute("consumed_inputs");
  if (node.version < 7 && node.intAttribute("is_test", 0) == 0)
    return node.fail("is_test = 0 (training) is not supported");
  if (node.version < 12) {
    node.ignoreAttribute("ratio");
  } else {
    node.ignoreAttribute("seed");
    refuseTraining(node, node.optionalInput(1), node.optionalInput(2));
  }
  Value x = node.input(0);
  node.result(x);
  if (node.numOutputs() > 1 && node.version >= 10) {
    Value kept = node.scalar(IntegerType::get(node.context(), 1), 1);
    node.result(node.create<ExpandOp>({kept, shapeOf(node, x, 0, INT64_MAX)}));
  }
}

void shape(NodeContext &node) {
  Value x = node.input(0);
  bool partial = node.version >= 15;
  int64_t start = partial ? node.intAttribute("start", 0) : 0, end = partial ? node.intAttribute("end", INT64_MAX) : INT64_MAX;
  node.result(shapeOf(node, x, start, end));
}

void size(NodeContext &node) {
  Value dims = shapeOf(node, node.input(0), 0, INT64_MAX);
  node.result(node.create<ReduceProdOp>({dims}, {node.named("axes", ArrayRef<int64_t>{0})}));
}

void reshape(NodeContext &node) {
  Value x = node.input(0), shape;
  SmallVector<NamedAttribute> attributes;
  if (node.version < 5) {
    node.ignoreAttribute("consumed_inputs");
    std::optional<SmallVector<int64_t>> target = node.intsAttribute("shape");
    if (!target)
      return node.fail("attribute 'shape' is missing");
    shape = node.indices(*target);
  } else {
    shape = node.numbersInput(1, node.declaredRank(0));
  }
  if (node.version >= 14 && node.intAttribute("allowzero", 0) != 0)
    attributes.push_back(node.flag("allow_zero"));
  node.result(node.create<ReshapeOp>({x, shape}, attributes));
}

/// The axes of Squeeze and Unsqueeze: an attribute before opset 13, then an input.
std::optional<SmallVector<int64_t>> givenAxes(NodeContext &node) {
  return node.version < 13 ? node.intsAttribute("axes") : node.constantInput(1);
}

/// x without the dims whose entry of `goes` is 1: dim j of the result is the one that has j of those that stay in front of it. Where
/// their number is not known, it follows from the rank that the model declares for the result.
void withoutDims(NodeContext &node, Value x, ArrayRef<DimExpr> goes, std::optional<int64_t> count) {
  Dims dims = node.dims(x), stays;
  int64_t rank = dims.size();
  std::optional<int64_t> declared = node.declaredRank(0);
  if (!count && (!declared || *declared > rank))
    return node.fail("how many dims go is not known at compile time, which is not supported without a declared rank of the result");
  DimExpr found = node.number(0);
  for (DimExpr one : goes) {
    stays.push_back(node.number(1) - one);
    found = found + one;
  }
  int64_t gone = std::min(count.value_or(rank - declared.value_or(0)), rank);
  node.require(found, node.number(gone), "the declared rank of the result is " + Twine(rank - gone) + ", but the dims that go are not " + Twine(gone));
  Dims kept = keptDims(node, dims, stays, rank - gone);
  node.require(productOf(node.context(), dims), productOf(node.context(), kept), "a dim to drop is not 1");
  node.result(node.create<ViewOp>({x}, {node.named("dims", kept)}));
}

/// At axes that only the run shows.
void squeezeAtRunTime(NodeContext &node, Value x) {
  std::optional<Dims> dims = node.knownDims(x, "Squeeze");
  Value axes = node.input(1);
  if (!dims || !axes)
    return;
  AxisList list(node, axes, dims->size());
  Dims goes = list.chosen();
  if (!node.failed())
    withoutDims(node, x, goes, list.count().asConstant());
}

/// x without the dims that are 1, where only the run shows which.
void squeezeOnes(NodeContext &node, Value x) {
  std::optional<Dims> dims = node.knownDims(x, "Squeeze");
  if (dims)
    withoutDims(node, x, llvm::map_to_vector<4>(*dims, [&](DimExpr dim) { return isEqual(dim, node.number(1)); }), std::nullopt);
}

/// x with dims of 1 at axes that only the run shows.
void unsqueezeAtRunTime(NodeContext &node, Value x) {
  std::optional<Dims> dims = node.knownDims(x, "Unsqueeze");
  Value axes = node.listInput(1, node.declaredRank(0).value_or(-1) - node.rank(x));
  if (!dims || !axes)
    return;
  int64_t rank = dims->size() + cast<RankedTensorType>(axes.getType()).getNumElements();
  Dims isNew = AxisList(node, axes, rank).chosen(), result;
  DimExpr seen = node.number(0); // dims of x in front
  for (DimExpr one : isNew) {
    DimExpr own = node.number(0);
    for (auto [i, dim] : llvm::enumerate(*dims))
      own = own + isEqual(seen, node.number(i)) * dim;
    result.push_back(select(one, node.number(1), own));
    seen = seen + (node.number(1) - one);
  }
  node.result(node.create<ViewOp>({x}, {node.named("dims", result)}));
}

void squeeze(NodeContext &node) {
  Value x = node.input(0);
  if (node.version >= 13 && node.hasInput(1) && !node.isConstantInput(1))
    return squeezeAtRunTime(node, x);
  std::optional<SmallVector<int64_t>> given = givenAxes(node);
  SmallVector<int64_t> axes;
  if (given) {
    axes = node.axes(*given, node.rank(x));
  } else {
    for (auto [i, dim] : llvm::enumerate(node.dims(x))) {
      if (!dim || !dim.asConstant())
        return squeezeOnes(node, x);
      if (dim.isConstant(1))
        axes.push_back(i);
    }
  }
  node.result(node.create<SqueezeOp>({x}, {node.named("axes", axes)}));
}

void unsqueeze(NodeContext &node) {
  Value x = node.input(0);
  if (node.version >= 13 && node.hasInput(1) && !node.isConstantInput(1))
    return unsqueezeAtRunTime(node, x);
  std::optional<SmallVector<int64_t>> given = givenAxes(node);
  if (!given)
    return node.fail("the axes are missing");
  SmallVector<int64_t> axes = node.axes(*given, node.rank(x) + given->size());
  node.result(node.create<UnsqueezeOp>({x}, {node.named("axes", axes)}));
}

void flatten(NodeContext &node) {
  Value x = node.input(0);
  int64_t axis = node.intAttribute("axis", 1), rank = node.rank(x);
  if (axis != rank) // the place behind the last dim
    axis = node.axis(axis, rank);
  node.result(node.create<FlattenOp>({x}, {node.named("axis", axis)}));
}

/// With ones in front of a shape of unknown length, as many as the declared rank of the result asks for.
Value filledUp(NodeContext &node, Value shape, int64_t rank) {
  DimExpr missing = node.number(rank) - node.dims(shape)[0];
  node.require(isNegative(missing), node.number(0), "the shape has more dims than the declared rank of the result, " + Twine(rank));
  Value ones = node.create<BroadcastOp>({node.scalar(shape, 1)}, {node.named("dims", ArrayRef{atLeastZero(missing)})});
  Value filled = node.create<ConcatOp>({ones, shape}, {node.named("axis", int64_t(0))});
  return node.create<ViewOp>({filled}, {node.named("dims", ArrayRef{node.number(rank)})});
}

void expand(NodeContext &node) {
  Value x = node.input(0), shape = node.input(1);
  std::optional<int64_t> rank = node.declaredRank(0);
  bool isClaimed = node.isOpenList(1) && rank && *rank >= node.rank(x);
  if (std::optional<Dims> target = node.numbersOf(isClaimed ? filledUp(node, shape, *rank) : node.numbersInput(1)))
    node.result(expandedTo(node, x, *target));
}

void transpose(NodeContext &node) {
  Value x = node.input(0);
  SmallVector<int64_t> reversed = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, node.rank(x))));
  SmallVector<int64_t> perm = node.intsAttribute("perm").value_or(reversed);
  node.result(node.create<TransposeOp>({x}, {node.named("perm", perm)}));
}

constexpr Converter table[] = {
    {"Identity", 1, newest, identity},
    {"Dropout", 1, newest, dropout},
    {"Shape", 1, newest, shape},
    {"Size", 1, newest, size},
    {"Reshape", 1, newest, reshape},
    {"Squeeze", 1, newest, squeeze},
    {"Unsqueeze", 1, newest, unsqueeze},
    {"Flatten", 1, newest, flatten},
    {"Expand", 8, newest, expand},
    {"Transpose", 1, newest, transpose},
};

} // namespace

ArrayRef<Converter> shapeConverters() { return table; }

Dims keptDims(NodeContext &node, ArrayRef<DimExpr> dims, ArrayRef<DimExpr> stays, int64_t count) {
  Dims kept;
  for (int64_t j = 0; j < count; ++j) {
    DimExpr place = node.number(0), size = node.number(0);
    for (auto [dim, one] : llvm::zip_equal(dims, stays)) {
      size = size + one * isEqual(place, node.number(j)) * dim;
      place = place + one;
    }
    kept.push_back(atLeastZero(size + isNegative(place - j - 1)));
  }
  return kept;
}

Value shapeOf(NodeContext &node, Value x, int64_t start, int64_t end) {
  int64_t rank = node.rank(x);
  auto clamped = [&](int64_t place) { return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank); };
  start = clamped(start);
  end = std::max(start, clamped(end));
  return node.create<ShapeOp>({x}, {node.named("start", start), node.named("end", end)});
}

Value listInput(NodeContext &node, size_t i, int64_t count) {
  Value value = node.optionalInput(i);
  if (!value)
    return {};
  if (node.rank(value) != 1) {
    node.fail("input " + Twine(i) + " has rank " + Twine(node.rank(value)) + ", expected 1");
    return {};
  }
  return node.dims(value)[0].isConstant(0) ? Value() : node.list(i, count);
}

Value reshapeLike(NodeContext &node, Value value, Value like) {
  // A 0 in the shape is a size here, not "keep".
  return node.create<ReshapeOp>({value, shapeOf(node, like, 0, INT64_MAX)}, {node.flag("allow_zero")});
}

} // namespace llmc
