// The reductions; their rules are shared ones (ShapeInference.cpp).
#include "dialects/Graph/Graph.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/Graph/ReductionOps.cpp.inc"

void llmc::graph::GraphDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/ReductionOps.cpp.inc"
      >();
}
