// Operators that speak about shapes or change only them.
#include "compiler/Import/Converters.h"
#include "dialects/Graph/DimLogic.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

void identity(NodeContext &node) { node.result(node.item(0)); }

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
    node.optionalInput(1); // the ratio
    std::optional<SmallVector<int64_t>> training = node.constantInput(2);
    if (training && llvm::any_of(*training, [](int64_t value) { return value != 0; }))
      return node.fail("training_mode = true is not supported");
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
    shape = node.numbersInput(1);
  }
  if (node.version >= 14 && node.intAttribute("allowzero", 0) != 0)
    attributes.push_back(node.flag("allow_zero"));
  node.result(node.create<ReshapeOp>({x, shape}, attributes));
}

/// The axes of Squeeze and Unsqueeze: an attribute before opset 13, then an input.
std::optional<SmallVector<int64_t>> givenAxes(NodeContext &node) {
  return node.version < 13 ? node.intsAttribute("axes") : node.constantInput(1);
}

/// x without the dims at axes that only the run shows: result dim j is the one that has j of those that stay in front of it.
void squeezeAtRunTime(NodeContext &node, Value x) {
  std::optional<Dims> axes = node.numbers(1), dims = node.knownDims(x, "Squeeze");
  if (!axes || !dims)
    return;
  Dims stays = llvm::map_to_vector<4>(chosenDims(node, *axes, dims->size()), [&](DimExpr goes) { return node.number(1) - goes; });
  Dims kept = keptDims(node, *dims, stays, std::max<int64_t>(0, dims->size() - axes->size()));
  node.require(productOf(node.context(), *dims), productOf(node.context(), kept), "a dim to drop is not 1");
  node.result(node.create<ViewOp>({x}, {node.named("dims", kept)}));
}

/// x with dims of 1 at axes that only the run shows.
void unsqueezeAtRunTime(NodeContext &node, Value x) {
  std::optional<Dims> axes = node.numbers(1), dims = node.knownDims(x, "Unsqueeze");
  if (!axes || !dims)
    return;
  Dims isNew = chosenDims(node, *axes, dims->size() + axes->size()), result;
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
        return node.fail("without axes all dims of size 1 go, but the size of dim " + Twine(i) + " is not known: not supported");
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

void expand(NodeContext &node) { node.result(node.create<ExpandOp>({node.input(0), node.numbersInput(1)})); }

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

Dims chosenDims(NodeContext &node, ArrayRef<DimExpr> axes, int64_t rank) {
  Dims chosen;
  for (int64_t d = 0; d < rank; ++d) {
    DimExpr isAxis = node.number(0);
    for (DimExpr axis : axes)
      isAxis = isAxis.max(isEqual(countedFromEnd(axis, node.number(rank)), node.number(d)));
    chosen.push_back(isAxis);
  }
  DimExpr count = node.number(0);
  for (DimExpr isAxis : chosen)
    count = count + isAxis;
  node.require(count, node.number(axes.size()), "an axis is out of range or given twice");
  return chosen;
}

Dims keptDims(NodeContext &node, ArrayRef<DimExpr> dims, ArrayRef<DimExpr> stays, int64_t count) {
  Dims kept;
  for (int64_t j = 0; j < count; ++j) {
    DimExpr place = node.number(0), size = node.number(0);
    for (auto [dim, one] : llvm::zip_equal(dims, stays)) {
      size = size + one * isEqual(place, node.number(j)) * dim;
      place = place + one;
    }
    kept.push_back(atLeastZero(size));
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
  DimExpr size = node.dims(value)[0];
  if (size.isConstant(0))
    return {};
  return size.isConstant(count) ? value : node.create<ViewOp>({value}, {node.named("dims", ArrayRef{node.number(count)})});
}

Value reshapeLike(NodeContext &node, Value value, Value like) {
  // A 0 in the shape is a size here, not "keep".
  return node.create<ReshapeOp>({value, shapeOf(node, like, 0, INT64_MAX)}, {node.flag("allow_zero")});
}

} // namespace llmc
