// Softmax and the norms.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// What `apply(x, axis)` makes of the input. Before opset 13 the dims from the axis on are one, whose default is 1 even for vectors.
template <typename Apply> void alongAxis(NodeContext &node, Apply &&apply) {
  Value x = node.input(0);
  int64_t rank = node.rank(x), axis = node.intAttribute("axis", node.version >= 13 ? -1 : 1);
  if (node.version < 13 && axis == rank && rank > 0)
    return node.fail("axis " + Twine(axis) + " leaves no dim to normalize");
  axis = node.axis(axis, rank);
  if (node.version >= 13 || axis == rank - 1)
    return node.result(apply(x, axis));
  Value matrix = node.create<FlattenOp>({x}, {node.named("axis", axis)});
  node.result(reshapeLike(node, apply(matrix, 1), x));
}

template <typename Op> void softmax(NodeContext &node) {
  alongAxis(node, [&](Value x, int64_t axis) { return node.create<Op>({x}, {node.named("axis", axis)}); });
}

/// 1 at the first of the greatest elements, 0 elsewhere.
void hardmax(NodeContext &node) {
  alongAxis(node, [&](Value x, int64_t axis) {
    if (!x || node.failed())
      return Value();
    Value greatest = node.create<ArgMaxOp>({x}, {node.named("axis", axis), node.flag("keepdims")});
    SmallVector<int64_t> behind = llvm::to_vector(llvm::seq<int64_t>(1, node.rank(x) - axis));
    Value places = node.create<UnsqueezeOp>({iota(node, node.dims(x)[axis])}, {node.named("axes", behind)});
    return castTo(node, node.create<EqualOp>({places, greatest}), node.elementType(x));
  });
}

void layerNormalization(NodeContext &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.intAttribute("axis", -1), node.rank(x));
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  node.ignoreAttribute("stash_type"); // statistics are computed in at least float32
  SmallVector<Value> operands = {x, node.input(1)};
  if (Value bias = node.optionalInput(2))
    operands.push_back(bias);
  node.result(node.create<LayerNormOp>(operands, {node.named("axis", axis), node.named("epsilon", epsilon)}));
  if (node.numOutputs() > 1)
    addStatistics(node, x, axis, epsilon);
}

void rmsNormalization(NodeContext &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.intAttribute("axis", -1), node.rank(x));
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  node.ignoreAttribute("stash_type");
  node.result(node.create<RmsNormOp>({x, node.input(1)}, {node.named("axis", axis), node.named("epsilon", epsilon)}));
}

/// With the mean and variance of the input itself; those given become running ones.
void trainingBatchNormalization(NodeContext &node, double epsilon, double momentum) {
  Value x = node.input(0), scale = node.input(1), bias = node.input(2), mean = node.input(3), variance = node.input(4);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x)));
  if (axes.size() < 2)
    return node.fail("expects an input of rank 2 or more, got " + Twine(axes.size()));
  axes.erase(axes.begin() + 1);
  Type type = node.elementType(x), wide = type.isF64() ? type : Float32Type::get(node.context());
  NamedAttribute over = node.named("axes", axes);
  Value own = castTo(node, x, wide), ownMean = node.create<ReduceMeanOp>({own}, over);
  Value centered = node.create<SubOp>({own, perChannel(node, ownMean, node.rank(x))});
  Value ownVariance = node.create<ReduceMeanOp>({node.create<MulOp>({centered, centered})}, over);
  auto as = [&](Value value) { return castTo(node, value, type); };
  node.result(node.create<BatchNormOp>({x, as(scale), as(bias), as(ownMean), as(ownVariance)}, node.named("epsilon", epsilon)));
  for (auto [running, current] : {std::pair(mean, ownMean), std::pair(variance, ownVariance)}) {
    Value kept = node.create<MulOp>({castTo(node, running, wide), node.scalar(wide, momentum)});
    Value added = node.create<MulOp>({current, node.scalar(wide, 1 - static_cast<float>(momentum))});
    node.result(castTo(node, node.create<AddOp>({kept, added}), node.elementType(running)));
  }
}

void batchNormalization(NodeContext &node) {
  double epsilon = node.floatAttribute("epsilon", 1e-5f), momentum = node.floatAttribute("momentum", 0.9f);
  if (node.version < 6)
    node.ignoreAttribute("consumed_inputs");
  if (node.version < 7 && node.intAttribute("is_test", 0) == 0)
    return node.fail("is_test = 0 (training) is not supported");
  if (node.version < 9 && node.intAttribute("spatial", 1) == 0)
    return node.fail("spatial = 0 is not supported");
  if (node.version < 14 && node.numOutputs() > 1)
    return node.fail("running statistics (training) are not supported");
  if (node.version >= 14 && node.intAttribute("training_mode", 0) != 0)
    return trainingBatchNormalization(node, epsilon, momentum);
  SmallVector<Value> operands;
  for (size_t i = 0; i < 5; ++i)
    operands.push_back(node.input(i));
  node.result(node.create<BatchNormOp>(operands, {node.named("epsilon", epsilon)}));
}

/// (x - mean) / sqrt(variance + epsilon) over the given axes.
Value normalized(NodeContext &node, Value x, ArrayRef<int64_t> axes, double epsilon) {
  SmallVector<NamedAttribute> over = {node.named("axes", axes), node.flag("keepdims")};
  Value centered = node.create<SubOp>({x, node.create<ReduceMeanOp>({x}, over)});
  Value variance = node.create<ReduceMeanOp>({node.create<MulOp>({centered, centered})}, over);
  Value deviation = node.create<SqrtOp>({node.create<AddOp>({variance, node.scalar(x, epsilon)})});
  return node.create<DivOp>({centered, deviation});
}

Value scaledAndShifted(NodeContext &node, Value x, Value scale, Value bias) {
  int64_t rank = node.rank(x);
  return node.create<AddOp>({node.create<MulOp>({x, perChannel(node, scale, rank)}), perChannel(node, bias, rank)});
}

/// 16-bit floats as f32: their mean and variance would lose bits at each step.
Value widened(NodeContext &node, Value x) {
  return x && node.elementType(x).getIntOrFloatBitWidth() == 16 ? castTo(node, x, Float32Type::get(node.context())) : x;
}

void instanceNormalization(NodeContext &node) {
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  if (node.version < 6)
    node.ignoreAttribute("consumed_inputs");
  Value x = widened(node, node.input(0)), scale = widened(node, node.input(1)), bias = widened(node, node.input(2));
  if (x && node.rank(x) < 3)
    return node.fail("expects an input of rank 3 or more, got " + Twine(node.rank(x)));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, std::max<int64_t>(2, node.rank(x))));
  resultLikeInput(node, scaledAndShifted(node, normalized(node, x, axes, epsilon), scale, bias));
}

/// One mean and variance per group of channels: [N, C, ...] normalized as [N, groups, everything else].
void groupNormalization(NodeContext &node) {
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  int64_t groups = node.intAttribute("num_groups", 0);
  node.ignoreAttribute("stash_type");
  Value x = widened(node, node.input(0)), scale = widened(node, node.input(1)), bias = widened(node, node.input(2));
  if (groups <= 0)
    return node.fail("num_groups " + Twine(groups) + " is not positive");
  Value grouped = node.create<ReshapeOp>({x, node.indices({0, groups, -1})});
  Value y = reshapeLike(node, normalized(node, grouped, {2}, epsilon), x);
  resultLikeInput(node, scaledAndShifted(node, y, scale, bias));
}

/// (x - mean) / (sqrt(variance) + 1e-9), as the schema's own definition computes it.
void meanVarianceNormalization(NodeContext &node) {
  Value x = node.input(0);
  SmallVector<int64_t> axes = node.axes(node.intsAttribute("axes").value_or(SmallVector<int64_t>{0, 2, 3}), node.rank(x));
  SmallVector<NamedAttribute> over = {node.named("axes", axes), node.flag("keepdims")};
  Value mean = node.create<ReduceMeanOp>({x}, over);
  Value meanSquare = node.create<ReduceMeanOp>({node.create<MulOp>({x, x})}, over);
  Value variance = node.create<SubOp>({meanSquare, node.create<MulOp>({mean, mean})});
  Value deviation = node.create<AddOp>({node.create<SqrtOp>({variance}), node.scalar(x, 1e-9)});
  node.result(node.create<DivOp>({node.create<SubOp>({x, mean}), deviation}));
}

/// x / norm along the axis, and 0 where that is 0.
void lpNormalization(NodeContext &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.intAttribute("axis", -1), node.rank(x)), p = node.intAttribute("p", 2);
  if (p != 1 && p != 2)
    return node.fail("p = " + Twine(p) + " is not supported");
  SmallVector<NamedAttribute> over = {node.named("axes", ArrayRef<int64_t>{axis}), node.flag("keepdims")};
  Value norm = p == 1 ? node.create<ReduceSumOp>({node.create<AbsOp>({x})}, over)
                      : node.create<SqrtOp>({node.create<ReduceSumOp>({node.create<MulOp>({x, x})}, over)});
  Value zero = node.scalar(x, 0);
  node.result(node.create<WhereOp>({node.create<EqualOp>({norm, zero}), zero, node.create<DivOp>({x, norm})}));
}

constexpr Converter table[] = {
    {"Softmax", 1, newest, softmax<SoftmaxOp>},
    {"LogSoftmax", 1, newest, softmax<LogSoftmaxOp>},
    {"Hardmax", 1, newest, hardmax},
    {"LayerNormalization", 17, newest, layerNormalization},
    {"RMSNormalization", 23, newest, rmsNormalization},
    {"BatchNormalization", 1, newest, batchNormalization},
    {"InstanceNormalization", 1, newest, instanceNormalization},
    {"GroupNormalization", 21, newest, groupNormalization},
    {"MeanVarianceNormalization", 9, newest, meanVarianceNormalization},
    {"LpNormalization", 1, newest, lpNormalization},
};

} // namespace

ArrayRef<Converter> normalizationConverters() { return table; }

void addStatistics(NodeContext &node, Value x, int64_t axis, double epsilon) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq(axis, node.rank(x)));
  SmallVector<NamedAttribute> over = {node.named("axes", axes), node.flag("keepdims")};
  x = castTo(node, x, Float32Type::get(node.context()));
  Value mean = node.create<ReduceMeanOp>({x}, over), centered = node.create<SubOp>({x, mean});
  Value variance = node.create<ReduceMeanOp>({node.create<MulOp>({centered, centered})}, over);
  Value deviation = node.create<SqrtOp>({node.create<AddOp>({variance, node.scalar(x, epsilon)})});
  node.result(mean);
  node.result(node.create<ReciprocalOp>({deviation}));
}

} // namespace llmc
