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

SmallVector<StringRef> definedSymbols(Operation *op) {
  if (auto read = dyn_cast<ReadScalarOp>(op))
    return {read.getSymbol()};
  ArrayAttr names;
  if (auto branch = dyn_cast<IfOp>(op))
    names = branch.getSymbols();
  else if (auto loop = dyn_cast<LoopOp>(op))
    names = loop.getResultSymbols();
  return names ? llvm::to_vector(names.getAsValueRange<StringAttr>()) : SmallVector<StringRef>();
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

/// Each of `places` can be written, and no two of them share bytes.
static LogicalResult verifyPlaces(Operation *op, ValueRange places) {
  llvm::SmallDenseSet<Value> roots;
  for (Value place : places) {
    if (failed(verifyWritable(op, place)))
      return failure();
    if (!roots.insert(rootOf(place)).second)
      return op->emitOpError() << "carries two values in the same bytes";
  }
  return success();
}

static LogicalResult verifyYield(Operation *op, Region &region, size_t buffers, size_t sizes) {
  auto yield = cast<YieldOp>(region.front().getTerminator());
  if (yield.getValues().size() != buffers)
    return op->emitOpError() << "yields " << yield.getValues().size() << " buffers for " << buffers << " that it carries";
  if (yield.getSizes().size() != sizes)
    return op->emitOpError() << "yields " << yield.getSizes().size() << " sizes for " << sizes << " symbols";
  return success();
}

LogicalResult IfOp::verify() {
  if (failed(verifyFrame(*this, getFrame())) || failed(verifyPlaces(*this, getGiven())))
    return failure();
  return verifyCondition(*this, getCondition());
}

LogicalResult IfOp::verifyRegions() {
  size_t buffers = getGiven().size(), sizes = getSymbols().size();
  if (getElseBlock().empty() && buffers + sizes != 0)
    return emitOpError() << "has no block that gives its results if the condition does not hold";
  for (Region &region : getOperation()->getRegions())
    if (!region.empty() && failed(verifyYield(*this, region, buffers, sizes)))
      return failure();
  return success();
}

LogicalResult LoopOp::verify() {
  if (failed(verifyFrame(*this, getFrame())) || (getCondition() && failed(verifyCondition(*this, getCondition()))))
    return failure();
  if (getInits().size() != getCarried().size())
    return emitOpError() << "has " << getInits().size() << " inits for " << getCarried().size() << " carried buffers";
  if (getStart().size() != getSymbols().size() || getResultSymbols().size() != getSymbols().size())
    return emitOpError() << "has " << getSymbols().size() << " symbols, " << getStart().size() << " first values and "
                         << getResultSymbols().size() << " symbols for the last ones";
  SmallVector<Value> places(getCarried());
  places.append(getCollected().begin(), getCollected().end());
  return verifyPlaces(*this, places);
}

LogicalResult LoopOp::verifyRegions() {
  llvm::SmallDenseSet<int64_t> arguments;
  for (auto argument : getBlock().getOps<ArgumentOp>())
    if (argument.getIndex() >= getCarried().size() || !arguments.insert(argument.getIndex()).second)
      return argument.emitOpError() << "is number " << argument.getIndex() << " of " << getCarried().size() << ", or a second one";
  return verifyYield(*this, getBlock(), getCarried().size() + getCollected().size(), getSymbols().size());
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
