// Steps: what they may write, and what blocks they enter.
#include "dialects/Plan/Plan.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/Plan/StepOps.cpp.inc"

namespace llmc::plan {

void PlanDialect::registerStepOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/StepOps.cpp.inc"
      >();
}

SmallVector<std::pair<StringRef, graph::DimExpr>> frameArguments(DictionaryAttr frame) {
  return llvm::map_to_vector(
      frame, [](NamedAttribute entry) { return std::pair(entry.getName().getValue(), graph::DimExpr(entry.getValue())); });
}

static LogicalResult verifyWritable(Operation *op, Value buffer) {
  if (isWritable(buffer))
    return success();
  Operation *root = rootOf(buffer).getDefiningOp();
  return (op->emitOpError() << "writes what is read only").attachNote(root->getLoc()) << "the bytes of this " << root->getName();
}

static LogicalResult verifyCondition(Operation *op, Value condition) {
  Type element = condition.getDefiningOp<BufferOpInterface>().getElement();
  return element.isInteger(1) ? success() : op->emitOpError() << "has a condition of type " << element << ", expects i1";
}

static LogicalResult verifyFrame(Operation *op, DictionaryAttr frame) {
  for (NamedAttribute argument : frame)
    if (!isa<graph::ExprAttr>(argument.getValue()))
      return op->emitOpError() << "hands over " << argument.getValue() << " as " << argument.getName() << ", expects #graph.expr";
  return success();
}

LogicalResult DispatchOp::verify() {
  int64_t buffers = getBuffers().size();
  if (getWritten() < 0 || static_cast<int64_t>(getWritten()) > buffers)
    return emitOpError() << "writes " << getWritten() << " of " << buffers << " buffers";
  for (Value buffer : outputs())
    if (failed(verifyWritable(*this, buffer)))
      return failure();
  return success();
}

bool DispatchOp::isInPlace() {
  auto roots = llvm::map_range(inputs(), rootOf);
  return llvm::any_of(outputs(), [&](Value output) { return llvm::is_contained(roots, rootOf(output)); });
}

LogicalResult CopyOp::verify() { return verifyWritable(*this, getTarget()); }

LogicalResult FillOp::verify() {
  if (!llvm::is_contained({1, 2, 4, 8}, static_cast<int64_t>(getBytes())))
    return emitOpError() << "repeats " << getBytes() << " bytes, expects 1, 2, 4 or 8";
  return verifyWritable(*this, getTarget());
}

LogicalResult IfOp::verify() {
  if (failed(verifyFrame(*this, getFrame())))
    return failure();
  return verifyCondition(*this, getCondition());
}

LogicalResult LoopOp::verify() {
  if (failed(verifyFrame(*this, getFrame())) || (getCondition() && failed(verifyCondition(*this, getCondition()))))
    return failure();
  if (getInits().size() != getCarried().size())
    return emitOpError() << "has " << getInits().size() << " inits for " << getCarried().size() << " carried buffers";
  llvm::SmallDenseSet<Value> roots;
  for (Value carried : getCarried()) {
    if (failed(verifyWritable(*this, carried)))
      return failure();
    if (!roots.insert(rootOf(carried)).second)
      return emitOpError() << "carries two values in the same bytes";
  }
  return success();
}

LogicalResult LoopOp::verifyRegions() {
  size_t yielded = getBlock().front().getTerminator()->getNumOperands();
  if (yielded != getCarried().size())
    return emitOpError() << "yields " << yielded << " buffers for " << getCarried().size() << " that it carries";
  return success();
}

LogicalResult ReadScalarOp::verify() {
  Type element = getSource().getDefiningOp<BufferOpInterface>().getElement();
  if (!element.isSignlessInteger(32) && !element.isSignlessInteger(64))
    return emitOpError() << "reads a buffer of type " << element << ", expects i32 or i64";
  if (getRange().size() != 2 || getRange()[0] > getRange()[1])
    return emitOpError() << "expects a range [low, high], got [" << getRange() << "]";
  return success();
}

} // namespace llmc::plan
