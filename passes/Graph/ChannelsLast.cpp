// Convolution and pooling with channels last; what is between them follows.
#include "mlir/IR/Remarks.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/PushTransposes.h"
#include "passes/Graph/ShapeAnalysis.h"
#include "passes/Rewrite.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_CHANNELSLASTPASS
#include "passes/Graph/Passes.h.inc"
namespace {

bool hasStaticKernel(graph::ConvOp op) { return op.getWeight().getType().hasStaticShape(); }
template <typename Pool> bool hasStaticKernel(Pool) { return true; }

/// op(x) -> transpose(op(transpose(x)) channels_last) for images: two spatial dims, a static kernel and number of channels
template <typename Op> struct WindowToChannelsLast final : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto input = cast<RankedTensorType>(op.getX().getType()), type = cast<RankedTensorType>(op.getType());
    if (op.getChannelsLast())
      return rewriter.notifyMatchFailure(op, "has its channels last");
    if (type.getRank() != 4 || input.isDynamicDim(1) || type.isDynamicDim(1))
      return rewriter.notifyMatchFailure(op, "not an image with a static number of channels");
    if (!hasStaticKernel(op))
      return rewriter.notifyMatchFailure(op, "the sizes of the kernel are known at run time only");
    SmallVector<int64_t> toLast = toChannelsLast(4);
    Value x = graph::TransposeOp::create(rewriter, op.getLoc(), permuted(input, toLast), op.getX(), toLast);
    auto moved = cast<Op>(rewriter.clone(*op.getOperation()));
    moved.getXMutable().assign(x);
    moved.setChannelsLast(true);
    moved->getResult(0).setType(permuted(type, toLast));
    remark::passed(op.getLoc(), remark::RemarkOpts::name("ChannelsLast").category("graph-channels-last"))
        << remark::metric("channels", type.getDimSize(1));
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, type, moved->getResult(0), toChannelsFirst(4));
    return success();
  }
};

struct ChannelsLastPass : impl::ChannelsLastPassBase<ChannelsLastPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<WindowToChannelsLast<graph::ConvOp>, WindowToChannelsLast<graph::MaxPoolOp>,
                 WindowToChannelsLast<graph::AveragePoolOp>>(&getContext());
    populatePushTransposesPatterns(patterns);
    if (failed(rewriteAll(function, std::move(patterns))))
      return signalPassFailure();
    ShapeAnalysis analysis(function);
    if (analysis.failed())
      return signalPassFailure();
    function.walk([&](graph::TransposeOp op) { viewUnitDims(op, analysis); });
  }

  /// transpose(x) that moves dims of size 1 alone -> view(x)
  static void viewUnitDims(graph::TransposeOp op, const ShapeAnalysis &analysis) {
    ArrayRef<graph::DimExpr> dims = analysis.dims(op.getY());
    if (!allKnown(dims) || !movesOnlyUnitDims(cast<RankedTensorType>(op.getX().getType()), op.getPerm())) {
      remark::missed(op.getLoc(), remark::RemarkOpts::name("TransposeLeft").category("graph-channels-last"))
          << "a neighbour has no form with channels last";
      return;
    }
    OpBuilder builder(op);
    auto view =
        graph::ViewOp::create(builder, op.getLoc(), op.getType(), op.getX(), graph::dimsAttr(op.getContext(), dims));
    op.replaceAllUsesWith(view.getResult());
    op.erase();
  }
};

} // namespace
} // namespace llmc
