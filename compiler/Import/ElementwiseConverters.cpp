// Element-wise operators. Before opset 7 binary ones had their own broadcasting; attributes became inputs with opset 11.
#include "compiler/Import/Converters.h"
#include "compiler/Import/Strings.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// Opset 1 to 5: which inputs the node may overwrite; nothing about the result.
void ignoreConsumedInputs(NodeContext &node) {
  if (node.version < 6)
    node.ignoreAttribute("consumed_inputs");
}

template <typename Op> void unary(NodeContext &node) {
  ignoreConsumedInputs(node);
  node.result(node.create<Op>({node.input(0)}));
}

/// A property whose default is `Percent` / 100, rounded to float as the schema has it.
template <typename Op, int Percent> void withAlpha(NodeContext &node) {
  ignoreConsumedInputs(node);
  double alpha = node.floatAttribute("alpha", static_cast<float>(Percent / 100.0));
  node.result(node.create<Op>({node.input(0)}, {node.named("alpha", alpha)}));
}

void hardSigmoid(NodeContext &node) {
  ignoreConsumedInputs(node);
  double alpha = node.floatAttribute("alpha", 0.2f), beta = node.floatAttribute("beta", 0.5f);
  node.result(node.create<HardSigmoidOp>({node.input(0)}, {node.named("alpha", alpha), node.named("beta", beta)}));
}

void gelu(NodeContext &node) {
  std::string form = node.stringAttribute("approximate", "none");
  if (form != "none" && form != "tanh")
    return node.fail("approximate '" + form + "' is not supported");
  SmallVector<NamedAttribute> attributes;
  if (form == "tanh")
    attributes.push_back(node.flag("tanh_form"));
  node.result(node.create<GeluOp>({node.input(0)}, attributes));
}

/// gamma * (x > 0 ? x : alpha * (exp(x) - 1))
void selu(NodeContext &node) {
  ignoreConsumedInputs(node);
  bool old = node.version < 6;
  double alpha = node.floatAttribute("alpha", old ? 1.6732f : 1.67326319217681884765625);
  double gamma = node.floatAttribute("gamma", old ? 1.0507f : 1.05070102214813232421875);
  Value x = node.input(0);
  Value elu = node.create<EluOp>({x}, {node.named("alpha", alpha)});
  node.result(node.create<MulOp>({node.scalar(x, gamma), elu}));
}

/// x > alpha ? x : 0
void thresholdedRelu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1.0);
  Value x = node.input(0);
  Value above = node.create<GreaterOp>({x, node.scalar(x, alpha)});
  node.result(node.create<WhereOp>({above, x, node.scalar(x, 0)}));
}

/// x < 0 ? slope * x : x
void prelu(NodeContext &node) {
  ignoreConsumedInputs(node);
  Value x = node.input(0), slope = node.input(1);
  // Before opset 7 a slope of one dim is one value per channel.
  if (node.version < 7 && node.rank(slope) == 1 && node.rank(x) > 1 && !node.dims(slope)[0].isConstant(1))
    slope = perChannel(node, slope, node.rank(x));
  Value below = node.create<LessOp>({x, node.scalar(x, 0)});
  node.result(node.create<WhereOp>({below, node.create<MulOp>({slope, x}), x}));
}

/// x * tanh(softplus(x))
void mish(NodeContext &node) {
  Value x = node.input(0);
  node.result(node.create<MulOp>({x, node.create<TanhOp>({node.create<SoftplusOp>({x})})}));
}

/// x * sigmoid(alpha * x)
void swish(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1.0);
  Value x = node.input(0);
  Value scaled = alpha == 1.0 ? x : node.create<MulOp>({node.scalar(x, alpha), x});
  node.result(node.create<MulOp>({x, node.create<SigmoidOp>({scaled})}));
}

/// max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)
void celu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1.0);
  Value x = node.input(0), one = node.scalar(x, 1), zero = node.scalar(x, 0), factor = node.scalar(x, alpha);
  Value power = node.create<ExpOp>({node.create<DivOp>({x, factor})});
  Value below = node.create<MulOp>({factor, node.create<SubOp>({power, one})});
  node.result(node.create<AddOp>({node.create<MaxOp>({x, zero}), node.create<MinOp>({below, zero})}));
}

/// x < -lambd ? x + bias : x > lambd ? x - bias : 0
void shrink(NodeContext &node) {
  double bias = node.floatAttribute("bias", 0), lambd = node.floatAttribute("lambd", 0.5), low = -lambd, high = lambd;
  Value x = node.input(0);
  if (x && !isa<FloatType>(node.elementType(x))) {
    if (node.elementType(x).isUnsignedInteger())
      return node.fail("unsigned integers are not supported");
    if (bias != std::trunc(bias) || lambd < 0)
      return node.fail("integers with this bias or lambd are not supported");
    high = std::floor(high); // the same integers are above, and below
    low = 0 - high;
  }
  Value shift = node.scalar(x, bias), below = node.create<LessOp>({x, node.scalar(x, low)}), above = node.create<GreaterOp>({x, node.scalar(x, high)});
  Value rest = node.create<WhereOp>({above, node.create<SubOp>({x, shift}), node.scalar(x, 0)});
  node.result(node.create<WhereOp>({below, node.create<AddOp>({x, shift}), rest}));
}

void isInf(NodeContext &node) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bool negative = node.intAttribute("detect_negative", 1), positive = node.intAttribute("detect_positive", 1);
  Value x = node.input(0);
  Value below = node.create<EqualOp>({x, node.scalar(x, -infinity)}), above = node.create<EqualOp>({x, node.scalar(x, infinity)});
  if (negative && positive)
    return node.result(node.create<OrOp>({below, above}));
  Value wanted = negative ? below : above;
  // With neither asked for, nothing counts: x < x holds for no x.
  node.result(negative || positive ? wanted : node.create<LessOp>({x, x}));
}

/// The right operand as numpy's broadcasting wants it. Opset 1 to 6: with `broadcast`, dim `axis` of the left operand is the first
/// of the right one; without an axis the right operand is a suffix, as in numpy.
Value alignedRight(NodeContext &node, Value lhs, Value rhs) {
  if (node.version >= 7)
    return rhs;
  ignoreConsumedInputs(node);
  bool broadcast = node.intAttribute("broadcast", 0) != 0;
  std::optional<int64_t> axis = node.intAttribute("axis");
  if (!broadcast || !axis || !lhs || !rhs)
    return rhs;
  int64_t first = node.axis(*axis, node.rank(lhs)), rank = node.rank(rhs);
  int64_t behind = node.rank(lhs) - first - rank;
  if (behind < 0) {
    node.fail("axis " + Twine(*axis) + " leaves no room for a right operand of rank " + Twine(rank));
    return {};
  }
  if (behind == 0)
    return rhs;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(rank, rank + behind));
  return node.create<UnsqueezeOp>({rhs}, {node.named("axes", axes)});
}

template <typename Op> void binary(NodeContext &node) {
  Value lhs = node.input(0), rhs = node.input(1);
  node.result(node.create<Op>({lhs, alignedRight(node, lhs, rhs)}));
}

void mod(NodeContext &node) {
  SmallVector<NamedAttribute> attributes;
  if (node.intAttribute("fmod", 0))
    attributes.push_back(node.flag("fmod"));
  else if (node.version < 28 && isa<FloatType>(node.elementType(node.input(0))))
    return node.fail("floats need fmod = 1");
  node.result(node.create<ModOp>({node.input(0), node.input(1)}, attributes));
}

/// ((a op b) op c) ...
template <typename Op> Value chain(NodeContext &node) {
  ignoreConsumedInputs(node);
  Value value = node.input(0);
  for (size_t i = 1; i < node.numInputs(); ++i)
    value = node.create<Op>({value, node.input(i)});
  return value;
}

template <typename Op> void variadic(NodeContext &node) { node.result(chain<Op>(node)); }

void mean(NodeContext &node) {
  Value sum = chain<AddOp>(node);
  node.result(node.numInputs() == 1 ? sum : node.create<DivOp>({sum, node.scalar(sum, node.numInputs())}));
}

void where(NodeContext &node) {
  node.result(node.create<WhereOp>({node.input(0), node.input(1), node.input(2)}));
}

/// Options that only concern float8 types, which the graph dialect does not have.
void ignoreFloat8Options(NodeContext &node) {
  if (node.version >= 19)
    node.ignoreAttribute("saturate");
  if (node.version >= 24)
    node.ignoreAttribute("round_mode");
}

void cast(NodeContext &node) {
  int32_t target = 0;
  if (node.version >= 6) {
    target = static_cast<int32_t>(node.intAttribute("to", 0));
  } else {
    onnx::TensorProto::DataType parsed;
    std::string name = node.stringAttribute("to", "");
    if (onnx::TensorProto::DataType_Parse(name, &parsed))
      target = parsed;
  }
  ignoreFloat8Options(node);
  Type type = elementTypeOf(node.context(), target);
  if (!type)
    return node.fail("a cast to " + dataTypeName(target) + " is not supported");
  node.result(castTo(node, node.input(0), type));
}

void bitCast(NodeContext &node) {
  int64_t target = node.intAttribute("to", 0);
  Type type = elementTypeOf(node.context(), static_cast<int32_t>(target));
  if (!type)
    return node.fail("a cast to " + dataTypeName(target) + " is not supported");
  node.result(node.create<BitCastOp>({node.input(0)}, {node.named("to", TypeAttr::get(type))}));
}

void castLike(NodeContext &node) {
  ignoreFloat8Options(node);
  Value x = node.input(0), like = node.input(1);
  if (like)
    node.result(castTo(node, x, node.elementType(like)));
}

void bitShift(NodeContext &node) {
  std::string direction = node.stringAttribute("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.fail("direction is '" + direction + "', expected LEFT or RIGHT");
  SmallVector<NamedAttribute> attributes;
  if (direction == "LEFT")
    attributes.push_back(node.flag("left"));
  node.result(node.create<BitShiftOp>({node.input(0), node.input(1)}, attributes));
}

/// min(max(x, low), high), each bound if given.
void clamp(NodeContext &node, Value x, Value low, Value high) {
  Value y = low ? node.create<MaxOp>({x, low}) : x;
  node.result(high ? node.create<MinOp>({y, high}) : y);
}

/// Opset 1 to 10. The defaults of opset 6 are float's greatest values, which bound nothing but infinities.
void clipByAttributes(NodeContext &node) {
  ignoreConsumedInputs(node);
  Value x = node.input(0);
  constexpr double none = std::numeric_limits<float>::max();
  bool hasLow = node.attribute("min") || node.version >= 6, hasHigh = node.attribute("max") || node.version >= 6;
  double low = node.floatAttribute("min", -none), high = node.floatAttribute("max", none);
  clamp(node, x, hasLow ? node.scalar(x, low) : Value(), hasHigh ? node.scalar(x, high) : Value());
}

void clipByInputs(NodeContext &node) {
  clamp(node, node.input(0), node.optionalInput(1), node.optionalInput(2));
}

void equal(NodeContext &node) {
  if (node.hasInput(0) && node.item(0).form.kind == Form::Kind::Strings)
    return equalStrings(node);
  binary<EqualOp>(node);
}

constexpr Converter table[] = {
    {"Abs", 1, newest, unary<AbsOp>},
    {"Neg", 1, newest, unary<NegOp>},
    {"Exp", 1, newest, unary<ExpOp>},
    {"Log", 1, newest, unary<LogOp>},
    {"Sqrt", 1, newest, unary<SqrtOp>},
    {"Erf", 9, newest, unary<ErfOp>},
    {"Tanh", 1, newest, unary<TanhOp>},
    {"Sigmoid", 1, newest, unary<SigmoidOp>},
    {"Relu", 1, newest, unary<ReluOp>},
    {"Floor", 1, newest, unary<FloorOp>},
    {"Ceil", 1, newest, unary<CeilOp>},
    {"Round", 11, newest, unary<RoundOp>},
    {"Sign", 9, newest, unary<SignOp>},
    {"Reciprocal", 1, newest, unary<ReciprocalOp>},
    {"Sin", 7, newest, unary<SinOp>},
    {"Cos", 7, newest, unary<CosOp>},
    {"Tan", 7, newest, unary<TanOp>},
    {"Asin", 7, newest, unary<AsinOp>},
    {"Acos", 7, newest, unary<AcosOp>},
    {"Atan", 7, newest, unary<AtanOp>},
    {"Sinh", 9, newest, unary<SinhOp>},
    {"Cosh", 9, newest, unary<CoshOp>},
    {"Asinh", 9, newest, unary<AsinhOp>},
    {"Acosh", 9, newest, unary<AcoshOp>},
    {"Atanh", 9, newest, unary<AtanhOp>},
    {"Softplus", 1, newest, unary<SoftplusOp>},
    {"Softsign", 1, newest, unary<SoftsignOp>},
    {"HardSwish", 14, newest, unary<HardSwishOp>},
    {"IsInf", 10, newest, isInf},
    {"IsNaN", 9, newest, unary<IsNanOp>},
    {"Not", 1, newest, unary<NotOp>},
    {"LeakyRelu", 1, newest, withAlpha<LeakyReluOp, 1>},
    {"Elu", 1, newest, withAlpha<EluOp, 100>},
    {"HardSigmoid", 1, newest, hardSigmoid},
    {"Gelu", 20, newest, gelu},
    {"Selu", 1, newest, selu},
    {"Celu", 12, newest, celu},
    {"Shrink", 9, newest, shrink},
    {"ThresholdedRelu", 10, newest, thresholdedRelu},
    {"PRelu", 1, newest, prelu},
    {"Mish", 18, newest, mish},
    {"Swish", 24, newest, swish},
    {"Add", 1, newest, binary<AddOp>},
    {"Sub", 1, newest, binary<SubOp>},
    {"Mul", 1, newest, binary<MulOp>},
    {"Div", 1, newest, binary<DivOp>},
    {"Pow", 1, newest, binary<PowOp>},
    {"Mod", 10, newest, mod},
    {"Equal", 1, newest, equal},
    {"Less", 1, newest, binary<LessOp>},
    {"LessOrEqual", 12, newest, binary<LessEqualOp>},
    {"Greater", 1, newest, binary<GreaterOp>},
    {"GreaterOrEqual", 12, newest, binary<GreaterEqualOp>},
    {"And", 1, newest, binary<AndOp>},
    {"Or", 1, newest, binary<OrOp>},
    {"Xor", 1, newest, binary<XorOp>},
    {"BitwiseAnd", 18, newest, binary<BitwiseAndOp>},
    {"BitwiseOr", 18, newest, binary<BitwiseOrOp>},
    {"BitwiseXor", 18, newest, binary<BitwiseXorOp>},
    {"BitwiseNot", 18, newest, unary<BitwiseNotOp>},
    {"BitShift", 11, newest, bitShift},
    {"Max", 1, newest, variadic<MaxOp>},
    {"Min", 1, newest, variadic<MinOp>},
    {"Sum", 1, newest, variadic<AddOp>},
    {"Mean", 1, newest, mean},
    {"Where", 9, newest, where},
    {"Cast", 1, newest, cast},
    {"BitCast", 26, newest, bitCast},
    {"CastLike", 15, newest, castLike},
    {"Clip", 1, 10, clipByAttributes},
    {"Clip", 11, newest, clipByInputs},
};

} // namespace

ArrayRef<Converter> elementwiseConverters() { return table; }

Value castTo(NodeContext &node, Value x, Type type) {
  return x && node.elementType(x) != type ? node.create<CastOp>({x}, {node.named("to", TypeAttr::get(type))}) : x;
}

void resultLikeInput(NodeContext &node, Value y) { node.result(y ? castTo(node, y, node.elementType(node.input(0))) : y); }

Value perChannel(NodeContext &node, Value value, int64_t rank) {
  if (rank < 2)
    return value;
  SmallVector<int64_t> axes = {0};
  axes.append(llvm::to_vector(llvm::seq<int64_t>(2, rank)));
  return node.create<UnsqueezeOp>({value}, {node.named("axes", axes)});
}

} // namespace llmc
