// The one place where a wide value becomes a float or a double: rounds to nearest even once, subnormal results
// included.
#ifndef LLMC_KERNELS_REFERENCE_MATH_ROUNDING_H
#define LLMC_KERNELS_REFERENCE_MATH_ROUNDING_H

#include "kernels/reference/math/DoubleDouble.h"

#include <stdint.h>

namespace llmc::reference::math {

using Bits128 = unsigned __int128;

template <typename F> struct FloatFormat;
template <> struct FloatFormat<float> {
  using Bits = uint32_t;
  static constexpr int mantissaBits = 23, bias = 127;
};
template <> struct FloatFormat<double> {
  using Bits = uint64_t;
  static constexpr int mantissaBits = 52, bias = 1023;
};

/// A finite non-zero double as significand * 2^exponent; the significand has 53 bits unless the double is subnormal.
struct Decomposed {
  bool negative;
  int exponent;
  uint64_t significand;

  explicit Decomposed(double x) {
    uint64_t bits = __builtin_bit_cast(uint64_t, x);
    int field = int(bits >> 52) & 0x7ff;
    negative = bits >> 63;
    significand = bits & ((uint64_t(1) << 52) - 1);
    if (field)
      significand |= uint64_t(1) << 52;
    exponent = (field ? field : 1) - 1075;
  }
};

inline Bits128 shiftRightSticky(Bits128 value, int shift) {
  if (shift <= 0)
    return value;
  if (shift > 127)
    return value != 0;
  return (value >> shift) | ((value & ((Bits128(1) << shift) - 1)) != 0);
}

/// The double of 2^power, for normal results.
inline double powerOfTwo(int power) { return __builtin_bit_cast(double, uint64_t(power + 1023) << 52); }

/// Rounds significand * 2^exponent. The significand is not 0; its lowest bit may be sticky.
template <typename F> F roundOnce(bool negative, Bits128 significand, int exponent) {
  using Format = FloatFormat<F>;
  using Bits = typename Format::Bits;
  for (; !(significand >> 127); --exponent) // the loops here run a few times at most for normalised input
    significand <<= 1;
  int power = exponent + 127, precision = Format::mantissaBits + 1, field = power + Format::bias;
  if (field < 1) {
    precision += field - 1;
    field = 1;
  }
  Bits sign = Bits(negative) << (sizeof(F) * 8 - 1);
  constexpr Bits infinity = Bits(2 * Format::bias + 1) << Format::mantissaBits;
  if (precision < 0)
    return __builtin_bit_cast(F, sign);
  Bits kept = precision == 0 ? 0 : Bits(significand >> (128 - precision));
  Bits128 rest = precision == 0 ? significand : significand << precision;
  constexpr Bits128 tie = Bits128(1) << 127;
  // At precision 0 the bits shifted out are all of the significand, whose top bit is half a unit.
  kept += rest > tie || (rest == tie && (kept & 1));
  Bits result = (Bits(field - 1) << Format::mantissaBits) + kept;
  return __builtin_bit_cast(F, Bits(sign | (field >= 2 * Format::bias + 1 || result > infinity ? infinity : result)));
}

/// Rounds value * 2^power; value is finite. Bits below 2^-88 of the value are noise and rounded away first, so that an
/// exact result (of pow) is not moved off a tie.
template <typename F> F roundOnce(DoubleDouble value, int power = 0) {
  if (value.high == 0)
    return F(value.high);
  Decomposed high(value.high);
  Bits128 significand = Bits128(high.significand) << 73; // top bit at 125
  if (value.low != 0) {
    Decomposed low(value.low);
    Bits128 part = shiftRightSticky(Bits128(low.significand) << 73, high.exponent - low.exponent);
    significand = low.negative == high.negative ? significand + part : significand - part;
  }
  constexpr int noise = 126 - 88;
  significand = ((significand >> noise) + ((significand >> (noise - 1)) & 1)) << noise;
  return roundOnce<F>(high.negative, significand, high.exponent - 73 + power);
}

} // namespace llmc::reference::math

#endif // LLMC_KERNELS_REFERENCE_MATH_ROUNDING_H
