// Quantization: integers with a scale and a zero point, and products of them.
//
// Sums of products are exact: in i32 for matrices; for convolutions in f64, since graph.conv has no integers, where
// sums of fewer than 2^36 products of 8-bit numbers have no rounding.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

Type f32(NodeContext &node) { return Float32Type::get(node.context()); }
Type i32(NodeContext &node) { return IntegerType::get(node.context(), 32); }

/// Where the scales and zero points of a tensor stand for its elements.
struct Granularity {
  int64_t axis = 1, blockSize = 0;
};

Granularity readGranularity(NodeContext &node) {
  Granularity granularity;
  if (node.version >= 13)
    granularity.axis = node.intAttribute("axis", 1);
  if (node.version >= 21)
    granularity.blockSize = node.intAttribute("block_size", 0);
  return granularity;
}

/// Each element along the axis repeated `blockSize` times, as far as x goes.
Value repeatedInBlocks(NodeContext &node, Value x, Value scale, Granularity granularity) {
  int64_t axis = node.axis(granularity.axis, node.rank(x));
  if (node.rank(scale) != node.rank(x))
    node.fail("a scale of rank " + Twine(node.rank(scale)) + " is given for blocks of rank " + Twine(node.rank(x)));
  if (granularity.blockSize < 0)
    node.fail("block_size " + Twine(granularity.blockSize) + " is negative");
  if (node.failed())
    return {};
  Value places = iota(node, node.dims(x)[axis]);
  Value blocks = node.create<DivOp>({places, node.scalar(places, static_cast<double>(granularity.blockSize))});
  return node.create<GatherOp>({scale, blocks}, {node.named("axis", axis)});
}

/// The one element of a value of any rank.
Value single(NodeContext &node, Value value) {
  return node.rank(value) == 0 ? value : node.create<ViewOp>({value}, {node.named("dims", ArrayRef<DimExpr>())});
}

bool isSingle(NodeContext &node, Value value) {
  return node.rank(value) == 0 || (node.rank(value) == 1 && node.dims(value)[0].isConstant(1));
}

/// Scale or zero point in a form that broadcasts over x: of the tensor, of each place along the axis, or of blocks.
Value spread(NodeContext &node, Value x, Value scale, Granularity granularity) {
  if (!x || !scale)
    return {};
  if (granularity.blockSize != 0 && node.rank(scale) != 0)
    return repeatedInBlocks(node, x, scale, granularity);
  if (isSingle(node, scale))
    return single(node, scale);
  if (node.rank(scale) != 1) {
    node.fail("a scale or zero point of rank " + Twine(node.rank(scale)) + " without blocks is not supported");
    return {};
  }
  int64_t axis = node.rank(x) == 1 ? 0 : node.axis(granularity.axis, node.rank(x));
  if (node.failed())
    return {};
  scale = expanded(node, scale, 0, node.dims(x)[axis]);
  return node.create<UnsqueezeOp>({scale}, {node.named("axes", llvm::to_vector(llvm::seq<int64_t>(1, node.rank(x) - axis)))});
}

/// saturate(round(x) + zero point) of the integer type. The sum is exact or far outside of the type.
Value saturated(NodeContext &node, Value x, Value zeroPoint, Type type) {
  Value rounded = castTo(node, node.create<RoundOp>({x}), f32(node));
  if (zeroPoint)
    rounded = node.create<AddOp>({rounded, castTo(node, zeroPoint, f32(node))});
  return castTo(node, rounded, type);
}

/// The integer type that the attribute names; null, and a problem, if it is none of 8 or 16 bits.
Type quantizedType(NodeContext &node, int64_t dataType) {
  Type type = elementTypeOf(node.context(), dataType);
  if (type && (type.isInteger(8) || type.isInteger(16)))
    return type;
  node.fail("quantization to " + dataTypeName(dataType) + " is not supported");
  return {};
}

void quantizeLinear(NodeContext &node) {
  Value x = node.input(0), scale = node.input(1), zeroPoint = node.optionalInput(2);
  Granularity granularity = readGranularity(node);
  if (node.version >= 19)
    node.ignoreAttribute("saturate"); // of float8 types
  int64_t given = node.version >= 21 ? node.intAttribute("output_dtype", 0) : 0;
  int64_t precision = node.version >= 23 ? node.intAttribute("precision", 0) : 0;
  Type type = given ? quantizedType(node, given) : IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  if (zeroPoint && given && type != node.elementType(zeroPoint))
    return node.fail("output_dtype is not the type of the zero point");
  if (zeroPoint)
    type = node.elementType(zeroPoint);
  Type divided = precision ? elementTypeOf(node.context(), precision) : node.elementType(scale);
  if (scale && !isa_and_nonnull<FloatType>(divided))
    return node.fail("a division in a type other than floats is not supported");
  scale = castTo(node, spread(node, x, scale, granularity), divided);
  Value quotient = node.create<DivOp>({castTo(node, x, divided), scale});
  node.result(saturated(node, quotient, spread(node, x, castTo(node, zeroPoint, f32(node)), granularity), type));
}

/// x - zero point in the given type, which holds the difference.
Value centered(NodeContext &node, Value x, Value zeroPoint, Type type) {
  Value wide = castTo(node, x, type);
  return zeroPoint ? node.create<SubOp>({wide, castTo(node, zeroPoint, type)}) : wide;
}

/// (x - zero point) * scale
void dequantizeLinear(NodeContext &node) {
  Value x = node.input(0), scale = node.input(1), zeroPoint = node.optionalInput(2);
  Granularity granularity = readGranularity(node);
  Type type = node.elementType(scale);
  if (int64_t given = node.version >= 23 ? node.intAttribute("output_dtype", 0) : 0)
    type = elementTypeOf(node.context(), given);
  if (scale && !isa_and_nonnull<FloatType>(type))
    return node.fail("a result of a type other than floats is not supported");
  Value difference = centered(node, x, spread(node, x, castTo(node, zeroPoint, i32(node)), granularity), i32(node));
  scale = castTo(node, spread(node, x, scale, granularity), type);
  node.result(node.create<MulOp>({castTo(node, difference, type), scale}));
}

void dynamicQuantizeLinear(NodeContext &node) {
  QuantizedBytes quantized = dynamicallyQuantized(node, node.input(0));
  for (Value result : {quantized.bytes, quantized.scale, quantized.zeroPoint})
    node.result(result);
}

/// The values of the rows of a matrix: one for all, or [rows], or [..., rows, 1].
Value ofRows(NodeContext &node, Value value, Value matrix) {
  int64_t rank = node.rank(matrix);
  if (!value || !matrix || node.rank(value) > 1)
    return value;
  if (isSingle(node, value) || rank < 2)
    return single(node, value);
  value = expanded(node, value, 0, node.dims(matrix)[rank - 2]);
  return node.create<UnsqueezeOp>({value}, {node.named("axes", ArrayRef<int64_t>{1})});
}

/// The values of the columns of a matrix: one for all, or [columns], or [..., 1, columns].
Value ofColumns(NodeContext &node, Value value, Value matrix) {
  int64_t rank = node.rank(matrix);
  if (!value || !matrix || node.rank(value) > 1)
    return value;
  if (isSingle(node, value) || rank < 2)
    return single(node, value);
  return expanded(node, value, 0, node.dims(matrix)[rank - 1]);
}

Value integerProduct(NodeContext &node, Value a, Value aZeroPoint, Value b, Value bZeroPoint) {
  aZeroPoint = ofRows(node, castTo(node, aZeroPoint, i32(node)), a);
  bZeroPoint = ofColumns(node, castTo(node, bZeroPoint, i32(node)), b);
  return node.create<MatMulOp>({centered(node, a, aZeroPoint, i32(node)), centered(node, b, bZeroPoint, i32(node))});
}

void matMulInteger(NodeContext &node) {
  Value a = node.input(0), b = node.input(1);
  Value aZeroPoint = node.optionalInput(2), bZeroPoint = node.optionalInput(3);
  node.result(integerProduct(node, a, aZeroPoint, b, bZeroPoint));
}

/// An i32 value times left * right / result, the three scales, plus the zero point.
Value requantized(NodeContext &node, Value value, Value left, Value right, Value result, Value zeroPoint, Type type) {
  Value scale = node.create<MulOp>({castTo(node, left, f32(node)), castTo(node, right, f32(node))});
  scale = node.create<DivOp>({scale, castTo(node, result, f32(node))});
  Value scaled = node.create<MulOp>({castTo(node, value, f32(node)), scale});
  return saturated(node, scaled, zeroPoint, type);
}

void qLinearMatMul(NodeContext &node) {
  Value a = node.input(0), aScale = node.input(1), aZeroPoint = node.input(2);
  Value b = node.input(3), bScale = node.input(4), bZeroPoint = node.input(5);
  Value yScale = node.input(6), yZeroPoint = node.input(7);
  Value product = integerProduct(node, a, aZeroPoint, b, bZeroPoint);
  node.result(requantized(node, product, ofRows(node, aScale, a), ofColumns(node, bScale, b), ofRows(node, yScale, product),
                          ofRows(node, castTo(node, yZeroPoint, f32(node)), product), node.elementType(yZeroPoint)));
}

/// One value, or one per output channel of the weight, for dim `axis` of a tensor of that rank.
Value ofChannels(NodeContext &node, Value value, Value weight, int64_t axis) {
  int64_t rank = node.rank(weight);
  if (!value || rank < 2)
    return {};
  if (isSingle(node, value))
    return single(node, value);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  axes.erase(axes.begin() + axis);
  return node.create<UnsqueezeOp>({expanded(node, value, 0, node.dims(weight)[0])}, {node.named("axes", axes)});
}

Value integerConvolution(NodeContext &node, Value x, Value xZeroPoint, Value weight, Value weightZeroPoint) {
  Type f64 = Float64Type::get(node.context());
  Value left = centered(node, x, single(node, xZeroPoint), f64);
  Value right = centered(node, weight, ofChannels(node, castTo(node, weightZeroPoint, f64), weight, 0), f64);
  return castTo(node, convolution(node, left, right, Value()), i32(node));
}

void convInteger(NodeContext &node) {
  Value x = node.input(0), weight = node.input(1);
  Value xZeroPoint = node.optionalInput(2), weightZeroPoint = node.optionalInput(3);
  node.result(integerConvolution(node, x, xZeroPoint, weight, weightZeroPoint));
}

void qLinearConv(NodeContext &node) {
  Value x = node.input(0), xScale = node.input(1), xZeroPoint = node.input(2);
  Value weight = node.input(3), weightScale = node.input(4), weightZeroPoint = node.input(5);
  Value yScale = node.input(6), yZeroPoint = node.input(7), bias = node.optionalInput(8);
  Value sums = integerConvolution(node, x, xZeroPoint, weight, weightZeroPoint);
  if (bias)
    sums = node.create<AddOp>({sums, perChannel(node, bias, node.rank(x))});
  node.result(requantized(node, sums, single(node, xScale), ofChannels(node, weightScale, weight, 1), single(node, yScale),
                          single(node, yZeroPoint), node.elementType(yZeroPoint)));
}

constexpr Converter table[] = {
    {"QuantizeLinear", 10, newest, quantizeLinear},
    {"DequantizeLinear", 10, newest, dequantizeLinear},
    {"DynamicQuantizeLinear", 11, newest, dynamicQuantizeLinear},
    {"MatMulInteger", 10, newest, matMulInteger},
    {"QLinearMatMul", 10, newest, qLinearMatMul},
    {"ConvInteger", 10, newest, convInteger},
    {"QLinearConv", 10, newest, qLinearConv},
};

} // namespace

ArrayRef<Converter> quantizationConverters() { return table; }

QuantizedBytes dynamicallyQuantized(NodeContext &node, Value x) {
  Value zero = node.scalar(x, 0), steps = node.scalar(x, 255);
  NamedAttribute all = node.named("axes", llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x))));
  Value least = node.create<MinOp>({node.create<ReduceMinOp>({x}, all), zero});
  Value greatest = node.create<MaxOp>({node.create<ReduceMaxOp>({x}, all), zero});
  Value range = node.create<SubOp>({greatest, least});
  Value isEmpty = node.create<EqualOp>({range, zero});
  Value scale = node.create<WhereOp>({isEmpty, node.scalar(x, 1), node.create<DivOp>({range, steps})});
  Type byte = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  Value start = node.create<SubOp>({zero, node.create<DivOp>({least, scale})});
  Value zeroPoint = saturated(node, start, Value(), byte);
  return {saturated(node, node.create<DivOp>({x, scale}), zeroPoint, byte), scale, zeroPoint};
}

} // namespace llmc
