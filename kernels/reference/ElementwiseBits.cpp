// Operations on the bits of integers; broadcast to the output.
#include "kernels/reference/Elementwise.h"

using namespace llmc::reference;

LLMC_REFERENCE_KERNEL(bitwise_not) {
  return dispatchInteger(args->inputs[0].dtype, [&]<typename T>() { return mapUnary<T, T>(args, [](T x) { return T(~x); }); });
}

template <typename Op> static int32_t binaryBits(const llmc_reference_args *args, Op op) {
  return dispatchInteger(args->inputs[0].dtype, [&]<typename T>() { return mapBinary<T, T>(args, op); });
}

LLMC_REFERENCE_KERNEL(bitwise_and) {
  return binaryBits(args, []<typename T>(T a, T b) { return T(a & b); });
}

LLMC_REFERENCE_KERNEL(bitwise_or) {
  return binaryBits(args, []<typename T>(T a, T b) { return T(a | b); });
}

LLMC_REFERENCE_KERNEL(bitwise_xor) {
  return binaryBits(args, []<typename T>(T a, T b) { return T(a ^ b); });
}

/// ints: left. A shift by the width or more, or by a negative number, moves all bits out: 0, or the sign to the right.
LLMC_REFERENCE_KERNEL(bit_shift) {
  bool left = args->ints[0] != 0;
  return binaryBits(args, [left]<typename T>(T value, T count) {
    bool isOut = count < T(0) || uint64_t(count) >= 8 * sizeof(T);
    if (left)
      return isOut ? T(0) : T(uint64_t(value) << count);
    return isOut ? T(value < T(0) ? -1 : 0) : T(value >> count);
  });
}
