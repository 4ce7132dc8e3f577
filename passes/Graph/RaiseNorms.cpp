// Layer norm and RMS norm from their pieces.
#include "mlir/IR/Remarks.h"
#include "passes/Graph/Matching.h"
#include "passes/Graph/Passes.h"
#include "passes/Rewrite.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_RAISENORMSPASS
#include "passes/Graph/Passes.h.inc"
namespace {

/// value / sqrt(radicand), whose pieces nothing else reads.
struct Normalized {
  Value value, radicand;
};

/// factor = 1 / sqrt(r) -> r, else null
Value reciprocalRootOf(Value factor) {
  Value root;
  if (auto reciprocal = soleUseOf<graph::ReciprocalOp>(factor))
    root = reciprocal.getX();
  else if (auto div = soleUseOf<graph::DivOp>(factor); div && isScalarAbout(div.getLhs(), 1))
    root = div.getRhs();
  else if (auto pow = soleUseOf<graph::PowOp>(factor); pow && isScalarAbout(pow.getRhs(), -0.5))
    return pow.getLhs();
  auto sqrt = root ? soleUseOf<graph::SqrtOp>(root) : graph::SqrtOp();
  return sqrt ? sqrt.getX() : Value();
}

std::optional<Normalized> matchNormalized(Operation *op) {
  if (auto div = dyn_cast<graph::DivOp>(op)) {
    auto sqrt = soleUseOf<graph::SqrtOp>(div.getRhs());
    return sqrt ? std::optional(Normalized{div.getLhs(), sqrt.getX()}) : std::nullopt;
  }
  auto mul = dyn_cast<graph::MulOp>(op);
  if (!mul)
    return std::nullopt;
  if (Value radicand = reciprocalRootOf(mul.getRhs()))
    return Normalized{mul.getLhs(), radicand};
  if (Value radicand = reciprocalRootOf(mul.getLhs()))
    return Normalized{mul.getRhs(), radicand};
  return std::nullopt;
}

/// The mean of squares over the dims from `axis` on, plus epsilon.
struct MeanOfSquares {
  Operation *square;
  int64_t axis;
  double epsilon;
};

/// First of the axes if they are all the trailing ones, else nothing.
std::optional<int64_t> trailingAxis(graph::ReduceMeanOp mean) {
  int64_t rank = cast<RankedTensorType>(mean.getX().getType()).getRank(), axis = rank - mean.getAxes().size();
  if (mean.getAxes().empty() || !mean.getKeepdims() || mean.getAxes().front() != axis)
    return std::nullopt;
  return axis; // they ascend
}

bool isSquareOf(Operation *op, Value value) {
  if (auto mul = dyn_cast_if_present<graph::MulOp>(op))
    return mul.getLhs() == value && mul.getRhs() == value;
  auto pow = dyn_cast_if_present<graph::PowOp>(op);
  std::optional<double> exponent = pow && pow.getLhs() == value ? floatScalar(pow.getRhs()) : std::nullopt;
  return exponent == 2.0;
}

/// radicand = mean(value^2) + epsilon
std::optional<MeanOfSquares> matchMeanOfSquares(Value radicand, Value value) {
  auto add = soleUseOf<graph::AddOp>(radicand);
  if (!add)
    return std::nullopt;
  std::optional<MeanOfSquares> result;
  inSomeOrder(add, [&](Value term, Value constant) {
    auto mean = soleUseOf<graph::ReduceMeanOp>(term);
    std::optional<double> epsilon = floatScalar(constant);
    std::optional<int64_t> axis = mean ? trailingAxis(mean) : std::nullopt;
    if (!axis || !epsilon || !mean.getX().hasOneUse() || !isSquareOf(mean.getX().getDefiningOp(), value))
      return false;
    result = MeanOfSquares{mean.getX().getDefiningOp(), *axis, *epsilon};
    return true;
  });
  return result;
}

/// value = x - mean(x) over the dims from `axis` on, read by `users` alone -> x, else null
Value centredInput(Value value, int64_t axis, ArrayRef<Operation *> users) {
  auto sub = value.getDefiningOp<graph::SubOp>();
  auto mean = sub ? soleUseOf<graph::ReduceMeanOp>(sub.getRhs()) : graph::ReduceMeanOp();
  bool matches = mean && mean.getX() == sub.getLhs() && trailingAxis(mean) == axis && isUsedOnlyBy(value, users);
  return matches ? sub.getLhs() : Value();
}

/// The only user of `value` if it is an `Op` with an operand of exactly `type`: that operand goes to `other`.
template <typename Op> Op soleUserWith(Value value, RankedTensorType type, Value &other) {
  auto user = value.hasOneUse() ? dyn_cast<Op>(*value.user_begin()) : Op();
  if (!user)
    return {};
  Value operand = user.getLhs() == value ? user.getRhs() : user.getLhs();
  if (operand.getType() != type || user.getType().getRank() != cast<RankedTensorType>(value.getType()).getRank())
    return {};
  other = operand;
  return user;
}

Value onesOf(RankedTensorType type, Location loc, PatternRewriter &rewriter) {
  std::vector<double> ones(type.getNumElements(), 1);
  return graph::ConstantOp::create(rewriter, loc, makeFloatConstant(type, ones));
}

/// x / sqrt(mean(x^2) + epsilon) * scale -> rms_norm ; where x = v - mean(v), and with + bias -> layer_norm of v
template <typename Root> struct RaiseNorm final : OpRewritePattern<Root> {
  using OpRewritePattern<Root>::OpRewritePattern;

  LogicalResult matchAndRewrite(Root op, PatternRewriter &rewriter) const override {
    std::optional<Normalized> normalized = matchNormalized(op);
    if (!normalized || normalized->value.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "not a value over a square root");
    std::optional<MeanOfSquares> squares = matchMeanOfSquares(normalized->radicand, normalized->value);
    if (!squares)
      return rewriter.notifyMatchFailure(op, "the root is not of mean(x^2) + epsilon over trailing dims");
    RankedTensorType type = op.getType();
    auto rowType = RankedTensorType::get(type.getShape().drop_front(squares->axis), type.getElementType());
    if (!rowType.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the normalized dims are not static");
    Value centred = centredInput(normalized->value, squares->axis, {squares->square, op});

    SmallVector<Operation *> pieces = {op};
    Value scale, bias;
    if (auto mul = soleUserWith<graph::MulOp>(op, rowType, scale))
      pieces.push_back(mul);
    if (centred)
      if (auto add = soleUserWith<graph::AddOp>(pieces.back()->getResult(0), rowType, bias))
        pieces.push_back(add);
    bool isLayerNorm = static_cast<bool>(centred);
    replace(pieces, isLayerNorm, isLayerNorm ? centred : normalized->value, scale, bias, *squares, rewriter);
    return success();
  }

  /// The last of the pieces becomes the norm; the others are dead then.
  static void replace(ArrayRef<Operation *> pieces, bool isLayerNorm, Value x, Value scale, Value bias,
                      const MeanOfSquares &squares, PatternRewriter &rewriter) {
    Operation *last = pieces.back();
    rewriter.setInsertionPoint(last);
    SmallVector<Location> locations = {locationFrom(x, pieces.front())};
    for (Operation *piece : pieces.drop_front())
      locations.push_back(piece->getLoc());
    Location loc = rewriter.getFusedLoc(locations);
    auto type = cast<RankedTensorType>(last->getResult(0).getType());
    if (!scale)
      scale =
          onesOf(RankedTensorType::get(type.getShape().drop_front(squares.axis), type.getElementType()), loc, rewriter);
    remark::passed(loc, remark::RemarkOpts::name(isLayerNorm ? "LayerNorm" : "RmsNorm").category("graph-raise-norms"))
        << remark::metric("axis", squares.axis);
    APFloat epsilon(squares.epsilon);
    if (isLayerNorm)
      rewriter.replaceOpWithNewOp<graph::LayerNormOp>(last, type, x, scale, bias, squares.axis, epsilon)->setLoc(loc);
    else
      rewriter.replaceOpWithNewOp<graph::RmsNormOp>(last, type, x, scale, squares.axis, epsilon)->setLoc(loc);
  }
};

/// Where a value over a square root was not taken for a norm.
void reportNoNorm(Operation *op) {
  std::optional<Normalized> normalized = matchNormalized(op);
  if (!normalized)
    return;
  bool hasMean = matchMeanOfSquares(normalized->radicand, normalized->value).has_value();
  remark::missed(op->getLoc(), remark::RemarkOpts::name("NoNorm").category("graph-raise-norms"))
      << remark::reason("{0}", hasMean ? "the dims of the mean are not static, or the value is broadcast"
                                       : "the root is not of mean(x^2) + epsilon over the last dims of the x above it");
}

struct RaiseNormsPass : impl::RaiseNormsPassBase<RaiseNormsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseNorm<graph::DivOp>, RaiseNorm<graph::MulOp>>(&getContext());
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk(reportNoNorm);
  }
};

} // namespace
} // namespace llmc
