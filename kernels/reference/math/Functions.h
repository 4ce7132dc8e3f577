// The functions of Math.h computed in double-double, special values included: NaN in, NaN out; outside the domain NaN.
// `F` is float or double. Odd functions return tiny arguments unchanged, which is their rounded value and keeps -0.
#ifndef LLMC_KERNELS_REFERENCE_MATH_FUNCTIONS_H
#define LLMC_KERNELS_REFERENCE_MATH_FUNCTIONS_H

#include "kernels/reference/math/Exponential.h"
#include "kernels/reference/math/Trigonometric.h"

namespace llmc::reference::math {

template <typename F> inline constexpr F nan = F(__builtin_nan(""));
template <typename F> inline constexpr F infinity = F(__builtin_inf());

inline bool isTiny(double x) { return __builtin_fabs(x) < 0x1p-60; }
inline bool isFinite(double x) { return __builtin_fabs(x) < __builtin_inf(); }

template <typename F> F roundOnce(ScaledDouble x) { return roundOnce<F>(x.value, x.power); }

/// core(|x|) with the sign of x.
template <typename F, typename Core> F odd(F x, Core core) {
  DoubleDouble value = core(__builtin_fabs(double(x)));
  return roundOnce<F>(x < 0 ? -value : value);
}

template <typename F> F expFunction(F x) {
  if (!(__builtin_fabs(double(x)) < 1000))
    return x != x ? x : x > 0 ? infinity<F> : F(0);
  return roundOnce<F>(expScaled(DoubleDouble{x}));
}

template <typename F> F expm1Function(F x) {
  if (x != x || isTiny(x))
    return x;
  if (x > 690) // no longer different from exp
    return expFunction(x);
  return x < -60 ? F(-1) : roundOnce<F>(expm1Wide(DoubleDouble{x}));
}

template <typename F> F logFunction(F x) {
  if (!(x > 0))
    return x == 0 ? -infinity<F> : x != x ? x : nan<F>;
  return isFinite(x) ? roundOnce<F>(logOf(x)) : x;
}

template <typename F> F log1pFunction(F x) {
  if (x != x || isTiny(x))
    return x;
  if (!(x > -1))
    return x == -1 ? -infinity<F> : nan<F>;
  return x > F(0x1p100) ? logFunction(x) : roundOnce<F>(log1pOf(DoubleDouble{x}));
}

template <typename F> F sinFunction(F x) {
  if (!isFinite(x))
    return nan<F>;
  return isTiny(x) ? x : roundOnce<F>(sinOf(x));
}

template <typename F> F cosFunction(F x) { return isFinite(x) ? roundOnce<F>(cosOf(x)) : nan<F>; }

template <typename F> F tanFunction(F x) {
  if (!isFinite(x))
    return nan<F>;
  return isTiny(x) ? x : roundOnce<F>(tanOf(x));
}

template <typename F> F asinFunction(F x) {
  if (!(x >= -1 && x <= 1))
    return nan<F>;
  return isTiny(x) ? x : odd(x, asinOf);
}

template <typename F> F acosFunction(F x) {
  if (!(x >= -1 && x <= 1))
    return nan<F>;
  return roundOnce<F>(x == -1 ? scaled(halfPi, 2) : acosOf(x));
}

template <typename F> F atanFunction(F x) {
  if (x != x || isTiny(x))
    return x;
  if (__builtin_fabs(double(x)) > 0x1p120) // nothing of 1 / x is left
    return roundOnce<F>(x < 0 ? -halfPi : halfPi);
  return odd(x, [](double z) { return atanOf(DoubleDouble{z}); });
}

template <typename F> F sinhFunction(F x) {
  if (x != x || isTiny(x))
    return x;
  if (!(__builtin_fabs(double(x)) < 1000))
    return x > 0 ? infinity<F> : -infinity<F>;
  return roundOnce<F>(sinhOf(x));
}

template <typename F> F coshFunction(F x) {
  if (!(__builtin_fabs(double(x)) < 1000))
    return x != x ? x : infinity<F>;
  return roundOnce<F>(coshOf(x));
}

template <typename F> F tanhFunction(F x) {
  if (x != x || isTiny(x))
    return x;
  if (!(__builtin_fabs(double(x)) < 30)) // 1 - 2 exp(-60) rounds to 1
    return x > 0 ? F(1) : F(-1);
  return roundOnce<F>(tanhOf(x));
}

template <typename F> F asinhFunction(F x) {
  if (!isFinite(x) || isTiny(x))
    return x;
  return odd(x, asinhOf);
}

template <typename F> F acoshFunction(F x) {
  if (!(x >= 1))
    return nan<F>;
  return isFinite(x) ? roundOnce<F>(acoshOf(x)) : x;
}

template <typename F> F atanhFunction(F x) {
  if (!(x > -1 && x < 1))
    return x == 1 ? infinity<F> : x == -1 ? -infinity<F> : nan<F>;
  return isTiny(x) ? x : odd(x, atanhOf);
}

template <typename F> F erfFunction(F x) {
  if (x != x)
    return x;
  if (!(__builtin_fabs(double(x)) < 6.2)) // 1 - erf(6.2) < 2^-58
    return x > 0 ? F(1) : F(-1);
  return x == 0 ? x : roundOnce<F>(erfOf(x));
}

} // namespace llmc::reference::math

#endif // LLMC_KERNELS_REFERENCE_MATH_FUNCTIONS_H
