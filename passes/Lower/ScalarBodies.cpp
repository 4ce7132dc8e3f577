// Scalar meaning of the element-wise graph ops. Each agrees with the reference kernel of its op up to the stated error of the
// math functions; integer division, powers and casts from float to integer have edge cases that only the reference kernels do.
#include "passes/Lower/ScalarBodies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace llmc {
namespace {

Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

Value number(ImplicitLocOpBuilder &b, Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, static_cast<int64_t>(value)));
}

/// 0.5 * x * (1 + erf(x / sqrt(2))), or the tanh form.
Value gelu(graph::GeluOp op, Value x, ImplicitLocOpBuilder &b) {
  Type type = x.getType();
  Value inner;
  if (op.getTanhForm()) {
    Value cube = arith::MulFOp::create(b, arith::MulFOp::create(b, x, x), x);
    Value sum = arith::AddFOp::create(b, x, arith::MulFOp::create(b, cube, number(b, type, 0.044715)));
    inner = math::TanhOp::create(b, arith::MulFOp::create(b, sum, number(b, type, 0.79788456080286535588)));
  } else {
    inner = math::ErfOp::create(b, arith::MulFOp::create(b, x, number(b, type, 0.70710678118654752440)));
  }
  Value half = arith::MulFOp::create(b, x, number(b, type, 0.5));
  return arith::MulFOp::create(b, half, arith::AddFOp::create(b, inner, number(b, type, 1)));
}

/// log(x); of a denormal float by a multiple of it, since the approximation takes denormals for the least normal number.
Value logarithm(ImplicitLocOpBuilder &b, Value x) {
  Type type = x.getType();
  if (!type.isF32())
    return math::LogOp::create(b, x);
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, number(b, type, 0x1p-126));
  Value scaled = arith::MulFOp::create(b, x, number(b, type, 0x1p23)), shift = number(b, type, -23 * M_LN2);
  Value log = math::LogOp::create(b, arith::SelectOp::create(b, isSmall, scaled, x));
  return arith::AddFOp::create(b, log, arith::SelectOp::create(b, isSmall, shift, number(b, type, 0)));
}

Value clampUnit(ImplicitLocOpBuilder &b, Value x) {
  Value low = arith::MaximumFOp::create(b, x, number(b, x.getType(), 0));
  return arith::MinimumFOp::create(b, low, number(b, x.getType(), 1));
}

/// Negation in floats is exact for -0 too; integers wrap.
Value negate(ImplicitLocOpBuilder &b, Value x) {
  if (isa<FloatType>(x.getType()))
    return arith::NegFOp::create(b, x);
  return arith::SubIOp::create(b, number(b, x.getType(), 0), x);
}

template <typename FloatOp, typename IntOp> Value either(ImplicitLocOpBuilder &b, ValueRange v) {
  if (isa<FloatType>(v[0].getType()))
    return FloatOp::create(b, v[0], v[1]);
  return IntOp::create(b, v[0], v[1]);
}

Value compare(ImplicitLocOpBuilder &b, arith::CmpFPredicate onFloats, arith::CmpIPredicate onInts, ValueRange v) {
  if (isa<FloatType>(v[0].getType()))
    return arith::CmpFOp::create(b, onFloats, v[0], v[1]);
  return arith::CmpIOp::create(b, onInts, v[0], v[1]);
}

bool castHasBody(Type from, Type to) {
  return !(isa<FloatType>(from) && isa<IntegerType>(to) && !to.isInteger(1));
}

Value castScalar(ImplicitLocOpBuilder &b, Value x, Type to) {
  Type from = x.getType();
  if (from == to)
    return x;
  if (to.isInteger(1))
    return isa<FloatType>(from) ? Value(arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, number(b, from, 0)))
                                : Value(arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, number(b, from, 0)));
  if (isa<FloatType>(from))
    return from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth() ? Value(arith::ExtFOp::create(b, to, x))
                                                                     : Value(arith::TruncFOp::create(b, to, x));
  if (isa<FloatType>(to))
    return from.isInteger(1) ? Value(arith::UIToFPOp::create(b, to, x)) : Value(arith::SIToFPOp::create(b, to, x));
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, to, x);
  return from.isInteger(1) ? Value(arith::ExtUIOp::create(b, to, x)) : Value(arith::ExtSIOp::create(b, to, x));
}

/// The exponent, if all its elements are one constant.
std::optional<double> constantExponent(graph::PowOp op) {
  DenseFPElementsAttr value;
  if (matchPattern(op.getRhs(), m_Constant(&value)) && value.isSplat())
    return value.getSplatValue<APFloat>().convertToDouble();
  return std::nullopt;
}

Value emitUnary(Operation *op, Value x, ImplicitLocOpBuilder &b) {
  Type type = x.getType();
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::AbsOp) { return isa<FloatType>(type) ? Value(math::AbsFOp::create(b, x)) : Value(math::AbsIOp::create(b, x)); })
      .Case([&](graph::NegOp) { return negate(b, x); })
      .Case([&](graph::ExpOp) { return math::ExpOp::create(b, x); })
      .Case([&](graph::LogOp) { return logarithm(b, x); })
      .Case([&](graph::SqrtOp) { return math::SqrtOp::create(b, x); })
      .Case([&](graph::ErfOp) { return math::ErfOp::create(b, x); })
      .Case([&](graph::TanhOp) { return math::TanhOp::create(b, x); })
      .Case([&](graph::SigmoidOp) {
        Value power = math::ExpOp::create(b, arith::NegFOp::create(b, x));
        return arith::DivFOp::create(b, number(b, type, 1), arith::AddFOp::create(b, power, number(b, type, 1)));
      })
      .Case([&](graph::ReluOp) { return either<arith::MaximumFOp, arith::MaxSIOp>(b, {x, number(b, type, 0)}); })
      .Case([&](graph::FloorOp) { return math::FloorOp::create(b, x); })
      .Case([&](graph::CeilOp) { return math::CeilOp::create(b, x); })
      .Case([&](graph::RoundOp) { return math::RoundEvenOp::create(b, x); })
      .Case([&](graph::ReciprocalOp) { return arith::DivFOp::create(b, number(b, type, 1), x); })
      .Case([&](graph::SoftsignOp) {
        return arith::DivFOp::create(b, x, arith::AddFOp::create(b, math::AbsFOp::create(b, x), number(b, type, 1)));
      })
      .Case([&](graph::HardSwishOp) {
        Value gate = arith::AddFOp::create(b, arith::DivFOp::create(b, x, number(b, type, 6)), number(b, type, 0.5));
        return arith::MulFOp::create(b, x, clampUnit(b, gate));
      })
      .Case([&](graph::IsNanOp) { return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x); })
      .Case([&](graph::NotOp) { return arith::XOrIOp::create(b, x, number(b, type, 1)); })
      .Case([&](graph::LeakyReluOp leaky) {
        Value scaled = arith::MulFOp::create(b, x, number(b, type, leaky.getAlpha().convertToDouble()));
        Value positive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, x, number(b, type, 0));
        return arith::SelectOp::create(b, positive, x, scaled);
      })
      .Case([&](graph::HardSigmoidOp sigmoid) {
        Value scaled = arith::MulFOp::create(b, x, number(b, type, sigmoid.getAlpha().convertToDouble()));
        return clampUnit(b, arith::AddFOp::create(b, scaled, number(b, type, sigmoid.getBeta().convertToDouble())));
      })
      .Case([&](graph::GeluOp op) { return gelu(op, x, b); })
      .Case([&](graph::CastOp cast) { return castScalar(b, x, cast.getTo()); })
      .Default([](Operation *) { return Value(); });
}

Value emitBinary(Operation *op, ValueRange v, ImplicitLocOpBuilder &b) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::AddOp) { return either<arith::AddFOp, arith::AddIOp>(b, v); })
      .Case([&](graph::SubOp) { return either<arith::SubFOp, arith::SubIOp>(b, v); })
      .Case([&](graph::MulOp) { return either<arith::MulFOp, arith::MulIOp>(b, v); })
      .Case([&](graph::DivOp) { return arith::DivFOp::create(b, v[0], v[1]); })
      .Case([&](graph::MaxOp) { return either<arith::MaximumFOp, arith::MaxSIOp>(b, v); })
      .Case([&](graph::MinOp) { return either<arith::MinimumFOp, arith::MinSIOp>(b, v); })
      .Case([&](graph::EqualOp) { return compare(b, F::OEQ, I::eq, v); })
      .Case([&](graph::LessOp) { return compare(b, F::OLT, I::slt, v); })
      .Case([&](graph::LessEqualOp) { return compare(b, F::OLE, I::sle, v); })
      .Case([&](graph::GreaterOp) { return compare(b, F::OGT, I::sgt, v); })
      .Case([&](graph::GreaterEqualOp) { return compare(b, F::OGE, I::sge, v); })
      .Case([&](graph::AndOp) { return arith::AndIOp::create(b, v[0], v[1]); })
      .Case([&](graph::OrOp) { return arith::OrIOp::create(b, v[0], v[1]); })
      .Case([&](graph::XorOp) { return arith::XOrIOp::create(b, v[0], v[1]); })
      .Case([&](graph::PowOp) { return arith::MulFOp::create(b, v[0], v[0]); }) // hasScalarBody: the exponent is 2
      .Case([&](graph::WhereOp) { return arith::SelectOp::create(b, v[0], v[1], v[2]); })
      .Default([](Operation *) { return Value(); });
}

} // namespace

bool isGeneratedType(Type type) {
  return type.isF32() || type.isSignlessInteger(64) || type.isSignlessInteger(32) || type.isSignlessInteger(1);
}

bool hasScalarBody(Operation *op) {
  auto generated = [](Value value) { return isGeneratedType(elementOf(value)); };
  if (op->getNumOperands() == 0 || !llvm::all_of(op->getOperands(), generated) || !llvm::all_of(op->getResults(), generated))
    return false;
  if (auto cast = dyn_cast<graph::CastOp>(op))
    return castHasBody(elementOf(cast.getX()), cast.getTo());
  if (auto pow = dyn_cast<graph::PowOp>(op)) {
    // sqrt(-0) and pow(-0, 0.5) differ in sign, sqrt(-inf) and pow(-inf, 0.5) in value: only squares are the same.
    return isa<FloatType>(elementOf(pow.getLhs())) && constantExponent(pow) == 2.0;
  }
  bool isFloat = isa<FloatType>(elementOf(op->getOperand(0)));
  if (isa<graph::DivOp>(op))
    return isFloat;
  if (isa<graph::MaxOp, graph::MinOp, graph::LessOp, graph::LessEqualOp, graph::GreaterOp, graph::GreaterEqualOp>(op))
    return !elementOf(op->getOperand(0)).isInteger(1);
  return isa<graph::AbsOp, graph::NegOp, graph::ExpOp, graph::LogOp, graph::SqrtOp, graph::ErfOp, graph::TanhOp,
             graph::SigmoidOp, graph::ReluOp, graph::FloorOp, graph::CeilOp, graph::RoundOp, graph::ReciprocalOp,
             graph::SoftsignOp, graph::HardSwishOp, graph::IsNanOp, graph::NotOp, graph::LeakyReluOp, graph::HardSigmoidOp,
             graph::GeluOp, graph::AddOp, graph::SubOp, graph::MulOp, graph::EqualOp, graph::AndOp, graph::OrOp, graph::XorOp,
             graph::WhereOp>(op);
}

Value emitScalarBody(Operation *op, ValueRange operands, ImplicitLocOpBuilder &b) {
  if (operands.size() == 1)
    return emitUnary(op, operands[0], b);
  return emitBinary(op, operands, b);
}

} // namespace llmc
