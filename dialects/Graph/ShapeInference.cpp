// Broadcasting, and the rules that several ops share.
#include "dialects/Graph/ShapeInference.h"
#include "dialects/Graph/ConstantView.h"
#include "dialects/Graph/Graph.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmc::graph {

static std::optional<Dims> constantContents(Value value) {
  Attribute attribute;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > maxContents || !type.getElementType().isIntOrIndex() ||
      !matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  std::optional<ConstantView> view = ConstantView::of(attribute);
  if (!view)
    return std::nullopt;
  return llvm::map_to_vector<4>(view->integers(), [&](int64_t element) {
    return DimExpr::constant(value.getContext(), element);
  });
}

ShapeInference::ShapeInference(MLIRContext *context, std::optional<Location> loc, ValueRange operands)
    : mlirContext(context), loc(loc) {
  for (Value operand : operands) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    elementTypes.push_back(type ? type.getElementType() : operand.getType());
    TensorShape shape;
    if (type)
      for (int64_t size : type.getShape())
        shape.dims.push_back(ShapedType::isDynamic(size) ? DimExpr() : constant(size));
    shape.contents = constantContents(operand);
    shapes.push_back(std::move(shape));
  }
}

ShapeInference::ShapeInference(MLIRContext *context, std::optional<Location> loc, ValueRange operands,
                               ArrayRef<TensorShape> shapes, const DimRanges &ranges,
                               Assumed assumed)
    : mlirContext(context), loc(loc), shapes(shapes), dimRanges(ranges), assumed(std::move(assumed)) {
  for (Value operand : operands)
    elementTypes.push_back(getElementTypeOrSelf(operand.getType()));
}

LogicalResult ShapeInference::fail(const Twine &message) { return emitOptionalError(loc, message); }

FailureOr<DimExpr> ShapeInference::same(DimExpr lhs, DimExpr rhs, const Twine &what, bool maybeOne) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  if (dimRanges.provesEqual(lhs, rhs))
    return lhs.asConstant() ? lhs : rhs;
  if (auto difference = (lhs - rhs).asConstant(); difference && *difference != 0)
    return fail(what + ": " + lhs.str() + " and " + rhs.str());
  if (assumed)
    assumed(lhs, rhs, maybeOne);
  return lhs.asConstant() ? lhs : rhs;
}

FailureOr<DimExpr> ShapeInference::broadcast(DimExpr lhs, DimExpr rhs) {
  if (lhs.isConstant(1))
    return rhs;
  if (rhs.isConstant(1))
    return lhs;
  // An unknown dim may be 1, so only a constant other than 1 decides.
  if (!lhs || !rhs)
    return lhs && lhs.asConstant() ? lhs : rhs && rhs.asConstant() ? rhs : DimExpr();
  return same(lhs, rhs, "dims do not broadcast", /*maybeOne=*/true);
}

FailureOr<Dims> ShapeInference::broadcast(ArrayRef<DimExpr> lhs, ArrayRef<DimExpr> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  Dims result(lhs);
  for (size_t i = 0, offset = lhs.size() - rhs.size(); i < rhs.size(); ++i) {
    FailureOr<DimExpr> dim = broadcast(lhs[offset + i], rhs[i]);
    if (failed(dim))
      return failure();
    result[offset + i] = *dim;
  }
  return result;
}

static std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

LogicalResult ShapeInference::sameElementType(size_t lhs, size_t rhs) {
  if (elementType(lhs) == elementType(rhs))
    return success();
  return fail("element types differ: " + text(elementType(lhs)) + " and " + text(elementType(rhs)));
}

void ShapeInference::result(Type elementType, Dims dims, std::optional<Dims> contents) {
  resultElements.push_back(elementType);
  resultShapes.push_back({std::move(dims), std::move(contents)});
}

void ShapeInference::appendTypes(SmallVectorImpl<Type> &types) const {
  for (auto [element, shape] : llvm::zip_equal(resultElements, resultShapes))
    types.push_back(RankedTensorType::get(staticSizes(shape.dims), element));
}

bool areCompatibleTypes(TypeRange lhs, TypeRange rhs) {
  return llvm::all_of_zip(lhs, rhs, [](Type a, Type b) {
    auto x = dyn_cast<ShapedType>(a), y = dyn_cast<ShapedType>(b);
    return x && y && x.getElementType() == y.getElementType() && succeeded(verifyCompatibleShape(x, y));
  }) && lhs.size() == rhs.size();
}

LogicalResult inferUnary(ShapeInference &shapes) {
  shapes.result(shapes.elementType(0), Dims(shapes.dims(0)));
  return success();
}

LogicalResult inferPredicate(ShapeInference &shapes) {
  shapes.result(IntegerType::get(shapes.context(), 1), Dims(shapes.dims(0)));
  return success();
}

LogicalResult inferBroadcast(ShapeInference &shapes) {
  if (failed(shapes.sameElementType(0, 1)))
    return failure();
  FailureOr<Dims> dims = shapes.broadcast(shapes.dims(0), shapes.dims(1));
  if (failed(dims))
    return failure();
  shapes.result(shapes.elementType(0), *dims);
  return success();
}

LogicalResult inferCompare(ShapeInference &shapes) {
  if (failed(shapes.sameElementType(0, 1)))
    return failure();
  FailureOr<Dims> dims = shapes.broadcast(shapes.dims(0), shapes.dims(1));
  if (failed(dims))
    return failure();
  shapes.result(IntegerType::get(shapes.context(), 1), *dims);
  return success();
}

LogicalResult inferPow(ShapeInference &shapes) {
  FailureOr<Dims> dims = shapes.broadcast(shapes.dims(0), shapes.dims(1));
  if (failed(dims))
    return failure();
  shapes.result(shapes.elementType(0), *dims);
  return success();
}

LogicalResult inferWhere(ShapeInference &shapes) {
  if (failed(shapes.sameElementType(1, 2)))
    return failure();
  FailureOr<Dims> dims = shapes.broadcast(shapes.dims(1), shapes.dims(2));
  if (succeeded(dims))
    dims = shapes.broadcast(*dims, shapes.dims(0));
  if (failed(dims))
    return failure();
  shapes.result(shapes.elementType(1), *dims);
  return success();
}

static LogicalResult checkAxis(ShapeInference &shapes, int64_t axis) {
  if (axis >= 0 && axis < shapes.rank(0))
    return success();
  return shapes.fail("axis " + Twine(axis) + " of a tensor of rank " + Twine(shapes.rank(0)));
}

LogicalResult inferAlongAxis(ShapeInference &shapes, int64_t axis) {
  if (failed(checkAxis(shapes, axis)))
    return failure();
  for (size_t i = 1; i < shapes.size(); ++i) {
    FailureOr<Dims> dims = shapes.broadcast(shapes.dims(0), shapes.dims(i));
    if (failed(dims))
      return failure();
    if (static_cast<int64_t>(dims->size()) != shapes.rank(0))
      return shapes.fail("operand " + Twine(i) + " has rank " + Twine(shapes.rank(i)) + ", more than the input's " +
                         Twine(shapes.rank(0)));
  }
  return inferUnary(shapes);
}

LogicalResult inferReduce(ShapeInference &shapes, ArrayRef<int64_t> axes, bool keepdims) {
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (failed(checkAxis(shapes, axis)))
      return failure();
    if (i && axes[i - 1] >= axis)
      return shapes.fail("axes are not ascending");
  }
  Dims dims;
  for (auto [i, dim] : llvm::enumerate(shapes.dims(0))) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      dims.push_back(dim);
    else if (keepdims)
      dims.push_back(shapes.constant(1));
  }
  shapes.result(shapes.elementType(0), dims);
  return success();
}

LogicalResult inferArg(ShapeInference &shapes, int64_t axis, bool keepdims) {
  if (failed(checkAxis(shapes, axis)))
    return failure();
  Dims dims(shapes.dims(0));
  if (keepdims)
    dims[axis] = shapes.constant(1);
  else
    dims.erase(dims.begin() + axis);
  shapes.result(IntegerType::get(shapes.context(), 64), dims);
  return success();
}

} // namespace llmc::graph
