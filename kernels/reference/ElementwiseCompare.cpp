// Comparisons (a NaN is unordered and unequal to everything) and logic on truth values; broadcast to the output.
#include "kernels/reference/Elementwise.h"

using namespace llmc::reference;

template <typename Op> static int32_t compare(const llmc_reference_args *args, Op op) {
  return dispatchAny(args->inputs[0].dtype, [&]<typename T>() { return mapBinary<T, Bool>(args, op); });
}

LLMC_REFERENCE_KERNEL(equal) {
  return compare(args, [](auto a, auto b) { return a == b; });
}

LLMC_REFERENCE_KERNEL(less) {
  return compare(args, [](auto a, auto b) { return a < b; });
}

LLMC_REFERENCE_KERNEL(less_equal) {
  return compare(args, [](auto a, auto b) { return a <= b; });
}

LLMC_REFERENCE_KERNEL(greater) {
  return compare(args, [](auto a, auto b) { return a > b; });
}

LLMC_REFERENCE_KERNEL(greater_equal) {
  return compare(args, [](auto a, auto b) { return a >= b; });
}

template <typename Op> static int32_t logic(const llmc_reference_args *args, Op op) {
  return args->inputs[0].dtype == LLMC_BOOL ? mapBinary<Bool, Bool>(args, op) : LLMC_KERNEL_UNSUPPORTED;
}

LLMC_REFERENCE_KERNEL(and) {
  return logic(args, [](bool a, bool b) { return a && b; });
}

LLMC_REFERENCE_KERNEL(or) {
  return logic(args, [](bool a, bool b) { return a || b; });
}

LLMC_REFERENCE_KERNEL(xor) {
  return logic(args, [](bool a, bool b) { return a != b; });
}
