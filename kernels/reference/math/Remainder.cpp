// fmod: exact, by long division of the significands one bit at a time.
#include "kernels/reference/math/Functions.h"

using namespace llmc::reference::math;

extern "C" double llmc_fmod(double x, double y) {
  if (x != x || y != y || !isFinite(x) || y == 0)
    return nan<double>;
  if (!isFinite(y) || __builtin_fabs(x) < __builtin_fabs(y))
    return x;
  Decomposed dividend(x), divisor(y);
  uint64_t rest = dividend.significand;
  // |x| >= |y|: the exponent of x is not the smaller one.
  for (int left = dividend.exponent - divisor.exponent;; --left) {
    rest = rest >= divisor.significand ? rest % divisor.significand : rest;
    if (left == 0)
      break;
    rest <<= 1;
  }
  if (rest == 0)
    return dividend.negative ? -0.0 : 0.0;
  return roundOnce<double>(dividend.negative, rest, divisor.exponent);
}
