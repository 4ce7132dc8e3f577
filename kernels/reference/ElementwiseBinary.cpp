// Binary arithmetic on two tensors of one type, broadcast to the output. Integers wrap; small floats compute in float.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Elementwise.h"

using namespace llmc::reference;

LLMC_REFERENCE_KERNEL(add) {
  return binaryNumber(args, []<typename T>(T a, T b) { return sum(a, b); });
}

LLMC_REFERENCE_KERNEL(sub) {
  return binaryNumber(args, []<typename T>(T a, T b) { return difference(a, b); });
}

LLMC_REFERENCE_KERNEL(mul) {
  return binaryNumber(args, []<typename T>(T a, T b) { return product(a, b); });
}

LLMC_REFERENCE_KERNEL(max) {
  return binaryNumber(args, []<typename T>(T a, T b) { return maximum(a, b); });
}

LLMC_REFERENCE_KERNEL(min) {
  return binaryNumber(args, []<typename T>(T a, T b) { return minimum(a, b); });
}

/// Applies a division-like `op`; the result of an integer division by zero is 0, and the launch reports the fault.
template <typename Op> static int32_t divide(const llmc_reference_args *args, Op op) {
  bool byZero = false;
  int32_t status = binaryNumber(args, [&]<typename T>(T a, T b) {
    if constexpr (isInteger<T>)
      if (b == T(0)) {
        byZero = true;
        return T(0);
      }
    return op(a, b);
  });
  return byZero ? fail(args, LLMC_KERNEL_DIVISION_BY_ZERO, 1, 0) : status;
}

/// Integers truncate toward zero.
LLMC_REFERENCE_KERNEL(div) {
  return divide(args, []<typename T>(T a, T b) {
    if constexpr (isFloat<T>)
      return a / b;
    else
      return quotient(a, b);
  });
}

/// ints: fmod. 0: the remainder has the sign of the divisor (Python); 1: of the dividend (C).
LLMC_REFERENCE_KERNEL(mod) {
  if (args->ints[0])
    return divide(args, []<typename T>(T a, T b) { return truncatedRemainder(a, b); });
  return divide(args, []<typename T>(T a, T b) { return flooredRemainder(a, b); });
}
