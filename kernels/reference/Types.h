// Element types as C++ types, what they are computed in, and the switch from a run-time dtype to a compile-time one.
#ifndef LLMC_KERNELS_REFERENCE_TYPES_H
#define LLMC_KERNELS_REFERENCE_TYPES_H

#include "kernels/abi/kernel_abi.h"

/// One copy of a helper for all element types, so that the type switches do not multiply it.
#define LLMC_SHARED [[gnu::noinline]]

namespace llmc::reference {

// Not the compiler's half types: those call its support library on levels without hardware conversions.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
/// One byte. Any value but 0 reads as true, so that a stray byte can not become an invalid C++ bool.
struct Bool {
  uint8_t byte;
};

template <typename A, typename B> inline constexpr bool isSame = false;
template <typename A> inline constexpr bool isSame<A, A> = true;

template <typename T>
inline constexpr bool isFloat = isSame<T, float> || isSame<T, double> || isSame<T, Half> || isSame<T, BFloat16>;
template <typename T> inline constexpr bool isBool = isSame<T, Bool>;
template <typename T> inline constexpr bool isInteger = !isFloat<T> && !isBool<T>;
template <typename T> inline constexpr bool isSigned = isInteger<T> && T(-1) < T(0);
template <> inline constexpr bool isSigned<Half> = false;
template <> inline constexpr bool isSigned<BFloat16> = false;
template <> inline constexpr bool isSigned<Bool> = false;

/// The type a value of T is computed in: the small floats in float, truth values in bool, all others in themselves.
template <typename T> struct ComputeType {
  using Type = T;
};
template <> struct ComputeType<Half> {
  using Type = float;
};
template <> struct ComputeType<BFloat16> {
  using Type = float;
};
template <> struct ComputeType<Bool> {
  using Type = bool;
};
template <typename T> using Compute = typename ComputeType<T>::Type;

/// What long sums and products of T accumulate in: double for floats.
template <typename T> struct WideType {
  using Type = T;
};
template <> struct WideType<float> {
  using Type = double;
};
template <typename T> using Wide = typename WideType<Compute<T>>::Type;

/// Calls `body.template operator()<T>()` for a float dtype and returns its status.
template <typename Body> int32_t dispatchFloat(int32_t dtype, Body body) {
  switch (dtype) {
  case LLMC_F32:
    return body.template operator()<float>();
  case LLMC_F64:
    return body.template operator()<double>();
  case LLMC_F16:
    return body.template operator()<Half>();
  case LLMC_BF16:
    return body.template operator()<BFloat16>();
  default:
    return LLMC_KERNEL_UNSUPPORTED;
  }
}

template <typename Body> int32_t dispatchInteger(int32_t dtype, Body body) {
  switch (dtype) {
  case LLMC_I8:
    return body.template operator()<int8_t>();
  case LLMC_U8:
    return body.template operator()<uint8_t>();
  case LLMC_I16:
    return body.template operator()<int16_t>();
  case LLMC_U16:
    return body.template operator()<uint16_t>();
  case LLMC_I32:
    return body.template operator()<int32_t>();
  case LLMC_U32:
    return body.template operator()<uint32_t>();
  case LLMC_I64:
    return body.template operator()<int64_t>();
  case LLMC_U64:
    return body.template operator()<uint64_t>();
  default:
    return LLMC_KERNEL_UNSUPPORTED;
  }
}

/// Floats and integers.
template <typename Body> int32_t dispatchNumber(int32_t dtype, Body body) {
  int32_t status = dispatchFloat(dtype, body);
  return status == LLMC_KERNEL_UNSUPPORTED ? dispatchInteger(dtype, body) : status;
}

/// Floats, integers and bool.
template <typename Body> int32_t dispatchAny(int32_t dtype, Body body) {
  return dtype == LLMC_BOOL ? body.template operator()<Bool>() : dispatchNumber(dtype, body);
}

/// The 64-bit integer of T's signedness.
template <bool hasSign> struct WidestType {
  using Type = uint64_t;
};
template <> struct WidestType<true> {
  using Type = int64_t;
};
template <typename T> using Widest = typename WidestType<isSigned<T>>::Type;

inline bool isFloatType(int32_t dtype) {
  return dtype == LLMC_F32 || dtype == LLMC_F64 || dtype == LLMC_F16 || dtype == LLMC_BF16;
}

inline int64_t sizeOf(int32_t dtype) {
  switch (dtype) {
  case LLMC_I8:
  case LLMC_U8:
  case LLMC_BOOL:
    return 1;
  case LLMC_F16:
  case LLMC_BF16:
  case LLMC_I16:
  case LLMC_U16:
    return 2;
  case LLMC_F32:
  case LLMC_I32:
  case LLMC_U32:
    return 4;
  case LLMC_F64:
  case LLMC_I64:
  case LLMC_U64:
    return 8;
  default:
    return 0;
  }
}

/// Calls body for an unsigned type of the dtype's width: for kernels that move elements without looking at them.
template <typename Body> int32_t dispatchWidth(int32_t dtype, Body body) {
  switch (sizeOf(dtype)) {
  case 1:
    return body.template operator()<uint8_t>();
  case 2:
    return body.template operator()<uint16_t>();
  case 4:
    return body.template operator()<uint32_t>();
  case 8:
    return body.template operator()<uint64_t>();
  default:
    return LLMC_KERNEL_UNSUPPORTED;
  }
}

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_TYPES_H
