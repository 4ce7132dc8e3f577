// Unary operations that need no mathematical function. Attributes: none.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Elementwise.h"

using namespace llmc::reference;

/// The least signed integer has no negative and stays.
LLMC_REFERENCE_KERNEL(abs) {
  return unaryNumber(args, []<typename T>(T x) { return magnitude(x); });
}

LLMC_REFERENCE_KERNEL(neg) {
  return unaryNumber(args, []<typename T>(T x) { return negative(x); });
}

/// maximum(x, 0): NaN stays NaN, -0 becomes 0.
LLMC_REFERENCE_KERNEL(relu) {
  return unaryNumber(args, []<typename T>(T x) { return maximum(x, T(0)); });
}

LLMC_REFERENCE_KERNEL(not) {
  if (args->inputs[0].dtype != LLMC_BOOL)
    return LLMC_KERNEL_UNSUPPORTED;
  return mapUnary<Bool, Bool>(args, [](bool x) { return !x; });
}

/// -1, 0 or 1; NaN stays NaN, -0 gives 0.
LLMC_REFERENCE_KERNEL(sign) {
  return unaryNumber(args, []<typename T>(T x) {
    if (isNan(x))
      return x;
    return T(T(x > T(0)) - T(x < T(0)));
  });
}
