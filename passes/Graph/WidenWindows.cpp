// Convolution and pooling over one spatial dim -> over two, of which the first has size 1.
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/ShapeAnalysis.h"
#include "passes/Rewrite.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_WIDENWINDOWSPASS
#include "passes/Graph/Passes.h.inc"
namespace {

constexpr int64_t newDim = 2; // of [N, C, 1, W]

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value viewOf(Value x, ArrayRef<graph::DimExpr> dims, Location loc, OpBuilder &builder) {
  auto type = RankedTensorType::get(graph::staticSizes(dims), typeOf(x).getElementType());
  return graph::ViewOp::create(builder, loc, type, x, graph::dimsAttr(builder.getContext(), dims));
}

template <typename List, typename Element> auto widened(const List &list, Element added, size_t at) {
  auto result = llvm::to_vector<6>(list);
  result.insert(result.begin() + at, added);
  return result;
}

graph::Dims staticDims(Value value) {
  return llvm::map_to_vector<4>(typeOf(value).getShape(),
                                [&](int64_t size) { return graph::DimExpr::constant(value.getContext(), size); });
}

/// [begin, end] -> [0, begin, 0, end]
SmallVector<int64_t> widenedPads(ArrayRef<int64_t> pads) { return {0, pads[0], 0, pads[1]}; }

graph::Dims widened(ArrayRef<graph::DimExpr> dims, MLIRContext *context) {
  return graph::Dims(widened(dims, graph::DimExpr::constant(context, 1), newDim));
}

/// op(x [N, C, W]) -> view(op(view(x) [N, C, 1, W]))
template <typename Op> void widen(Op op, ShapeAnalysis &analysis) {
  OpBuilder builder(op);
  graph::Dims dims(analysis.dims(op.getY()));
  Value x = viewOf(op.getX(), widened(analysis.dims(op.getX()), op.getContext()), op.getLoc(), builder), weight;
  if constexpr (std::is_same_v<Op, graph::ConvOp>)
    weight = viewOf(op.getWeight(), widened(staticDims(op.getWeight()), op.getContext()), op.getLoc(), builder);
  auto wide = cast<Op>(builder.clone(*op.getOperation()));
  wide.getXMutable().assign(x);
  wide.setStrides(widened(op.getStrides(), int64_t(1), 0));
  wide.setDilations(widened(op.getDilations(), int64_t(1), 0));
  wide.setPads(widenedPads(op.getPads()));
  if constexpr (std::is_same_v<Op, graph::ConvOp>)
    wide.getWeightMutable().assign(weight);
  else
    wide.setKernel(widened(op.getKernel(), int64_t(1), 0));
  wide.getY().setType(typeOf(op.getY()).clone(graph::staticSizes(widened(dims, op.getContext()))));
  Value y = viewOf(wide.getY(), dims, op.getLoc(), builder);
  remark::passed(op.getLoc(), remark::RemarkOpts::name("Widened").category("graph-widen-windows"))
      << remark::metric("channels", typeOf(y).getDimSize(1));
  analysis.alias(y, op.getY());
  op.getY().replaceAllUsesWith(y);
  op.erase();
}

/// Whether the op over two dims has generated code: see graph-channels-last.
bool isLine(Operation *op, const ShapeAnalysis &analysis) {
  if (auto conv = dyn_cast<graph::ConvOp>(op); conv && !typeOf(conv.getWeight()).hasStaticShape())
    return false;
  Value x = op->getOperand(0), y = op->getResult(0);
  return typeOf(x).getRank() == 3 && !typeOf(x).isDynamicDim(1) && !typeOf(y).isDynamicDim(1) && allKnown(analysis.dims(x)) &&
         allKnown(analysis.dims(y));
}

/// The view that drops the new dim of [N, C, 1, W] and makes `value`.
graph::ViewOp narrowed(Value value) {
  auto view = value.getDefiningOp<graph::ViewOp>();
  if (!view || typeOf(view.getX()).getRank() != 4 || typeOf(view.getX()).getDimSize(newDim) != 1 || view.getType().getRank() != 3)
    return {};
  SmallVector<int64_t> sizes(typeOf(view.getX()).getShape());
  sizes.erase(sizes.begin() + newDim);
  return ArrayRef(sizes) == view.getType().getShape() ? view : graph::ViewOp();
}

graph::Dims dimsOfView(graph::ViewOp view) { return graph::dimsOf(view.getDims()); }

/// The operand for an op over [N, C, 1, W]; null if it would have to be computed.
Value widenedOperand(Value operand, PatternRewriter &rewriter) {
  if (graph::ViewOp view = narrowed(operand))
    return view.getX();
  RankedTensorType type = typeOf(operand);
  if (type.getRank() <= 1)
    return operand; // broadcast along W as before
  if (!type.hasStaticShape() || !matchPattern(operand, m_Constant()))
    return {};
  graph::Dims dims = staticDims(operand);
  dims.insert(dims.end() - 1, graph::DimExpr::constant(rewriter.getContext(), 1));
  return viewOf(operand, dims, operand.getLoc(), rewriter);
}

/// op(view(x), ..) -> view(op(x, ..)) for element-wise ops
struct PushThroughElementwise final : RewritePattern {
  explicit PushThroughElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<graph::Elementwise>() || typeOf(op->getResult(0)).getRank() != 3)
      return rewriter.notifyMatchFailure(op, "not element-wise over one spatial dim");
    auto first = llvm::find_if(op->getOperands(), [&](Value operand) {
      return narrowed(operand) && operand.getType() == op->getResult(0).getType();
    });
    if (first == op->operand_end())
      return rewriter.notifyMatchFailure(op, "no operand of these sizes was widened");
    graph::Dims dims = dimsOfView(narrowed(*first));
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(widenedOperand(operand, rewriter));
      if (!operands.back())
        return rewriter.notifyMatchFailure(op, "an operand is no constant and was not widened");
    }
    Operation *wide = rewriter.clone(*op);
    wide->setOperands(operands);
    wide->getResult(0).setType(
        RankedTensorType::get(graph::staticSizes(widened(dims, op->getContext())), typeOf(op->getResult(0)).getElementType()));
    rewriter.replaceOp(op, viewOf(wide->getResult(0), dims, op->getLoc(), rewriter));
    return success();
  }
};

/// subview(view(x)) -> view(subview(x))
struct PushThroughSubview final : OpRewritePattern<graph::SubviewOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(graph::SubviewOp op, PatternRewriter &rewriter) const override {
    graph::ViewOp view = narrowed(op.getX());
    if (!view)
      return rewriter.notifyMatchFailure(op, "not of what was widened");
    MLIRContext *context = op.getContext();
    graph::Dims sizes = graph::dimsOf(op.getSizes()), offsets = graph::dimsOf(op.getOffsets());
    auto wide = cast<graph::SubviewOp>(rewriter.clone(*op.getOperation()));
    wide.getXMutable().assign(view.getX());
    wide.setSizesAttr(graph::dimsAttr(context, widened(sizes, context)));
    wide.setOffsetsAttr(graph::dimsAttr(context, graph::Dims(widened(offsets, graph::DimExpr::constant(context, 0), newDim))));
    wide.setSteps(widened(op.getSteps(), int64_t(1), newDim));
    wide.getResult().setType(RankedTensorType::get(graph::staticSizes(widened(sizes, context)), op.getType().getElementType()));
    rewriter.replaceOp(op, viewOf(wide.getResult(), sizes, op.getLoc(), rewriter));
    return success();
  }
};

/// view(view(x)) that drops the new dim and adds it -> x
struct MeetWidening final : OpRewritePattern<graph::ViewOp> {
  explicit MeetWidening(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(graph::ViewOp op, PatternRewriter &rewriter) const override {
    graph::ViewOp inner = narrowed(op.getX());
    if (!inner || op.getType() != inner.getX().getType() || dimsOfView(op) != widened(dimsOfView(inner), op.getContext()))
      return rewriter.notifyMatchFailure(op, "does not undo a view");
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

struct WidenWindowsPass : impl::WidenWindowsPassBase<WidenWindowsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    ShapeAnalysis analysis(function);
    if (analysis.failed())
      return signalPassFailure();
    SmallVector<Operation *> lines;
    function.walk([&](Operation *op) {
      if (isa<graph::ConvOp, graph::MaxPoolOp, graph::AveragePoolOp>(op) && isLine(op, analysis))
        lines.push_back(op);
    });
    for (Operation *op : lines)
      TypeSwitch<Operation *>(op).Case<graph::ConvOp, graph::MaxPoolOp, graph::AveragePoolOp>(
          [&](auto line) { widen(line, analysis); });
    RewritePatternSet patterns(&getContext());
    patterns.add<PushThroughElementwise, PushThroughSubview, MeetWidening>(&getContext());
    graph::ViewOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(rewriteAll(function, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace llmc
