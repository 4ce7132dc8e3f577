// Buffers: sizes and roots.
#include "dialects/Plan/Plan.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/Plan/BufferOps.cpp.inc"

namespace llmc::plan {

void PlanDialect::registerBufferOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/BufferOps.cpp.inc"
      >();
}

graph::DimExpr byteSize(Type element, ArrayAttr dims) {
  return graph::productOf(dims.getContext(), graph::dimsOf(dims)) * graph::elementBytes(element);
}

Value rootOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewOp>())
    buffer = view.getParent();
  return buffer;
}

bool isWritable(Value buffer) { return !isa<InputOp, ConstantOp>(rootOf(buffer).getDefiningOp()); }

Type ConstantOp::getElement() { return getValue().getElementType(); }

ArrayAttr ConstantOp::getDims() {
  ArrayRef<int64_t> shape = getValue().getShapedType().getShape();
  return graph::dimsAttr(
      getContext(), llvm::map_to_vector(shape, [&](int64_t size) { return graph::DimExpr::constant(getContext(), size); }));
}

} // namespace llmc::plan
