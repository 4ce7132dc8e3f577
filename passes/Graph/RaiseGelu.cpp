// GELU from its pieces.
//
// Both forms are products. A product is flattened into a number and a list of other factors, so that the order and the
// association in which an exporter wrote it do not matter.
#include "mlir/IR/Remarks.h"
#include "passes/Graph/Matching.h"
#include "passes/Graph/Passes.h"
#include "passes/Rewrite.h"
#include <cmath>

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_RAISEGELUPASS
#include "passes/Graph/Passes.h.inc"
namespace {

struct Product {
  double number = 1;
  SmallVector<Value> factors;

  bool hasNumber(double expected) const {
    return !factors.empty() && isAbout(number, expected, getElementTypeOrSelf(factors.front().getType()));
  }
};

/// x^2 and x^3 as powers; 0 for other exponents.
int64_t smallPower(graph::PowOp op) {
  std::optional<double> exponent = floatScalar(op.getRhs());
  return exponent && (*exponent == 2 || *exponent == 3) ? static_cast<int64_t>(*exponent) : 0;
}

void multiplyBy(Product &product, Value value);

/// Multiplies by what `op` computes, if it is a product, a quotient by a number or a small power.
bool multiplyByParts(Product &product, Operation *op) {
  if (auto mul = dyn_cast_if_present<graph::MulOp>(op)) {
    multiplyBy(product, mul.getLhs());
    multiplyBy(product, mul.getRhs());
    return true;
  }
  if (auto div = dyn_cast_if_present<graph::DivOp>(op)) {
    std::optional<double> divisor = floatScalar(div.getRhs());
    if (!divisor || *divisor == 0)
      return false;
    product.number /= *divisor;
    multiplyBy(product, div.getLhs());
    return true;
  }
  if (auto pow = dyn_cast_if_present<graph::PowOp>(op)) {
    product.factors.append(smallPower(pow), pow.getLhs());
    return smallPower(pow) != 0;
  }
  return false;
}

/// A value with several uses, as x always is, is a factor as it is: the pieces must vanish with the match.
void multiplyBy(Product &product, Value value) {
  if (std::optional<double> number = floatScalar(value))
    product.number *= *number;
  else if (!value.hasOneUse() || !multiplyByParts(product, value.getDefiningOp()))
    product.factors.push_back(value);
}

/// The factors of what `value` computes.
Product productOf(Value value) {
  Product product;
  multiplyBy(product, value);
  return product;
}

/// The other term of a sum with 1 that nothing else reads.
Value termBesideOne(Value value) {
  auto add = soleUseOf<graph::AddOp>(value);
  if (!add)
    return {};
  if (isScalarAbout(add.getLhs(), 1))
    return add.getRhs();
  return isScalarAbout(add.getRhs(), 1) ? add.getLhs() : Value();
}

/// value = x / sqrt(2)
bool isErfArgument(Value value, Value x) {
  Product product = productOf(value);
  return product.factors == SmallVector<Value>{x} && product.hasNumber(M_SQRT1_2);
}

/// value = 0.044715 * x^power
bool isCubicTerm(Value value, Value x, int power) {
  Product product = productOf(value);
  return product.factors == SmallVector<Value>(power, x) && product.hasNumber(0.044715);
}

/// value = x + 0.044715 * x^3
bool isCubic(Value value, Value x) {
  auto add = soleUseOf<graph::AddOp>(value);
  return add && inSomeOrder(add, [&](Value linear, Value cubic) { return linear == x && isCubicTerm(cubic, x, 3); });
}

/// value = sqrt(2 / pi) * (x + 0.044715 * x^3), or the same with x factored out of the sum
bool isTanhArgument(Value value, Value x) {
  Product product = productOf(value);
  if (!product.hasNumber(std::sqrt(2 / M_PI)))
    return false;
  if (product.factors.size() == 1)
    return isCubic(product.factors[0], x);
  if (product.factors.size() != 2)
    return false;
  auto [first, second] = std::pair(product.factors[0], product.factors[1]);
  Value sum = first == x ? second : second == x ? first : Value();
  Value square = sum ? termBesideOne(sum) : Value();
  return square && isCubicTerm(square, x, 2);
}

enum class Form { None, Erf, Tanh };

/// factor = 1 + erf(x / sqrt(2)), or 1 + tanh(..)
Form formOf(Value factor, Value x) {
  Value term = termBesideOne(factor);
  if (!term)
    return Form::None;
  if (auto erf = soleUseOf<graph::ErfOp>(term))
    return isErfArgument(erf.getX(), x) ? Form::Erf : Form::None;
  if (auto tanh = soleUseOf<graph::TanhOp>(term))
    return isTanhArgument(tanh.getX(), x) ? Form::Tanh : Form::None;
  return Form::None;
}

/// 0.5 * x * (1 + erf(x / sqrt(2))) -> gelu(x), and the tanh form
template <typename Root> struct RaiseGelu final : OpRewritePattern<Root> {
  using OpRewritePattern<Root>::OpRewritePattern;

  LogicalResult matchAndRewrite(Root op, PatternRewriter &rewriter) const override {
    auto type = op.getType();
    if (!isa<FloatType>(type.getElementType()))
      return rewriter.notifyMatchFailure(op, "not floats");
    Product product;
    if (!multiplyByParts(product, op) || product.factors.size() != 2 || !product.hasNumber(0.5))
      return rewriter.notifyMatchFailure(op, "not half the product of two values");
    for (auto [x, factor] :
         {std::pair(product.factors[0], product.factors[1]), {product.factors[1], product.factors[0]}}) {
      Form form = formOf(factor, x);
      // A constant of higher rank would have added dims to the result.
      if (form == Form::None || cast<RankedTensorType>(x.getType()).getRank() != type.getRank())
        continue;
      remark::passed(op.getLoc(), remark::RemarkOpts::name("Gelu").category("graph-raise-gelu"))
          << (form == Form::Tanh ? "tanh form" : "exact form");
      Location loc = locationFrom(x, op);
      rewriter.replaceOpWithNewOp<graph::GeluOp>(op, type, x, form == Form::Tanh)->setLoc(loc);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no factor is 1 + erf(x / sqrt(2)) or 1 + tanh(..)");
  }
};

/// Where an erf stands that is not that of a GELU: few things else compute one.
void reportNoGelu(graph::ErfOp op) {
  remark::missed(op.getLoc(), remark::RemarkOpts::name("NoGelu").category("graph-raise-gelu"))
      << remark::reason("not in 0.5 * x * (1 + erf(x / sqrt(2))) with no other reader of the parts");
}

struct RaiseGeluPass : impl::RaiseGeluPassBase<RaiseGeluPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseGelu<graph::MulOp>, RaiseGelu<graph::DivOp>>(&getContext());
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk(reportNoGelu);
  }
};

} // namespace
} // namespace llmc
