// Shape rules of the ops that pick, place or order elements, in the order of IndexingOps.td.
#include "dialects/Graph/Graph.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace llmc::graph {

/// As kernels/reference/Scatter.cpp numbers it; -1 for an unknown name.
static int64_t packedReduction(StringRef name) {
  return llvm::StringSwitch<int64_t>(name).Case("none", 0).Case("add", 1).Case("mul", 2).Case("max", 3).Case("min", 4).Default(-1);
}

static LogicalResult checkAxis(ShapeInference &shapes, int64_t axis) {
  if (axis >= 0 && axis < shapes.rank(0))
    return success();
  return shapes.fail("axis " + Twine(axis) + " of a tensor of rank " + Twine(shapes.rank(0)));
}

LogicalResult GatherElementsOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (failed(checkAxis(shapes, adaptor.getAxis())))
    return failure();
  if (shapes.rank(0) != shapes.rank(1))
    return shapes.fail("indices of rank " + Twine(shapes.rank(1)) + " for a tensor of rank " + Twine(shapes.rank(0)));
  shapes.result(shapes.elementType(0), Dims(shapes.dims(1)));
  return success();
}

/// Elements of the index tuples in the last dim of operand 1.
static FailureOr<int64_t> tupleSize(ShapeInference &shapes, int64_t most) {
  if (shapes.rank(1) == 0)
    return shapes.fail("indices of rank 0");
  DimExpr last = shapes.dims(1).back();
  std::optional<int64_t> size = last ? last.asConstant() : std::nullopt;
  if (!size)
    return shapes.fail("index tuples of a length that is not known at compile time are not supported");
  if (*size > most)
    return shapes.fail("index tuples of " + Twine(*size) + " elements for " + Twine(most) + " dims");
  return *size;
}

LogicalResult GatherNDOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t batch = adaptor.getBatchDims();
  if (batch < 0 || batch >= std::min(shapes.rank(0), shapes.rank(1)))
    return shapes.fail("batch_dims " + Twine(batch) + " for tensors of rank " + Twine(shapes.rank(0)) + " and " + Twine(shapes.rank(1)));
  FailureOr<int64_t> size = tupleSize(shapes, shapes.rank(0) - batch);
  if (failed(size))
    return failure();
  Dims dims(shapes.dims(1).drop_back());
  for (int64_t d = 0; d < batch; ++d) {
    FailureOr<DimExpr> common = shapes.same(shapes.dims(0)[d], shapes.dims(1)[d], "batch dims differ");
    if (failed(common))
      return failure();
    dims[d] = *common;
  }
  dims.append(shapes.dims(0).begin() + batch + *size, shapes.dims(0).end());
  shapes.result(shapes.elementType(0), dims);
  return success();
}

LogicalResult ReverseSequenceOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t batch = adaptor.getBatchAxis(), time = adaptor.getTimeAxis();
  if (failed(checkAxis(shapes, batch)) || failed(checkAxis(shapes, time)))
    return failure();
  if (batch == time)
    return shapes.fail("axis " + Twine(time) + " is both that of the batch and that of time");
  if (shapes.rank(1) != 1)
    return shapes.fail("lengths has rank " + Twine(shapes.rank(1)) + ", expected 1");
  if (failed(shapes.same(shapes.dims(1)[0], shapes.dims(0)[batch], "numbers of lengths and sequences differ")))
    return failure();
  return inferUnary(shapes);
}

static LogicalResult checkScatter(ShapeInference &shapes, StringRef reduction) {
  if (packedReduction(reduction) < 0)
    return shapes.fail("unknown reduction '" + reduction + "'");
  return shapes.sameElementType(0, 2);
}

LogicalResult ScatterElementsOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (failed(checkScatter(shapes, adaptor.getReduction())) || failed(checkAxis(shapes, adaptor.getAxis())))
    return failure();
  if (shapes.rank(0) != shapes.rank(1) || shapes.rank(1) != shapes.rank(2))
    return shapes.fail("x, indices and updates have ranks " + Twine(shapes.rank(0)) + ", " + Twine(shapes.rank(1)) + " and " +
                       Twine(shapes.rank(2)));
  for (auto [index, update] : llvm::zip_equal(shapes.dims(1), shapes.dims(2)))
    if (failed(shapes.same(index, update, "dims of indices and updates differ")))
      return failure();
  shapes.result(shapes.elementType(0), Dims(shapes.dims(0)));
  return success();
}

LogicalResult ScatterNDOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (failed(checkScatter(shapes, adaptor.getReduction())))
    return failure();
  FailureOr<int64_t> size = tupleSize(shapes, shapes.rank(0));
  if (failed(size))
    return failure();
  Dims expected(shapes.dims(1).drop_back());
  expected.append(shapes.dims(0).begin() + *size, shapes.dims(0).end());
  if (static_cast<int64_t>(expected.size()) != shapes.rank(2))
    return shapes.fail("updates have rank " + Twine(shapes.rank(2)) + ", expected " + Twine(expected.size()));
  for (auto [dim, update] : llvm::zip_equal(expected, shapes.dims(2)))
    if (failed(shapes.same(dim, update, "dims of updates do not fit")))
      return failure();
  shapes.result(shapes.elementType(0), Dims(shapes.dims(0)));
  return success();
}

LogicalResult TriluOp::inferShape(Adaptor, ShapeInference &shapes) {
  return shapes.rank(0) >= 2 ? inferUnary(shapes) : shapes.fail("a tensor of rank " + Twine(shapes.rank(0)) + " has no matrices");
}

LogicalResult CumSumOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  return succeeded(checkAxis(shapes, adaptor.getAxis())) ? inferUnary(shapes) : failure();
}

LogicalResult CumProdOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  return succeeded(checkAxis(shapes, adaptor.getAxis())) ? inferUnary(shapes) : failure();
}

LogicalResult TopKOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (failed(checkAxis(shapes, adaptor.getAxis())))
    return failure();
  Dims dims(shapes.dims(0));
  DimExpr k(adaptor.getK()), size = dims[adaptor.getAxis()];
  std::optional<int64_t> count = k.asConstant(), most = size ? size.asConstant() : std::nullopt;
  if (count && (*count < 0 || (most && *count > *most)))
    return shapes.fail("the first " + Twine(*count) + " of " + (most ? Twine(*most) : Twine("some")) + " elements");
  dims[adaptor.getAxis()] = k;
  shapes.result(shapes.elementType(0), dims);
  shapes.result(IntegerType::get(shapes.context(), 64), dims);
  return success();
}

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/IndexingOps.cpp.inc"

void llmc::graph::GraphDialect::registerIndexingOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/IndexingOps.cpp.inc"
      >();
}
