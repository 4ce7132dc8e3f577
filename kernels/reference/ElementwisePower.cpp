// pow(base, exponent): the result has the type of the base; the exponent may be of any number type.
//
// integer ^ integer  exact modulo 2^bits; a negative exponent truncates 1 / base^n, so only 1 and -1 give something but
//                    0, and base 0 reports a division by zero
// float ^ float      in float, or in double if either is a double
// other mixtures     in double, then converted as by cast
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Elementwise.h"

using namespace llmc::reference;

/// base^exponent modulo 2^64.
static uint64_t powerOf(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

/// E is int64_t or uint64_t.
template <typename T, typename E> static T integerPower(T base, E exponent, bool &byZero) {
  if (exponent >= E(0))
    return T(powerOf(uint64_t(base), uint64_t(exponent)));
  byZero |= base == T(0);
  if (base == T(1))
    return 1;
  if (isSigned<T> && base == T(-1))
    return exponent % 2 == 0 ? T(1) : T(-1);
  return 0;
}

/// `inFloat`: the exponent comes from a type of at most 32 bits.
template <typename T> static T floatPower(T base, double exponent, bool inFloat) {
  if constexpr (isSame<T, float>)
    if (inFloat)
      return math::pow(base, float(exponent));
  return convert<T>(math::pow(double(base), exponent));
}

LLMC_REFERENCE_KERNEL(pow) {
  ElementwisePlan<3> plan(args);
  const llmc_tensor &exponents = args->inputs[1];
  bool byZero = false, isDouble = exponents.dtype == LLMC_F64;
  bool isFloatExponent = isFloatType(exponents.dtype);
  int32_t status = dispatchNumber(args->inputs[0].dtype, [&]<typename T>() {
    const T *bases = dataOf<T>(args->inputs[0]);
    T *to = dataOf<T>(args->outputs[0]);
    // power(base, offset of the exponent)
    auto loop = [&](auto power) {
      forEachElement(plan.shape, plan.strides,
                     [&](const int64_t *at) { to[at[2]] = store<T>(power(load(bases[at[0]]), at[1])); });
      return int32_t(LLMC_KERNEL_OK);
    };
    using C = Compute<T>;
    if (isFloatExponent)
      return loop([&](C base, int64_t at) { return floatPower(base, readFloat(exponents, at), !isDouble); });
    if constexpr (isFloat<T>) {
      return loop([&](C base, int64_t at) {
        int64_t value = readInteger(exponents, at);
        return floatPower(base, exponents.dtype == LLMC_U64 ? double(uint64_t(value)) : double(value), false);
      });
    } else {
      if (exponents.dtype == LLMC_U64)
        return loop(
            [&](C base, int64_t at) { return integerPower(base, uint64_t(readInteger(exponents, at)), byZero); });
      return loop([&](C base, int64_t at) { return integerPower(base, readInteger(exponents, at), byZero); });
    }
  });
  return byZero ? fail(args, LLMC_KERNEL_DIVISION_BY_ZERO, 1, 0) : status;
}
