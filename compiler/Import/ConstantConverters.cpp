// Operators that make tensors out of nothing but constants.
#include "compiler/Import/Converters.h"
#include "dialects/Graph/DimLogic.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;
using onnx::AttributeProto;

void constant(NodeContext &node) {
  const AttributeProto *value = node.onlyAttribute();
  if (!value)
    return node.fail("expects exactly one attribute");
  Builder builder(node.context());
  auto typeOf = [&](size_t size, Type element) { return RankedTensorType::get({static_cast<int64_t>(size)}, element); };
  StringRef name = value->name();
  if (name == "value")
    node.result(node.constant(value->t()));
  else if (name == "value_float")
    node.result(node.scalar(builder.getF32Type(), value->f()));
  else if (name == "value_int")
    node.result(node.constant(DenseElementsAttr::get(RankedTensorType::get({}, builder.getI64Type()), value->i())));
  else if (name == "value_floats")
    node.result(node.constant(DenseElementsAttr::get(typeOf(value->floats_size(), builder.getF32Type()),
                                                     ArrayRef<float>(value->floats().data(), value->floats_size()))));
  else if (name == "value_ints")
    node.result(node.indices(ArrayRef<int64_t>(value->ints().data(), value->ints_size())));
  else
    node.fail("attribute '" + name + "' is not supported");
}

void constantOfShape(NodeContext &node) {
  const AttributeProto *value = node.attribute("value");
  Value shape = node.input(0);
  Value element = value ? node.constant(value->t()) : node.scalar(Float32Type::get(node.context()), 0);
  if (value && element && (node.rank(element) != 1 || !node.dims(element)[0].isConstant(1)))
    return node.fail("attribute 'value' must hold one element");
  if (value)
    element = node.create<SqueezeOp>({element}, {node.named("axes", ArrayRef<int64_t>{0})});
  node.result(node.create<ExpandOp>({element, shape}));
}

/// The scalar as a number; nothing, and a problem, if it is not constant.
template <typename Number> std::optional<Number> scalarOf(NodeContext &node, size_t i) {
  Value input = node.input(i);
  DenseElementsAttr attribute;
  if (input && matchPattern(input, m_Constant(&attribute)) && attribute.getNumElements() == 1) {
    if constexpr (std::is_same_v<Number, double>)
      return attribute.getSplatValue<APFloat>().convertToDouble();
    else
      return attribute.getSplatValue<APInt>().getSExtValue();
  }
  node.fail("input " + Twine(i) + " is no scalar known at compile time, which is not supported");
  return std::nullopt;
}

/// start + i * delta, in the arithmetic of float or double as the element type says.
template <typename Float> void floatRange(NodeContext &node, Type element, double start, double limit, double delta) {
  double count = std::ceil((limit - start) / delta);
  if (!(count < (1 << 24)))
    return node.fail("the range has too many elements");
  SmallVector<Float> values;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
    values.push_back(static_cast<Float>(start) + static_cast<Float>(i) * static_cast<Float>(delta));
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  node.result(node.constant(DenseElementsAttr::get(type, ArrayRef<Float>(values))));
}

void integerRange(NodeContext &node, IntegerType element, int64_t start, int64_t limit, int64_t delta) {
  __int128 span = static_cast<__int128>(limit) - start;
  __int128 count = span / delta + (span % delta != 0 && (span < 0) == (delta < 0));
  if (count > (1 << 24))
    return node.fail("the range has too many elements");
  SmallVector<APInt> values;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
    values.push_back(APInt(element.getWidth(), static_cast<uint64_t>(start + i * delta), false, /*implicitTrunc=*/true));
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  node.result(node.constant(DenseElementsAttr::get(type, ArrayRef<APInt>(values))));
}

template <typename Number> void rangeOf(NodeContext &node, Type element) {
  std::optional<Number> start = scalarOf<Number>(node, 0), limit = scalarOf<Number>(node, 1), delta = scalarOf<Number>(node, 2);
  if (!start || !limit || !delta)
    return;
  if (*delta == 0)
    return node.fail("delta is 0");
  if constexpr (std::is_same_v<Number, int64_t>)
    integerRange(node, cast<IntegerType>(element), *start, *limit, *delta);
  else if (element.isF32())
    floatRange<float>(node, element, *start, *limit, *delta);
  else
    floatRange<double>(node, element, *start, *limit, *delta);
}

/// The one number that an integer input holds, be it known at run time only.
DimExpr numberOf(NodeContext &node, size_t i) {
  std::optional<Dims> numbers = node.numbers(i);
  if (numbers && numbers->size() != 1)
    node.fail("input " + Twine(i) + " must be a scalar");
  return node.failed() || !numbers ? DimExpr() : numbers->front();
}

/// How many steps of `delta` lead from start to below limit.
DimExpr rangeSize(NodeContext &node, DimExpr start, DimExpr limit, DimExpr delta) {
  DimExpr up = limit - start, down = start - limit, one = node.number(1), minus = delta * -1;
  if (std::optional<int64_t> step = delta.asConstant())
    return atLeastZero(*step > 0 ? up.ceilDiv(delta) : down.ceilDiv(minus));
  return select(isNegative(delta), down.ceilDiv(minus.max(one)), up.ceilDiv(delta.max(one)));
}

/// start + i * delta for integers that only the run shows.
void openRange(NodeContext &node) {
  DimExpr start = numberOf(node, 0), limit = numberOf(node, 1), delta = numberOf(node, 2);
  if (!start || !limit || !delta)
    return;
  if (delta.isConstant(0))
    return node.fail("delta is 0");
  node.require(isEqual(delta, node.number(0)), node.number(0), "Range needs a delta that is not 0");
  auto scalar = [&](size_t i) {
    Value value = node.input(i);
    return node.rank(value) == 0 ? value : node.create<SqueezeOp>({value}, {node.named("axes", ArrayRef<int64_t>{0})});
  };
  Value first = scalar(0), step = scalar(2);
  Value places = castTo(node, iota(node, rangeSize(node, start, limit, delta)), node.elementType(first));
  node.result(node.create<AddOp>({node.create<MulOp>({places, step}), first}));
}

void range(NodeContext &node) {
  Type element = node.elementType(node.input(0));
  bool isKnown = node.isConstantInput(0) && node.isConstantInput(1) && node.isConstantInput(2);
  if (element.isSignlessInteger() && !element.isInteger(1) && !isKnown)
    openRange(node);
  else if (element.isF32() || element.isF64())
    rangeOf<double>(node, element);
  else if (element.isSignlessInteger() && !element.isInteger(1))
    rangeOf<int64_t>(node, element);
  else
    node.fail("the element type is not supported");
}

constexpr Converter table[] = {
    {"Constant", 1, newest, constant},
    {"ConstantOfShape", 9, newest, constantOfShape},
    {"Range", 11, newest, range},
};

} // namespace

ArrayRef<Converter> constantConverters() { return table; }

} // namespace llmc
