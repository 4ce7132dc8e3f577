// Forward propagation of symbolic shapes.
#include "passes/Graph/ShapeAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace llmc {

using graph::DimExpr;
using graph::Dims;
using graph::TensorShape;

graph::DimRanges symbolRanges(func::FuncOp function) {
  graph::DimRanges ranges;
  if (auto symbols = function->getAttrOfType<DictionaryAttr>(symbolsAttrName))
    for (NamedAttribute symbol : symbols)
      if (auto bounds = dyn_cast<DenseI64ArrayAttr>(symbol.getValue()); bounds && bounds.size() == 2)
        ranges.set(symbol.getName(), {bounds[0], bounds[1]});
  return ranges;
}

ShapeAnalysis::ShapeAnalysis(func::FuncOp function) : function(function), dimRanges(symbolRanges(function)) {
  if (function.isDeclaration())
    return;
  for (BlockArgument argument : function.getArguments()) {
    setFromType(argument);
    auto dims = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), dimsAttrName);
    if (dims && dims.size() == shapes[argument].dims.size())
      shapes[argument].dims = graph::dimsOf(dims);
  }
  visitBlock(function.getBody().front());
}

void ShapeAnalysis::visitBlock(Block &block) {
  for (Operation &op : block)
    visit(op);
}

void ShapeAnalysis::setDims(ValueRange values, ArrayAttr dims) {
  for (auto [value, list] : llvm::zip_equal(values, dims)) {
    setFromType(value);
    shapes[value].dims = graph::dimsOf(cast<ArrayAttr>(list));
  }
}

/// Branches and loops say themselves what dims they have.
bool ShapeAnalysis::visitControl(Operation &op) {
  auto loop = dyn_cast<graph::LoopOp>(op);
  if (loop)
    setDims(loop.getBody().getArguments(), loop.getArgumentDims());
  else if (!isa<graph::IfOp>(op))
    return false;
  for (Region &region : op.getRegions())
    visitBlock(region.front());
  setDims(op.getResults(), loop ? loop.getDims() : cast<graph::IfOp>(op).getDims());
  return true;
}

void ShapeAnalysis::setFromType(Value value) {
  TensorShape shape;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t size : type.getShape())
      shape.dims.push_back(ShapedType::isDynamic(size) ? DimExpr() : DimExpr::constant(value.getContext(), size));
  shapes[value] = std::move(shape);
}

static std::string nameOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return fused.getLocations().empty() ? "" : nameOf(fused.getLocations().front());
  return "";
}

static Dims dimsOf(ArrayRef<OpFoldResult> sizes, MLIRContext *context) {
  return llvm::map_to_vector<4>(sizes, [&](OpFoldResult size) {
    if (std::optional<int64_t> value = getConstantIntValue(size))
      return DimExpr::constant(context, *value);
    auto op = cast<Value>(size).getDefiningOp<graph::SizeOp>();
    return op ? DimExpr(op.getExpr()) : DimExpr();
  });
}

/// Ops of other dialects, as graph-to-linalg writes them.
void ShapeAnalysis::visitLowered(Operation &op) {
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    shapes[empty].dims = dimsOf(empty.getMixedSizes(), op.getContext());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    shapes[slice].dims = dimsOf(slice.getMixedSizes(), op.getContext());
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    for (auto [result, init] : llvm::zip_equal(op.getResults(), destination.getDpsInits()))
      shapes[result].dims = Dims(dims(init));
  if (auto dispatch = dyn_cast<graph::DispatchOp>(op))
    for (auto [result, resultDims] : llvm::zip_equal(op.getResults(), dispatch.getDims()))
      shapes[result].dims = graph::dimsOf(cast<ArrayAttr>(resultDims));
}

void ShapeAnalysis::visit(Operation &op) {
  if (visitControl(op))
    return;
  for (Value result : op.getResults())
    setFromType(result);
  visitLowered(op);
  auto shaped = dyn_cast<graph::ShapeInferenceOpInterface>(op);
  if (!shaped)
    return;
  SmallVector<TensorShape> operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return of(operand); });
  auto text = [](DimExpr expr) { // conditions on numbers that the run reads grow long and say little
    std::string result = expr.str();
    return result.size() <= 60 ? result : "a size that the run computes";
  };
  auto assume = [&](DimExpr lhs, DimExpr rhs, bool maybeOne) {
    std::string message = nameOf(op.getLoc()) + " (" + op.getName().stripDialect().str() + ") needs " + text(lhs) + " = " + text(rhs);
    if (maybeOne)
      message += "; stretching a dim that only the run shows to be 1 is not supported";
    assumed[op.getBlock()].push_back(ArrayAttr::get(op.getContext(), {lhs.attribute(), rhs.attribute(), StringAttr::get(op.getContext(), message)}));
  };
  graph::ShapeInference inference(op.getContext(), op.getLoc(), op.getOperands(), operands, dimRanges, assume);
  if (mlir::failed(shaped.inferDims(inference))) {
    hasFailed = true;
    return;
  }
  for (auto [result, inferred] : llvm::zip_equal(op.getResults(), inference.results())) {
    TensorShape &shape = shapes[result];
    if (shape.dims.size() != inferred.dims.size())
      continue;
    for (auto [dim, other] : llvm::zip_equal(shape.dims, inferred.dims))
      if (other)
        dim = inference.simplify(other);
    shape.contents = inferred.contents;
  }
}

graph::ShapeInference ShapeAnalysis::inferenceFor(Operation *op) const {
  SmallVector<TensorShape> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return of(operand); });
  return graph::ShapeInference(op->getContext(), op->getLoc(), op->getOperands(), operands, dimRanges, [](DimExpr, DimExpr, bool) {});
}

Operation *holderOfChecks(Block &block) {
  return isa<func::FuncOp>(block.getParentOp()) ? block.getParentOp() : block.getTerminator();
}

void ShapeAnalysis::recordChecks() {
  auto equality = [](Attribute check) { return std::pair(cast<ArrayAttr>(check)[0], cast<ArrayAttr>(check)[1]); };
  for (auto &[block, found] : assumed) {
    SmallVector<Attribute> checks;
    auto addOnce = [&](Attribute check) {
      if (llvm::none_of(checks, [&](Attribute other) { return equality(other) == equality(check); }))
        checks.push_back(check);
    };
    Operation *holder = holderOfChecks(*block);
    if (auto existing = holder->getAttrOfType<ArrayAttr>(checksAttrName))
      llvm::for_each(existing, addOnce);
    llvm::for_each(found, addOnce);
    holder->setAttr(checksAttrName, ArrayAttr::get(function.getContext(), checks));
  }
}

bool allKnown(ArrayRef<graph::DimExpr> dims) {
  return llvm::all_of(dims, [](graph::DimExpr dim) { return static_cast<bool>(dim); });
}

} // namespace llmc
