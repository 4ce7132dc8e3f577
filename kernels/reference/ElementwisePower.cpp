// pow(base, exponent): the result has the type of the base; the exponent may be of any number type.
//
// integer ^ integer  exact modulo 2^bits; a negative exponent truncates 1 / base^n, so only 1 and -1 give something but
//                    0, and base 0 reports a division by zero
// float ^ float      in float when both have at most 32 bits, else in double
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

template <typename T, typename E> static T power(T base, E exponent, bool &byZero) {
  if constexpr (isInteger<T> && isInteger<E>)
    return integerPower(base, exponent, byZero);
  else if constexpr (isSame<T, float> && isSame<E, float>)
    return math::pow(base, exponent);
  else
    return convert<T>(math::pow(double(base), double(exponent)));
}

LLMC_REFERENCE_KERNEL(pow) {
  const llmc_tensor &a = args->inputs[0], &b = args->inputs[1], &y = args->outputs[0];
  Dims shape = shapeOf(y);
  const Dims strides[] = {broadcastStrides(a, shape), broadcastStrides(b, shape), stridesOf(y)};
  bool byZero = false;
  int32_t status = dispatchNumber(a.dtype, [&]<typename T>() {
    return dispatchNumber(b.dtype, [&]<typename E>() {
      const T *base = dataOf<T>(a);
      const E *exponent = dataOf<E>(b);
      T *to = dataOf<T>(y);
      forEachElement(shape, strides, [&](const int64_t *at) {
        to[at[2]] = store<T>(power<Compute<T>>(load(base[at[0]]), load(exponent[at[1]]), byZero));
      });
      return int32_t(LLMC_KERNEL_OK);
    });
  });
  return byZero ? fail(args, LLMC_KERNEL_DIVISION_BY_ZERO, 1, 0) : status;
}
