// Shape rules of the norms that have one of their own.
#include "dialects/Graph/Graph.h"

using namespace mlir;

namespace llmc::graph {

LogicalResult BatchNormOp::inferShape(Adaptor, ShapeInference &shapes) {
  if (shapes.rank(0) < 2)
    return shapes.fail("expects an input of rank 2 or more, got " + Twine(shapes.rank(0)));
  for (size_t i = 1; i < shapes.size(); ++i) {
    if (shapes.rank(i) != 1)
      return shapes.fail("operand " + Twine(i) + " must be of rank 1, got " + Twine(shapes.rank(i)));
    if (failed(shapes.same(shapes.dims(0)[1], shapes.dims(i)[0], "channels and the size of operand " + Twine(i) + " differ")))
      return failure();
  }
  return inferUnary(shapes);
}

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/NormalizationOps.cpp.inc"

void llmc::graph::GraphDialect::registerNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/NormalizationOps.cpp.inc"
      >();
}
