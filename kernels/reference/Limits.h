// The extreme values of compute types: where maxima and minima start.
#ifndef LLMC_KERNELS_REFERENCE_LIMITS_H
#define LLMC_KERNELS_REFERENCE_LIMITS_H

#include "kernels/reference/Types.h"

namespace llmc::reference {

/// -infinity, the least integer, or false.
template <typename T> constexpr T leastValue() {
  if constexpr (isFloat<T>)
    return T(-__builtin_inf());
  else if constexpr (isSigned<T>)
    return T(uint64_t(1) << (sizeof(T) * 8 - 1));
  else
    return T(0);
}

/// +infinity, the greatest integer, or true.
template <typename T> constexpr T greatestValue() {
  if constexpr (isFloat<T>)
    return T(__builtin_inf());
  else if constexpr (isSame<T, bool>)
    return true;
  else
    return T(~leastValue<T>());
}

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_LIMITS_H
