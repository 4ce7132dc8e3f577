// Exponentials, logarithms, hyperbolic functions and the error function in double-double, for finite arguments.
#ifndef LLMC_KERNELS_REFERENCE_MATH_EXPONENTIAL_H
#define LLMC_KERNELS_REFERENCE_MATH_EXPONENTIAL_H

#include "kernels/reference/math/Rounding.h"

namespace llmc::reference::math {

/// value * 2^power: results whose range exceeds that of double.
struct ScaledDouble {
  DoubleDouble value;
  int power = 0;
};

/// exp(r) - 1 for |r| < 0.4: Taylor's series at r / 512, then nine times exp(2 t) - 1 = p (2 + p).
inline DoubleDouble expm1Small(DoubleDouble r) {
  constexpr int halvings = 9;
  r = scaled(r, 1.0 / (1 << halvings));
  DoubleDouble p{1};
  for (int n = 9; n > 1; --n) // p = 1 + r/2 (1 + r/3 (1 + ... r/9))
    p = DoubleDouble{1} + r * p / DoubleDouble{double(n)};
  p = r * p;
  for (int i = 0; i < halvings; ++i)
    p = scaled(p, 2) + p * p;
  return p;
}

/// exp(x), |x| < 2000.
inline ScaledDouble expScaled(DoubleDouble x) {
  double k = __builtin_roundeven(x.high * 0x1.71547652b82fep+0);
  DoubleDouble p = expm1Small(x - ln2 * DoubleDouble{k});
  return {DoubleDouble{1} + p, int(k)};
}

/// exp(x) - 1, |x| < 700.
inline DoubleDouble expm1Wide(DoubleDouble x) {
  if (x.high > -0.35 && x.high < 0.35)
    return expm1Small(x);
  ScaledDouble e = expScaled(x);
  // Two factors: 2^1023 is the greatest power, 2^-1022 the least normal one.
  int half = e.power / 2;
  return scaled(scaled(e.value, powerOfTwo(half)), powerOfTwo(e.power - half)) - DoubleDouble{1};
}

/// 2 * atanh(s) for |s| < 0.21: s + s^3 / 3 + ...
inline DoubleDouble twiceAtanhSmall(DoubleDouble s) {
  DoubleDouble square = s * s, total{};
  for (int n = 49; n > 0; n -= 2)
    total = total * square + DoubleDouble{1} / DoubleDouble{double(n)};
  return scaled(s * total, 2);
}

/// log(x) for a positive finite x.
inline DoubleDouble logOf(double x) {
  Decomposed parts(x);
  int exponent = parts.exponent;
  while (!(parts.significand >> 52))
    parts.significand <<= 1, --exponent;
  double m = double(parts.significand) * 0x1p-52;
  exponent += 52;
  if (m > 1.4142135623730951)
    m *= 0.5, ++exponent;
  DoubleDouble s = DoubleDouble{m - 1} / twoSum(m, 1);
  return ln2 * DoubleDouble{double(exponent)} + twiceAtanhSmall(s);
}

/// log(1 + d) for d > -1, |d| < 2^900.
inline DoubleDouble log1pOf(DoubleDouble d) {
  if (d.high > -0.3 && d.high < 0.4)
    return twiceAtanhSmall(d / (DoubleDouble{2} + d));
  // log(h + l) = log(h) + log1p(l / h)
  DoubleDouble y = DoubleDouble{1} + d;
  return logOf(y.high) + twiceAtanhSmall(DoubleDouble{y.low} / (DoubleDouble{2 * y.high} + DoubleDouble{y.low}));
}

inline DoubleDouble tanhOf(double x) { // |x| < 40
  DoubleDouble e = expm1Wide(DoubleDouble{2 * x});
  return e / (e + DoubleDouble{2});
}

inline ScaledDouble sinhOf(double x) { // |x| < 2000
  double positive = __builtin_fabs(x);
  ScaledDouble result;
  if (positive < 40) {
    DoubleDouble e = expm1Wide(DoubleDouble{positive});
    result = {e + e / (e + DoubleDouble{1}), -1};
  } else {
    result = expScaled(DoubleDouble{positive});
    --result.power;
  }
  return {x < 0 ? -result.value : result.value, result.power};
}

inline ScaledDouble coshOf(double x) { // |x| < 2000
  ScaledDouble e = expScaled(DoubleDouble{x < 0 ? -x : x});
  if (e.power < 60) {
    DoubleDouble whole = scaled(e.value, powerOfTwo(e.power));
    return {whole + DoubleDouble{1} / whole, -1};
  }
  return {e.value, e.power - 1};
}

/// asinh(x) = log1p(x + x^2 / (1 + sqrt(1 + x^2))) for x >= 0; log(2 x) where x^2 would leave nothing of 1.
inline DoubleDouble asinhOf(double x) {
  if (x > 0x1p60)
    return logOf(x) + ln2;
  DoubleDouble square = twoProduct(x, x);
  return log1pOf(DoubleDouble{x} + square / (DoubleDouble{1} + root(DoubleDouble{1} + square)));
}

/// acosh(x) = log1p(t + sqrt(2 t + t^2)) with t = x - 1 >= 0
inline DoubleDouble acoshOf(double x) {
  if (x > 0x1p60)
    return logOf(x) + ln2;
  DoubleDouble t = twoSum(x, -1);
  return log1pOf(t + root(scaled(t, 2) + t * t));
}

/// atanh(x) = log1p(2 x / (1 - x)) / 2 for 0 <= x < 1
inline DoubleDouble atanhOf(double x) { return scaled(log1pOf(DoubleDouble{2 * x} / twoSum(1, -x)), 0.5); }

/// erf(x) = 2 / sqrt(pi) * exp(-x^2) * sum of 2^n x^(2n+1) / (2n+1)!!, whose terms are all of one sign; |x| < 6.5.
/// Below 2^-60 the first term is all; scaled, so that no part of it underflows.
inline ScaledDouble erfOf(double x) {
  if (__builtin_fabs(x) < 0x1p-60)
    return {twoOverRootPi * DoubleDouble{x * 0x1p200}, -200};
  DoubleDouble square = twoProduct(x, x), term{x}, total{x};
  for (int n = 3; n < 600; n += 2) {
    term = term * scaled(square, 2) / DoubleDouble{double(n)};
    total = total + term;
    if (__builtin_fabs(term.high) < __builtin_fabs(total.high) * 0x1p-110)
      break;
  }
  ScaledDouble e = expScaled(-square);
  return {twoOverRootPi * total * e.value, e.power};
}

} // namespace llmc::reference::math

#endif // LLMC_KERNELS_REFERENCE_MATH_EXPONENTIAL_H
