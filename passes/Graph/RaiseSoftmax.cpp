// Softmax and its logarithm from their pieces.
#include "mlir/IR/Remarks.h"
#include "passes/Graph/Matching.h"
#include "passes/Graph/Passes.h"
#include "passes/Rewrite.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_RAISESOFTMAXPASS
#include "passes/Graph/Passes.h.inc"
namespace {

/// The one axis of a reduction that keeps its dims.
template <typename Reduce> std::optional<int64_t> axisOf(Reduce reduce) {
  if (!reduce || !reduce.getKeepdims() || reduce.getAxes().size() != 1)
    return std::nullopt;
  return reduce.getAxes().front();
}

/// shifted = x - max(x) along `axis` -> x, else null
Value inputBelowMaximum(graph::SubOp shifted, int64_t axis) {
  auto max = shifted ? soleUseOf<graph::ReduceMaxOp>(shifted.getRhs()) : graph::ReduceMaxOp();
  return axisOf(max) == axis && max.getX() == shifted.getLhs() ? shifted.getLhs() : Value();
}

/// exponential = exp(x - max(x)) along `axis`, read by `users` alone -> x, else null
Value inputOfExponential(Value exponential, int64_t axis, ArrayRef<Operation *> users) {
  auto exp = exponential.getDefiningOp<graph::ExpOp>();
  if (!exp || !isUsedOnlyBy(exponential, users))
    return {};
  return inputBelowMaximum(soleUseOf<graph::SubOp>(exp.getX()), axis);
}

/// op = numerator * (1 / denominator), with a division or a reciprocal
std::optional<std::pair<Value, Value>> quotientOf(Operation *op) {
  if (auto div = dyn_cast<graph::DivOp>(op))
    return std::pair<Value, Value>(div.getLhs(), div.getRhs());
  std::optional<std::pair<Value, Value>> quotient;
  if (auto mul = dyn_cast<graph::MulOp>(op))
    inSomeOrder(mul, [&](Value numerator, Value factor) {
      auto reciprocal = soleUseOf<graph::ReciprocalOp>(factor);
      if (reciprocal)
        quotient.emplace(numerator, reciprocal.getX());
      return static_cast<bool>(reciprocal);
    });
  return quotient;
}

/// e / sum(e), e = exp(x - max(x)) -> softmax(x)
template <typename Root> struct RaiseSoftmax final : OpRewritePattern<Root> {
  using OpRewritePattern<Root>::OpRewritePattern;

  LogicalResult matchAndRewrite(Root op, PatternRewriter &rewriter) const override {
    std::optional<std::pair<Value, Value>> quotient = quotientOf(op);
    if (!quotient)
      return rewriter.notifyMatchFailure(op, "not a quotient");
    auto sum = soleUseOf<graph::ReduceSumOp>(quotient->second);
    std::optional<int64_t> axis = axisOf(sum);
    if (!axis || sum.getX() != quotient->first)
      return rewriter.notifyMatchFailure(op, "not divided by its sum along one axis");
    Value x = inputOfExponential(quotient->first, *axis, {sum, op});
    if (!x)
      return rewriter.notifyMatchFailure(op, "not exp(x - max(x)) along the axis of the sum");
    remark::passed(op.getLoc(), remark::RemarkOpts::name("Softmax").category("graph-raise-softmax"))
        << remark::metric("axis", *axis);
    Location loc = locationFrom(x, op);
    rewriter.replaceOpWithNewOp<graph::SoftmaxOp>(op, op.getType(), x, *axis)->setLoc(loc);
    return success();
  }
};

/// d - log(sum(exp(d))), d = x - max(x) -> log_softmax(x)
struct RaiseLogSoftmax final : OpRewritePattern<graph::SubOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(graph::SubOp op, PatternRewriter &rewriter) const override {
    auto log = soleUseOf<graph::LogOp>(op.getRhs());
    auto sum = log ? soleUseOf<graph::ReduceSumOp>(log.getX()) : graph::ReduceSumOp();
    auto exp = sum ? soleUseOf<graph::ExpOp>(sum.getX()) : graph::ExpOp();
    std::optional<int64_t> axis = axisOf(sum);
    if (!axis || !exp || exp.getX() != op.getLhs() || !isUsedOnlyBy(op.getLhs(), {exp, op}))
      return rewriter.notifyMatchFailure(op, "not d - log(sum(exp(d))) along one axis");
    Value x = inputBelowMaximum(op.getLhs().getDefiningOp<graph::SubOp>(), *axis);
    if (!x)
      return rewriter.notifyMatchFailure(op, "d is not x - max(x) along the axis of the sum");
    remark::passed(op.getLoc(), remark::RemarkOpts::name("LogSoftmax").category("graph-raise-softmax"))
        << remark::metric("axis", *axis);
    Location loc = locationFrom(x, op);
    rewriter.replaceOpWithNewOp<graph::LogSoftmaxOp>(op, op.getType(), x, *axis)->setLoc(loc);
    return success();
  }
};

/// Where a value over its own sum was not taken for a softmax.
void reportNoSoftmax(Operation *op) {
  std::optional<std::pair<Value, Value>> quotient = quotientOf(op);
  auto sum = quotient ? quotient->second.getDefiningOp<graph::ReduceSumOp>() : graph::ReduceSumOp();
  if (!sum || sum.getX() != quotient->first || !quotient->first.getDefiningOp<graph::ExpOp>())
    return;
  remark::missed(op->getLoc(), remark::RemarkOpts::name("NoSoftmax").category("graph-raise-softmax"))
      << remark::reason("not exp(x - max(x)) over its sum along one kept axis with no other reader of the parts");
}

struct RaiseSoftmaxPass : impl::RaiseSoftmaxPassBase<RaiseSoftmaxPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseSoftmax<graph::DivOp>, RaiseSoftmax<graph::MulOp>, RaiseLogSoftmax>(&getContext());
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk(reportNoSoftmax);
  }
};

} // namespace
} // namespace llmc
