// a * b + c with one rounding in integer arithmetic, for levels without the instruction.
#include "kernels/reference/math/Functions.h"

using namespace llmc::reference::math;

namespace {

/// A non-zero value with its highest bit at 125: room for a sum, and for the carry of one.
struct Wide {
  bool negative;
  int exponent;
  Bits128 significand;

  Wide(bool negative, Bits128 bits, int exponent) : negative(negative), exponent(exponent), significand(bits) {
    for (; !(significand >> 125); --this->exponent)
      significand <<= 1;
  }
};

template <typename F> F fusedMultiplyAdd(F a, F b, F c) {
  // With infinities, NaNs or a zero factor the plain expression rounds nothing; but a product must not overflow alone.
  if (!isFinite(a) || !isFinite(b) || a == 0 || b == 0)
    return a * b + c;
  if (!isFinite(c))
    return c;
  Decomposed da(a), db(b), dc(c);
  Wide product(da.negative != db.negative, Bits128(da.significand) * db.significand, da.exponent + db.exponent);
  if (c == 0)
    return roundOnce<F>(product.negative, product.significand, product.exponent);
  Wide addend(dc.negative, dc.significand, dc.exponent);
  bool productIsGreater = product.exponent != addend.exponent ? product.exponent > addend.exponent
                                                              : product.significand >= addend.significand;
  const Wide &high = productIsGreater ? product : addend, &low = productIsGreater ? addend : product;
  Bits128 part = shiftRightSticky(low.significand, high.exponent - low.exponent);
  Bits128 total = high.negative == low.negative ? high.significand + part : high.significand - part;
  return total == 0 ? F(0) : roundOnce<F>(high.negative, total, high.exponent);
}

} // namespace

extern "C" float llmc_fmaf(float a, float b, float c) { return fusedMultiplyAdd(a, b, c); }
extern "C" double llmc_fma(double a, double b, double c) { return fusedMultiplyAdd(a, b, c); }
