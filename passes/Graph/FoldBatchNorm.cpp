// Batch norm with constant parameters -> into the convolution before it, or a product and a sum per channel.
//
// With a = scale / sqrt(variance + epsilon) the norm is a * x + (bias - a * mean). All of it is computed in double and
// rounded once.
#include "mlir/IR/Remarks.h"
#include "passes/Graph/Matching.h"
#include "passes/Graph/Passes.h"
#include "passes/Rewrite.h"
#include <cmath>

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_FOLDBATCHNORMPASS
#include "passes/Graph/Passes.h.inc"
namespace {

bool allFinite(ArrayRef<double> values) {
  return llvm::all_of(values, [](double value) { return std::isfinite(value); });
}

/// y = factor[c] * x + offset[c]
struct Affine {
  std::vector<double> factor, offset;
};

/// Nothing if a parameter is not constant or the result is not finite.
std::optional<Affine> affineOf(graph::BatchNormOp op) {
  auto scale = floatElements(op.getScale()), bias = floatElements(op.getBias());
  auto mean = floatElements(op.getMean()), variance = floatElements(op.getVariance());
  if (!scale || !bias || !mean || !variance)
    return std::nullopt;
  Affine affine;
  double epsilon = op.getEpsilon().convertToDouble();
  for (size_t c = 0; c < scale->size(); ++c) {
    affine.factor.push_back((*scale)[c] / std::sqrt((*variance)[c] + epsilon));
    affine.offset.push_back((*bias)[c] - affine.factor[c] * (*mean)[c]);
  }
  return allFinite(affine.factor) && allFinite(affine.offset) ? std::optional(std::move(affine)) : std::nullopt;
}

/// A constant of `values`, each rounded once. Null if one leaves the range of the type.
ElementsAttr constantWithinRange(RankedTensorType type, ArrayRef<double> values) {
  double largest = APFloat::getLargest(cast<FloatType>(type.getElementType()).getFloatSemantics()).convertToDouble();
  bool fits = llvm::all_of(values, [&](double value) { return std::abs(value) <= largest; });
  return fits ? makeFloatConstant(type, values) : ElementsAttr();
}

/// Multiplies the weights of each output channel.
void scaleChannels(std::vector<double> &weights, ArrayRef<double> factor) {
  size_t perChannel = weights.size() / factor.size();
  for (size_t c = 0; c < factor.size(); ++c)
    for (size_t i = 0; i < perChannel; ++i)
      weights[c * perChannel + i] *= factor[c];
}

/// batch_norm(conv(x, w, b)) -> conv(x, a * w, a * b + (bias - a * mean))
struct FoldIntoConv final : OpRewritePattern<graph::BatchNormOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(graph::BatchNormOp op, PatternRewriter &rewriter) const override {
    auto conv = op.getX().getDefiningOp<graph::ConvOp>();
    if (!conv || conv.getChannelsLast())
      return rewriter.notifyMatchFailure(op, "input is not a convolution with channels in dim 1");
    if (!conv->hasOneUse() || conv->getBlock() != op->getBlock())
      return rewriter.notifyMatchFailure(op, "the convolution has other uses, or is outside of a loop that the norm is in");
    std::optional<Affine> affine = affineOf(op);
    std::optional<std::vector<double>> weight = floatElements(conv.getWeight()), bias;
    if (conv.getBias())
      bias = floatElements(conv.getBias());
    else if (affine)
      bias.emplace(affine->factor.size());
    if (!affine || !weight || !bias)
      return rewriter.notifyMatchFailure(op, "parameters, weight or bias are not constant and finite");
    scaleChannels(*weight, affine->factor);
    for (auto [c, value] : llvm::enumerate(*bias))
      value = value * affine->factor[c] + affine->offset[c];
    auto weightType = cast<RankedTensorType>(conv.getWeight().getType());
    auto biasType = RankedTensorType::get({static_cast<int64_t>(bias->size())}, weightType.getElementType());
    ElementsAttr scaled = constantWithinRange(weightType, *weight), shifted = constantWithinRange(biasType, *bias);
    if (!scaled || !shifted)
      return rewriter.notifyMatchFailure(op, "scaled weights leave the range of their type");

    Location loc = rewriter.getFusedLoc({conv.getLoc(), op.getLoc()});
    auto folded = cast<graph::ConvOp>(rewriter.clone(*conv));
    rewriter.setInsertionPoint(folded);
    Value newWeight = graph::ConstantOp::create(rewriter, conv.getWeight().getLoc(), scaled);
    Value newBias = graph::ConstantOp::create(rewriter, op.getBias().getLoc(), shifted);
    rewriter.modifyOpInPlace(folded, [&] {
      folded->setLoc(loc);
      folded.getWeightMutable().assign(newWeight);
      folded.getBiasMutable().assign(newBias);
      folded.getY().setType(op.getType());
    });
    remark::passed(loc, remark::RemarkOpts::name("FoldedIntoConv").category("graph-fold-batch-norm"))
        << remark::metric("channels", affine->factor.size());
    rewriter.replaceOp(op, folded);
    return success();
  }
};

/// batch_norm(x) -> add(mul(x, a), bias - a * mean)
struct SplitIntoMulAdd final : OpRewritePattern<graph::BatchNormOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(graph::BatchNormOp op, PatternRewriter &rewriter) const override {
    std::optional<Affine> affine = affineOf(op);
    if (!affine)
      return rewriter.notifyMatchFailure(op, "parameters are not constant and finite");
    RankedTensorType type = op.getType();
    SmallVector<int64_t> shape(type.getRank() - 1, 1);
    shape.front() = affine->factor.size();
    auto perChannel = RankedTensorType::get(shape, type.getElementType());
    Value factor =
        graph::ConstantOp::create(rewriter, op.getScale().getLoc(), makeFloatConstant(perChannel, affine->factor));
    Value offset =
        graph::ConstantOp::create(rewriter, op.getBias().getLoc(), makeFloatConstant(perChannel, affine->offset));
    Value product = graph::MulOp::create(rewriter, op.getLoc(), type, op.getX(), factor);
    remark::passed(op.getLoc(), remark::RemarkOpts::name("SplitIntoMulAdd").category("graph-fold-batch-norm"));
    rewriter.replaceOpWithNewOp<graph::AddOp>(op, type, product, offset);
    return success();
  }
};

struct FoldBatchNormPass : impl::FoldBatchNormPassBase<FoldBatchNormPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoConv>(&getContext(), /*benefit=*/2);
    patterns.add<SplitIntoMulAdd>(&getContext());
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace llmc
