// Where control goes, and whether blocks give what their op says, in the order of ControlOps.td.
#include "dialects/Graph/Graph.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/Graph/ControlOps.cpp.inc"

namespace llmc::graph {

void GraphDialect::registerControlOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/ControlOps.cpp.inc"
      >();
}

SmallVector<StringRef> definedSymbols(Operation *op) {
  ArrayAttr names;
  if (auto read = dyn_cast<ReadNumbersOp>(op))
    names = read.getSymbols();
  else if (auto branch = dyn_cast<IfOp>(op))
    names = branch.getSymbols();
  else if (auto loop = dyn_cast<LoopOp>(op))
    names = loop.getResultSymbols();
  return names ? llvm::to_vector(names.getAsValueRange<StringAttr>()) : SmallVector<StringRef>();
}

static LogicalResult verifyDims(Operation *op, TypeRange types, ArrayAttr dims, StringRef what) {
  if (dims.size() != types.size())
    return op->emitOpError() << "has the dims of " << dims.size() << " " << what << ", expects " << types.size();
  for (auto [type, list] : llvm::zip_equal(types, dims)) {
    auto exprs = dyn_cast<ArrayAttr>(list);
    bool fits = exprs && static_cast<int64_t>(exprs.size()) == cast<RankedTensorType>(type).getRank() &&
                llvm::all_of(exprs, [](Attribute expr) { return isa<ExprAttr>(expr); });
    if (!fits)
      return op->emitOpError() << "has dims " << list << " for " << type;
  }
  return success();
}

static LogicalResult verifySizes(YieldOp yield, ArrayAttr symbols) {
  if (yield.getSizes().size() != symbols.size())
    return yield.emitOpError() << "gives " << yield.getSizes().size() << " sizes for " << symbols.size() << " symbols";
  return success();
}

LogicalResult IfOp::verifyRegions() {
  if (failed(verifyDims(*this, getResultTypes(), getDims(), "results")))
    return failure();
  for (Region *region : getRegions()) {
    auto yield = dyn_cast<YieldOp>(region->front().getTerminator());
    if (!yield)
      return emitOpError() << "has a block that does not end in a yield";
    if (failed(verifySizes(yield, getSymbols())))
      return failure();
  }
  return success();
}

void IfOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  if (!point.isParent())
    return regions.push_back(RegionSuccessor(getOperation(), getResults()));
  regions.push_back(RegionSuccessor(&getThenBlock()));
  regions.push_back(RegionSuccessor(&getElseBlock()));
}

bool IfOp::areTypesCompatible(Type lhs, Type rhs) { return areCompatibleTypes(lhs, rhs); }

LogicalResult LoopOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError() << "has a block that does not end in a yield";
  if (yield.getValues().size() != getNumResults() || getInits().size() > getNumResults())
    return emitOpError() << "carries " << getInits().size() << " values, yields " << yield.getValues().size() << " and has "
                         << getNumResults() << " results";
  if (getConditional() && (getInits().empty() || !getElementTypeOrSelf(getInits()[0]).isInteger(1)))
    return emitOpError() << "is conditional, but the first value that it carries is no i1";
  if (getStart().size() != getSymbols().size() || getResultSymbols().size() != getSymbols().size())
    return emitOpError() << "has " << getSymbols().size() << " symbols, " << getStart().size() << " first values and "
                         << getResultSymbols().size() << " symbols for the results";
  for (auto [value, result] : llvm::zip(yield.getValues().drop_front(getInits().size()), getCollected())) {
    auto part = cast<RankedTensorType>(value.getType()), whole = cast<RankedTensorType>(result.getType());
    if (part.getElementType() != whole.getElementType() || whole.getRank() != part.getRank() + 1)
      return emitOpError() << "collects " << part << " in " << whole;
  }
  if (failed(verifySizes(yield, getSymbols())) ||
      failed(verifyDims(*this, getBody().getArgumentTypes(), getArgumentDims(), "arguments")))
    return failure();
  return verifyDims(*this, getResultTypes(), getDims(), "results");
}

void LoopOp::getSuccessorRegions(RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &regions) {
  regions.push_back(RegionSuccessor(&getBody(), getBody().getArguments()));
  regions.push_back(RegionSuccessor(getOperation(), getResults().take_front(getInits().size())));
}

OperandRange LoopOp::getEntrySuccessorOperands(RegionSuccessor) { return getInits(); }

bool LoopOp::areTypesCompatible(Type lhs, Type rhs) { return areCompatibleTypes(lhs, rhs); }

MutableOperandRange YieldOp::getMutableSuccessorOperands(RegionSuccessor) {
  auto loop = dyn_cast<LoopOp>((*this)->getParentOp());
  return loop ? getValuesMutable().slice(0, loop.getInits().size()) : getValuesMutable();
}

} // namespace llmc::graph
