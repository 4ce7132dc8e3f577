// Rules of the ops that hold a graph together, in the order of StructureOps.td.
#include "dialects/Graph/Graph.h"

using namespace mlir;

namespace llmc::graph {

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getValue().getType());
  return success();
}

LogicalResult ConstantOp::inferDims(ShapeInference &shapes) {
  Dims dims;
  for (int64_t size : getType().getShape())
    dims.push_back(shapes.constant(size));
  std::optional<Dims> contents;
  if (getType().getNumElements() <= maxContents && getType().getElementType().isInteger())
    if (std::optional<ConstantView> view = ConstantView::of(getValue()))
      contents = llvm::map_to_vector<4>(view->integers(), [&](int64_t value) { return shapes.constant(value); });
  shapes.result(getType().getElementType(), dims, contents);
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

// size of a number -> constant
OpFoldResult SizeOp::fold(FoldAdaptor) {
  if (auto value = DimExpr(getExpr()).asConstant())
    return IntegerAttr::get(IndexType::get(getContext()), *value);
  return {};
}

LogicalResult ReadNumbersOp::verify() {
  auto type = cast<RankedTensorType>(getX().getType());
  if (!type.hasStaticShape() || type.getNumElements() != static_cast<int64_t>(getSymbols().size()))
    return emitOpError() << "gives " << getSymbols().size() << " symbols to the elements of " << type;
  return success();
}

LogicalResult ReadNumbersOp::inferDims(ShapeInference &shapes) {
  Dims contents = llvm::map_to_vector<4>(getSymbols().getAsValueRange<StringAttr>(), [&](StringRef name) {
    return DimExpr::symbol(shapes.context(), name);
  });
  shapes.result(shapes.elementType(0), Dims(shapes.dims(0)), contents);
  return success();
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "calls @" << getCallee() << ", which is not a function";
  size_t tensors = llvm::count_if(callee.getArgumentTypes(), [](Type type) { return isa<TensorType>(type); });
  if (tensors != getInputs().size() || callee.getNumArguments() - tensors != getSizes().size())
    return emitOpError() << "gives " << getInputs().size() << " tensors and " << getSizes().size() << " sizes to @"
                         << getCallee() << ", which takes " << tensors << " and " << callee.getNumArguments() - tensors;
  if (callee.getNumResults() != getNumResults() || getDims().size() != getNumResults())
    return emitOpError() << "has " << getNumResults() << " results and the dims of " << getDims().size() << ", @" << getCallee()
                         << " gives " << callee.getNumResults();
  return success();
}

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/StructureOps.cpp.inc"

void llmc::graph::GraphDialect::registerStructureOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/StructureOps.cpp.inc"
      >();
}
