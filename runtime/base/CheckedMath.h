//===- CheckedMath.h - Arithmetic on untrusted numbers ------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BASE_CHECKEDMATH_H
#define LLMC_RUNTIME_BASE_CHECKEDMATH_H

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

namespace llmc::rt {

/// The exact result, or nothing if it does not fit.
template <typename Int> std::optional<Int> checkedAdd(Int a, Int b) {
  Int result;
  return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}
template <typename Int> std::optional<Int> checkedSub(Int a, Int b) {
  Int result;
  return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}
template <typename Int> std::optional<Int> checkedMul(Int a, Int b) {
  Int result;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

/// Quotient rounded towards minus infinity, of any int64 and a positive one.
inline int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }
/// Whether [offset, offset + length) lies in [0, size).
inline bool inRange(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}
inline bool isPowerOfTwo(uint64_t value) { return std::has_single_bit(value); }

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_CHECKEDMATH_H
