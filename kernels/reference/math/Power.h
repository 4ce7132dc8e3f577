// pow in double-double, with the special values of C (IEC 60559).
#ifndef LLMC_KERNELS_REFERENCE_MATH_POWER_H
#define LLMC_KERNELS_REFERENCE_MATH_POWER_H

#include "kernels/reference/math/Functions.h"

namespace llmc::reference::math {

inline bool isIntegral(double y) { return isFinite(y) && __builtin_floor(y) == y; }
inline bool isOddIntegral(double y) { return isIntegral(y) && isIntegral(y / 2) == false; }

/// |x|^y for finite non-zero x and y: exp(y log|x|).
template <typename F> F powMagnitude(double x, double y) {
  // From here on every base but 1 over- or underflows, and y could overflow products.
  if (__builtin_fabs(y) > 0x1p70)
    return (x > 1) == (y > 0) ? infinity<F> : F(0);
  DoubleDouble exponent = logOf(x) * DoubleDouble{y};
  if (__builtin_fabs(exponent.high) > 1000)
    return exponent.high > 0 ? infinity<F> : F(0);
  return roundOnce<F>(expScaled(exponent));
}

template <typename F> F powFunction(F x, F y) {
  if (y == 0 || x == 1)
    return 1;
  if (x != x || y != y)
    return nan<F>;
  F magnitude = F(__builtin_fabs(double(x)));
  if (!isFinite(y))
    return magnitude == 1 ? F(1) : (magnitude > 1) == (y > 0) ? infinity<F> : F(0);
  bool negative = __builtin_signbit(double(x)) && isOddIntegral(y);
  F result;
  if (x == 0 || !isFinite(x))
    result = (x == 0) == (y > 0) ? F(0) : infinity<F>;
  else if (x < 0 && !isIntegral(y))
    return nan<F>;
  else
    result = magnitude == 1 ? F(1) : powMagnitude<F>(magnitude, y);
  return negative ? -result : result;
}

} // namespace llmc::reference::math

#endif // LLMC_KERNELS_REFERENCE_MATH_POWER_H
