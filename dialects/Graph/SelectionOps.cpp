// Rules of the ops whose results have sizes that depend on data, in the order of SelectionOps.td: bounds.
#include "dialects/Graph/Graph.h"

using namespace mlir;

namespace llmc::graph {

static void countResult(ShapeInference &shapes) {
  shapes.result(IntegerType::get(shapes.context(), 64), {shapes.constant(1)});
}

static void indicesResult(ShapeInference &shapes, DimExpr size) {
  shapes.result(IntegerType::get(shapes.context(), 64), {shapes.simplify(size)});
}

LogicalResult PrefixOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Dims dims = dimsOf(adaptor.getDims());
  DimExpr all = productOf(shapes.context(), shapes.dims(0)), part = productOf(shapes.context(), dims);
  if (auto missing = (all - part).asConstant(); missing && *missing < 0)
    return shapes.fail("takes " + part.str() + " of " + all.str() + " elements");
  shapes.result(shapes.elementType(0), dims);
  return success();
}

LogicalResult NonZeroOp::inferShape(Adaptor, ShapeInference &shapes) {
  indicesResult(shapes, productOf(shapes.context(), shapes.dims(0)) * shapes.rank(0));
  countResult(shapes);
  return success();
}

LogicalResult UniqueOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  std::optional<int64_t> axis = adaptor.getAxis();
  if (axis && (*axis < 0 || *axis >= shapes.rank(0)))
    return shapes.fail("axis " + Twine(*axis) + " of a tensor of rank " + Twine(shapes.rank(0)));
  DimExpr size = axis ? shapes.dims(0)[*axis] : productOf(shapes.context(), shapes.dims(0));
  for (int i = 0; i < 3; ++i)
    indicesResult(shapes, size);
  countResult(shapes);
  return success();
}

LogicalResult NonMaxSuppressionOp::inferShape(Adaptor, ShapeInference &shapes) {
  if (shapes.rank(0) != 3 || shapes.rank(1) != 3)
    return shapes.fail("expects boxes [batch, boxes, 4] and scores [batch, classes, boxes], got ranks " + Twine(shapes.rank(0)) +
                       " and " + Twine(shapes.rank(1)));
  FailureOr<DimExpr> batch = shapes.same(shapes.dims(0)[0], shapes.dims(1)[0], "batches of boxes and scores differ");
  FailureOr<DimExpr> boxes = shapes.same(shapes.dims(0)[1], shapes.dims(1)[2], "numbers of boxes and scores differ");
  if (failed(batch) || failed(boxes) || failed(shapes.same(shapes.dims(0)[2], shapes.constant(4), "a box has four numbers")))
    return failure();
  DimExpr each = *boxes;
  if (const auto &limit = shapes.contents(2); limit && limit->size() == 1 && limit->front())
    each = each.min(limit->front().max(shapes.constant(0)));
  indicesResult(shapes, *batch * shapes.dims(1)[1] * each * 3);
  indicesResult(shapes, *boxes);
  countResult(shapes);
  return success();
}

LogicalResult RangeOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (failed(shapes.sameElementType(0, 1)) || failed(shapes.sameElementType(0, 2)))
    return failure();
  shapes.result(shapes.elementType(0), {DimExpr(adaptor.getSize())});
  return success();
}

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/SelectionOps.cpp.inc"

void llmc::graph::GraphDialect::registerSelectionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/SelectionOps.cpp.inc"
      >();
}
