// Unary operations on floats that round or use a mathematical function. Small floats are computed in float.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Elementwise.h"

using namespace llmc::reference;

#define LLMC_UNARY_MATH(mnemonic, function)                                                                            \
  LLMC_REFERENCE_KERNEL(mnemonic) {                                                                                    \
    return unaryFloat(args, []<typename T>(T x) { return math::function(x); });                                        \
  }
LLMC_UNARY_MATH(exp, exp)
LLMC_UNARY_MATH(log, log)
LLMC_UNARY_MATH(sqrt, sqrt)
LLMC_UNARY_MATH(erf, erf)
LLMC_UNARY_MATH(tanh, tanh)
LLMC_UNARY_MATH(sin, sin)
LLMC_UNARY_MATH(cos, cos)
LLMC_UNARY_MATH(tan, tan)
LLMC_UNARY_MATH(asin, asin)
LLMC_UNARY_MATH(acos, acos)
LLMC_UNARY_MATH(atan, atan)
LLMC_UNARY_MATH(sinh, sinh)
LLMC_UNARY_MATH(cosh, cosh)
LLMC_UNARY_MATH(asinh, asinh)
LLMC_UNARY_MATH(acosh, acosh)
LLMC_UNARY_MATH(atanh, atanh)
LLMC_UNARY_MATH(floor, floor)
LLMC_UNARY_MATH(ceil, ceil)
LLMC_UNARY_MATH(round, roundEven)

LLMC_REFERENCE_KERNEL(reciprocal) {
  return unaryFloat(args, []<typename T>(T x) { return T(1) / x; });
}

LLMC_REFERENCE_KERNEL(is_nan) {
  return dispatchFloat(args->inputs[0].dtype,
                       [&]<typename T>() { return mapUnary<T, Bool>(args, [](auto x) { return isNan(x); }); });
}
