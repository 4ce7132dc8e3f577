// Conversions between element types: `load` to the compute type, `store` back, and `convert` for any pair of types.
//
// The rules, the same on every level and device:
//   float -> float      rounds once, to nearest even; a NaN stays a quiet NaN
//   integer -> float    rounds once, to nearest even
//   float -> integer    truncates; out of range saturates; NaN gives 0 (the ONNX text leaves both open)
//   integer -> integer  keeps the low bits
//   any -> bool         x != 0, so NaN is true; bool -> any gives 0 or 1
#ifndef LLMC_KERNELS_REFERENCE_CONVERT_H
#define LLMC_KERNELS_REFERENCE_CONVERT_H

#include "kernels/reference/Types.h"

namespace llmc::reference {

template <typename To, typename From> inline To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

/// Rounds a double to a 16-bit float with `mantissaBits` explicit mantissa bits.
template <int mantissaBits> LLMC_SHARED inline uint16_t encode16(double value) {
  constexpr int exponentBits = 15 - mantissaBits;
  constexpr int bias = (1 << (exponentBits - 1)) - 1;
  constexpr uint64_t infinity = uint64_t((1 << exponentBits) - 1) << mantissaBits;
  uint64_t bits = bitCast<uint64_t>(value);
  uint64_t sign = (bits >> 63) << 15;
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  int exponent = int((bits >> 52) & 0x7ff);
  if (exponent == 0x7ff) {
    uint64_t quiet = uint64_t(1) << (mantissaBits - 1);
    return uint16_t(sign | infinity | (mantissa ? quiet | (mantissa >> (52 - mantissaBits)) : 0));
  }
  int target = exponent - 1023 + bias;
  int shift = 52 - mantissaBits;
  if (target < 1) { // subnormal in the 16-bit type
    shift += 1 - target;
    target = 1;
  }
  if (exponent == 0 || shift > 53)
    return uint16_t(sign);
  uint64_t significand = mantissa | (uint64_t(1) << 52);
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t tie = uint64_t(1) << (shift - 1);
  kept += rest > tie || (rest == tie && (kept & 1));
  // The significand's leading bit, where present, raises the exponent field from target - 1 to target.
  uint64_t field = (uint64_t(target - 1) << mantissaBits) + kept;
  return uint16_t(sign | (field < infinity ? field : infinity));
}

LLMC_SHARED inline float decode(Half value) {
  uint32_t sign = uint32_t(value.bits & 0x8000) << 16;
  uint32_t exponent = (value.bits >> 10) & 0x1f, mantissa = value.bits & 0x3ff;
  if (exponent == 0x1f)
    return bitCast<float>(sign | 0x7f800000u | (mantissa << 13) | (mantissa ? 0x400000u : 0));
  if (exponent == 0) {
    float magnitude = float(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return bitCast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}
inline float decode(BFloat16 value) { return bitCast<float>(uint32_t(value.bits) << 16); }

/// The value of an element in its compute type.
template <typename T> inline Compute<T> load(T value) { return value; }
inline float load(Half value) { return decode(value); }
inline float load(BFloat16 value) { return decode(value); }
inline bool load(Bool value) { return value.byte != 0; }

/// The nearest double of an integer, with the lost low bits kept as a sticky bit, so that rounding the result once more
/// to 24 bits or fewer rounds the integer correctly.
inline double toDoubleSticky(uint64_t magnitude) {
  if (magnitude >> 53)
    magnitude = (magnitude & ~uint64_t(0xfff)) | ((magnitude & 0xfff) ? 0x800 : 0);
  return double(magnitude);
}
inline double toDoubleSticky(int64_t value) {
  return value < 0 ? -toDoubleSticky(uint64_t(0) - uint64_t(value)) : toDoubleSticky(uint64_t(value));
}

/// Truncates and saturates; NaN gives 0.
template <typename T> inline T toInteger(double value) {
  constexpr T least = isSigned<T> ? T(uint64_t(1) << (sizeof(T) * 8 - 1)) : T(0);
  constexpr T greatest = T(~least);
  // 2^(bits) or 2^(bits - 1): exact in double, one more than the greatest value.
  constexpr double limit = double(uint64_t(1) << (sizeof(T) * 8 - 1)) * (isSigned<T> ? 1 : 2);
  if (value != value)
    return 0;
  if (value >= limit)
    return greatest;
  if (value <= double(least))
    return least;
  return T(value);
}

/// Any value to element type To. `From` is a compute type.
template <typename To, typename From> inline To convert(From value) {
  if constexpr (isBool<To>) {
    return Bool{value != From(0)};
  } else if constexpr (isSame<From, bool>) {
    return convert<To>(uint8_t(value));
  } else if constexpr (isSame<To, From>) {
    return value;
  } else if constexpr (isFloat<From>) {
    if constexpr (isSame<To, Half>)
      return Half{encode16<10>(value)};
    else if constexpr (isSame<To, BFloat16>)
      return BFloat16{encode16<7>(value)};
    else if constexpr (isFloat<To>)
      return To(value);
    else
      return toInteger<To>(value);
  } else if constexpr (isSame<To, Half> || isSame<To, BFloat16>) {
    if constexpr (isSigned<From>)
      return convert<To>(toDoubleSticky(int64_t(value)));
    else
      return convert<To>(toDoubleSticky(uint64_t(value)));
  } else {
    return To(value);
  }
}

/// Stores a compute-type value as an element.
template <typename T> inline T store(Compute<T> value) { return convert<T>(value); }

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_CONVERT_H
