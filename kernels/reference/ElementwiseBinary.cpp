// Binary arithmetic on two tensors of one type, broadcast to the output.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Elementwise.h"

using namespace llmc::reference;

LLMC_REFERENCE_KERNEL(add) {
  return binaryNumber(args, []<typename T>(T a, T b) { return sum(a, b); });
}

LLMC_REFERENCE_KERNEL(mul) {
  return binaryNumber(args, []<typename T>(T a, T b) { return product(a, b); });
}
