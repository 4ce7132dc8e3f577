// Arithmetic on compute types without undefined behaviour: integers wrap.
#ifndef LLMC_KERNELS_REFERENCE_ARITHMETIC_H
#define LLMC_KERNELS_REFERENCE_ARITHMETIC_H

#include "kernels/reference/Types.h"
#include "kernels/reference/math/Math.h"

namespace llmc::reference {

template <typename T> inline T sum(T a, T b) {
  if constexpr (isFloat<T>)
    return a + b;
  else
    return T(uint64_t(a) + uint64_t(b));
}

template <typename T> inline T difference(T a, T b) {
  if constexpr (isFloat<T>)
    return a - b;
  else
    return T(uint64_t(a) - uint64_t(b));
}

template <typename T> inline T product(T a, T b) {
  if constexpr (isFloat<T>)
    return a * b;
  else
    return T(uint64_t(a) * uint64_t(b));
}

template <typename T> inline T negative(T x) {
  if constexpr (isFloat<T>)
    return -x;
  else
    return T(uint64_t(0) - uint64_t(x));
}

/// a * b + c; one rounding for floats.
template <typename T> inline T multiplyAdd(T a, T b, T c) {
  if constexpr (isFloat<T>)
    return math::fma(a, b, c);
  else
    return sum(product(a, b), c);
}

/// Truncates; the divisor is not 0. The least integer divided by -1 wraps to itself.
template <typename T> inline T quotient(T a, T b) {
  if constexpr (isSigned<T>)
    if (b == T(-1))
      return negative(a);
  return T(a / b);
}

/// The remainder with the sign of the dividend; an integer divisor is not 0.
template <typename T> inline T truncatedRemainder(T a, T b) {
  if constexpr (isFloat<T>) {
    return math::fmod(a, b);
  } else {
    if constexpr (isSigned<T>)
      if (b == T(-1))
        return 0;
    return T(a % b);
  }
}

/// The remainder with the sign of the divisor, as in Python; an integer divisor is not 0.
template <typename T> inline T flooredRemainder(T a, T b) {
  T rest = truncatedRemainder(a, b);
  if (rest == T(0)) {
    if constexpr (isFloat<T>)
      return __builtin_signbit(b) ? -T(0) : T(0);
    return rest;
  }
  return (rest < T(0)) != (b < T(0)) ? T(rest + b) : rest;
}

template <typename T> inline bool isNan(T x) {
  if constexpr (isFloat<T>)
    return x != x;
  else
    return false;
}

template <typename T> inline T magnitude(T x) {
  if constexpr (isSame<T, float>)
    return __builtin_fabsf(x);
  else if constexpr (isSame<T, double>)
    return __builtin_fabs(x);
  else
    return x < T(0) ? negative(x) : x;
}

/// NaN if either is NaN; +0 is greater than -0.
template <typename T> inline T maximum(T a, T b) {
  if (isNan(a) || isNan(b))
    return isNan(a) ? a : b;
  if constexpr (isFloat<T>)
    if (a == b)
      return __builtin_signbit(a) ? b : a;
  return a > b ? a : b;
}

/// NaN if either is NaN; -0 is less than +0.
template <typename T> inline T minimum(T a, T b) {
  if (isNan(a) || isNan(b))
    return isNan(a) ? a : b;
  if constexpr (isFloat<T>)
    if (a == b)
      return __builtin_signbit(a) ? a : b;
  return a < b ? a : b;
}

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_ARITHMETIC_H
