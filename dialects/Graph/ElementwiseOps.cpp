// Shape rules and folds of the element-wise ops, in the order of ElementwiseOps.td.
#include "dialects/Graph/Graph.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmc::graph {

/// Broadcasting, with contents where both operands have them: shape arithmetic is done in expressions.
template <typename Combine> static LogicalResult inferArithmetic(ShapeInference &shapes, Combine combine) {
  if (failed(shapes.sameElementType(0, 1)))
    return failure();
  FailureOr<Dims> dims = shapes.broadcast(shapes.dims(0), shapes.dims(1));
  if (failed(dims))
    return failure();
  std::optional<Dims> contents;
  const std::optional<Dims> &lhs = shapes.contents(0), &rhs = shapes.contents(1);
  if (lhs && rhs && dims->size() <= 1 && (lhs->size() == rhs->size() || lhs->size() == 1 || rhs->size() == 1)) {
    contents.emplace();
    for (size_t i = 0, e = lhs->size() == 1 ? rhs->size() : lhs->size(); i < e; ++i) {
      DimExpr value = combine((*lhs)[lhs->size() == 1 ? 0 : i], (*rhs)[rhs->size() == 1 ? 0 : i]);
      contents->push_back(shapes.simplify(value));
    }
  }
  shapes.result(shapes.elementType(0), *dims, std::move(contents));
  return success();
}

LogicalResult inferAdd(ShapeInference &shapes) {
  return inferArithmetic(shapes, [](DimExpr a, DimExpr b) { return a + b; });
}
LogicalResult inferSub(ShapeInference &shapes) {
  return inferArithmetic(shapes, [](DimExpr a, DimExpr b) { return a - b; });
}
LogicalResult inferMul(ShapeInference &shapes) {
  return inferArithmetic(shapes, [](DimExpr a, DimExpr b) { return a * b; });
}
LogicalResult inferDiv(ShapeInference &shapes) {
  // Truncation is floor only where nothing is negative.
  return inferArithmetic(shapes, [&](DimExpr a, DimExpr b) {
    bool natural = a && b && shapes.ranges().of(a).lo >= 0 && shapes.ranges().of(b).lo > 0;
    return natural ? a.floorDiv(b) : DimExpr();
  });
}
LogicalResult inferMax(ShapeInference &shapes) {
  return inferArithmetic(shapes, [](DimExpr a, DimExpr b) { return a.max(b); });
}
LogicalResult inferMin(ShapeInference &shapes) {
  return inferArithmetic(shapes, [](DimExpr a, DimExpr b) { return a.min(b); });
}

/// Whether the attribute is a constant whose elements all equal `value` (integers and floats; not -0 for 0).
static bool isSplatOf(Attribute attribute, double value) {
  auto dense = dyn_cast_if_present<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType())) {
    APFloat element = dense.getSplatValue<APFloat>();
    bool losesInfo;
    APFloat wanted(value);
    wanted.convert(element.getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return element.bitwiseIsEqual(wanted);
  }
  return dense.getElementType().isIntOrIndex() && dense.getSplatValue<APInt>().getSExtValue() == value;
}

/// x op neutral -> x, if the shape stays.
template <typename Op> static OpFoldResult foldNeutral(Op op, Attribute rhs, double neutral) {
  if (isSplatOf(rhs, neutral) && op.getLhs().getType() == op.getType())
    return op.getLhs();
  return {};
}

/// The same from both sides.
template <typename Op> static OpFoldResult foldCommutative(Op op, Attribute lhs, Attribute rhs, double neutral) {
  if (isSplatOf(lhs, neutral) && op.getRhs().getType() == op.getType())
    return op.getRhs();
  return foldNeutral(op, rhs, neutral);
}

// x + 0.0 is not x for x = -0.0, so floats need the neutral -0.0.
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  double neutral = isa<FloatType>(getType().getElementType()) ? -0.0 : 0;
  return foldCommutative(*this, adaptor.getLhs(), adaptor.getRhs(), neutral);
}
OpFoldResult SubOp::fold(FoldAdaptor adaptor) { return foldNeutral(*this, adaptor.getRhs(), 0.0); }
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  return foldCommutative(*this, adaptor.getLhs(), adaptor.getRhs(), 1.0);
}
OpFoldResult DivOp::fold(FoldAdaptor adaptor) { return foldNeutral(*this, adaptor.getRhs(), 1.0); }

LogicalResult CastOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Type to = adaptor.getTo();
  std::optional<Dims> contents;
  if (shapes.elementType(0).isInteger() && (to.isInteger(64) || to.isInteger(32)))
    contents = shapes.contents(0);
  shapes.result(to, Dims(shapes.dims(0)), contents);
  return success();
}

LogicalResult BitCastOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Type from = shapes.elementType(0), to = adaptor.getTo();
  auto bits = [](Type type) { return std::max(8u, type.getIntOrFloatBitWidth()); };
  if (bits(from) != bits(to))
    return shapes.fail("expects an element type of " + Twine(bits(from)) + " bits, got one of " + Twine(bits(to)));
  shapes.result(to, Dims(shapes.dims(0)));
  return success();
}

/// Whether each value of one element type is a value of another.
static bool holdsAll(Type to, Type from) {
  if (auto narrow = dyn_cast<FloatType>(from))
    return isa<FloatType>(to) &&
           APFloat::isRepresentableBy(narrow.getFloatSemantics(), cast<FloatType>(to).getFloatSemantics());
  bool isNatural = from.isUnsignedInteger() || from.isInteger(1);
  unsigned magnitude = from.getIntOrFloatBitWidth() - (isNatural ? 0 : 1);
  if (auto wide = dyn_cast<FloatType>(to))
    return magnitude <= APFloat::semanticsPrecision(wide.getFloatSemantics()) &&
           magnitude <= static_cast<unsigned>(APFloat::semanticsMaxExponent(wide.getFloatSemantics()));
  if (to.isUnsignedInteger())
    return isNatural && magnitude <= to.getIntOrFloatBitWidth();
  return !to.isInteger(1) && magnitude < to.getIntOrFloatBitWidth();
}

// cast(x) to the type of x -> x ; cast(cast(x)) -> cast(x) if the inner one loses nothing. Floats saturate where integers wrap, so
// integers that become integers again must not have been floats.
OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto inner = getX().getDefiningOp<CastOp>();
  if (!inner)
    return {};
  Type from = getElementTypeOrSelf(inner.getX().getType()), between = getElementTypeOrSelf(inner.getType());
  bool isOneKind = isa<FloatType>(from) == isa<FloatType>(between) || isa<FloatType>(getTo());
  if (!isOneKind || !holdsAll(between, from))
    return {};
  getXMutable().assign(inner.getX());
  return getResult();
}

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/ElementwiseOps.cpp.inc"

void llmc::graph::GraphDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/ElementwiseOps.cpp.inc"
      >();
}
