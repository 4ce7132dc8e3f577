// Operators that speak about shapes or change only them.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

void identity(NodeContext &node) { node.result(node.input(0)); }

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
    shape = node.input(1);
  }
  if (node.version >= 14 && node.intAttribute("allowzero", 0) != 0)
    attributes.push_back(node.flag("allow_zero"));
  node.result(node.create<ReshapeOp>({x, shape}, attributes));
}

/// The axes of Squeeze and Unsqueeze: an attribute before opset 13, then an input.
std::optional<SmallVector<int64_t>> givenAxes(NodeContext &node) {
  return node.version < 13 ? node.intsAttribute("axes") : node.constantInput(1);
}

void squeeze(NodeContext &node) {
  Value x = node.input(0);
  std::optional<SmallVector<int64_t>> given = givenAxes(node);
  SmallVector<int64_t> axes;
  if (given) {
    axes = node.axes(*given, node.rank(x));
  } else {
    for (auto [i, dim] : llvm::enumerate(node.dims(x))) {
      if (!dim || !dim.asConstant())
        return node.fail("without axes all dims of size 1 go, but the size of dim " + Twine(i) + " is not known");
      if (dim.isConstant(1))
        axes.push_back(i);
    }
  }
  node.result(node.create<SqueezeOp>({x}, {node.named("axes", axes)}));
}

void unsqueeze(NodeContext &node) {
  Value x = node.input(0);
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

void expand(NodeContext &node) { node.result(node.create<ExpandOp>({node.input(0), node.input(1)})); }

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

Value shapeOf(NodeContext &node, Value x, int64_t start, int64_t end) {
  int64_t rank = node.rank(x);
  auto clamped = [&](int64_t place) { return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank); };
  start = clamped(start);
  end = std::max(start, clamped(end));
  return node.create<ShapeOp>({x}, {node.named("start", start), node.named("end", end)});
}

Value reshapeLike(NodeContext &node, Value value, Value like) {
  // A 0 in the shape is a size here, not "keep".
  return node.create<ReshapeOp>({value, shapeOf(node, like, 0, INT64_MAX)}, {node.flag("allow_zero")});
}

} // namespace llmc
