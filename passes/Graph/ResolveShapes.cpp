// Shape operands -> attributes, known contents -> constants.
#include "passes/Graph/Passes.h"
#include "passes/Graph/ShapeAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_RESOLVESHAPESPASS
#include "passes/Graph/Passes.h.inc"
namespace {

RankedTensorType typeOf(ArrayRef<graph::DimExpr> dims, Type elementType) {
  return RankedTensorType::get(graph::staticSizes(dims), elementType);
}

struct ResolveShapesPass : impl::ResolveShapesPassBase<ResolveShapesPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    ShapeAnalysis analysis(function);
    if (analysis.failed())
      return signalPassFailure();
    analysis.recordChecks();
    resolveBlock(function.getBody().front(), analysis);
    eraseDead(function.getBody().front());
    Operation *terminator = function.getBody().front().getTerminator();
    function.setType(FunctionType::get(&getContext(), function.getArgumentTypes(), terminator->getOperandTypes()));
  }

  static void resolveBlock(Block &block, ShapeAnalysis &analysis) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &region : op.getRegions())
        resolveBlock(region.front(), analysis);
      if (op.getNumResults() != 1 || isa<graph::ConstantOp, graph::FromDimsOp, graph::ReadNumbersOp>(op))
        continue;
      OpBuilder builder(&op);
      Value replacement = resolveContents(op, analysis, builder);
      if (!replacement)
        replacement = resolveMove(op, analysis, builder);
      if (!replacement)
        continue;
      analysis.alias(replacement, op.getResult(0));
      op.getResult(0).replaceAllUsesWith(replacement);
    }
  }

  /// op -> constant or from_dims, if every element of its result is a known expression.
  static Value resolveContents(Operation &op, const ShapeAnalysis &analysis, OpBuilder &builder) {
    const graph::TensorShape &shape = analysis.of(op.getResult(0));
    auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    if (!type || !shape.contents || !allKnown(*shape.contents) || !allKnown(shape.dims) || op.use_empty())
      return {};
    Type index = builder.getI64Type();
    auto flat = RankedTensorType::get({static_cast<int64_t>(shape.contents->size())}, index);
    Value result = builder.createOrFold<graph::FromDimsOp>(op.getLoc(), flat, graph::dimsAttr(op.getContext(), *shape.contents));
    RankedTensorType wanted = typeOf(shape.dims, index);
    if (wanted != flat)
      result = builder.createOrFold<graph::ViewOp>(op.getLoc(), wanted, result, graph::dimsAttr(op.getContext(), shape.dims));
    if (type.getElementType() != index)
      result = graph::CastOp::create(builder, op.getLoc(), typeOf(shape.dims, type.getElementType()), result,
                                     TypeAttr::get(type.getElementType()));
    return result;
  }

  /// reshape, squeeze, unsqueeze, flatten -> view ; expand -> broadcast ; slice -> subview
  static Value resolveMove(Operation &op, const ShapeAnalysis &analysis, OpBuilder &builder) {
    if (!isa<graph::ReshapeOp, graph::SqueezeOp, graph::UnsqueezeOp, graph::FlattenOp, graph::ExpandOp, graph::SliceOp>(op))
      return {};
    ArrayRef<graph::DimExpr> dims = analysis.dims(op.getResult(0));
    if (!allKnown(dims))
      return {};
    RankedTensorType type = typeOf(dims, getElementTypeOrSelf(op.getResult(0)));
    ArrayAttr attr = graph::dimsAttr(op.getContext(), dims);
    if (isa<graph::ExpandOp>(op))
      return graph::BroadcastOp::create(builder, op.getLoc(), type, op.getOperand(0), attr);
    auto slice = dyn_cast<graph::SliceOp>(op);
    if (!slice)
      return graph::ViewOp::create(builder, op.getLoc(), type, op.getOperand(0), attr);
    graph::ShapeInference inference = analysis.inferenceFor(&op);
    FailureOr<std::optional<graph::SliceBounds>> bounds =
        graph::resolveSlice(inference, static_cast<bool>(slice.getAxes()), static_cast<bool>(slice.getSteps()));
    if (failed(bounds) || !*bounds || !allKnown((*bounds)->offsets))
      return {};
    return graph::SubviewOp::create(builder, op.getLoc(), type, slice.getX(), graph::dimsAttr(op.getContext(), (*bounds)->offsets),
                                    attr, builder.getDenseI64ArrayAttr((*bounds)->steps));
  }

  static void eraseDead(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      for (Region &region : op.getRegions())
        eraseDead(region.front());
      if (isOpTriviallyDead(&op))
        op.erase();
    }
  }
};

} // namespace
} // namespace llmc
