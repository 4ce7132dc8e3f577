// Shape rules of the matrix products, in the order of ContractionOps.td.
#include "dialects/Graph/Graph.h"

using namespace mlir;

namespace llmc::graph {

LogicalResult MatMulOp::inferShape(Adaptor, ShapeInference &shapes) {
  Dims lhs(shapes.dims(0)), rhs(shapes.dims(1));
  if (lhs.empty() || rhs.empty())
    return shapes.fail("multiplies a scalar: ranks are " + Twine(lhs.size()) + " and " + Twine(rhs.size()));
  if (failed(shapes.sameElementType(0, 1)))
    return failure();
  bool isRow = lhs.size() == 1, isColumn = rhs.size() == 1;
  if (isRow)
    lhs.insert(lhs.begin(), shapes.constant(1));
  if (isColumn)
    rhs.push_back(shapes.constant(1));
  if (failed(shapes.same(lhs.back(), rhs[rhs.size() - 2], "columns of lhs and rows of rhs differ")))
    return failure();
  FailureOr<Dims> dims = shapes.broadcast(ArrayRef(lhs).drop_back(2), ArrayRef(rhs).drop_back(2));
  if (failed(dims))
    return failure();
  if (!isRow)
    dims->push_back(lhs[lhs.size() - 2]);
  if (!isColumn)
    dims->push_back(rhs.back());
  shapes.result(shapes.elementType(0), *dims);
  return success();
}

LogicalResult DetOp::inferShape(Adaptor, ShapeInference &shapes) {
  ArrayRef<DimExpr> x = shapes.dims(0);
  if (x.size() < 2)
    return shapes.fail("a tensor of rank " + Twine(x.size()) + " has no matrices");
  FailureOr<DimExpr> size = shapes.same(x[x.size() - 2], x.back(), "a matrix is not square");
  if (failed(size))
    return failure();
  shapes.result(shapes.elementType(0), Dims(x.drop_back(2)));
  shapes.result(Float64Type::get(shapes.context()), Dims(x));
  return success();
}

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/ContractionOps.cpp.inc"

void llmc::graph::GraphDialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/ContractionOps.cpp.inc"
      >();
}
