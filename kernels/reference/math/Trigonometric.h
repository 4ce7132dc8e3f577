// Trigonometric functions and their inverses in double-double, for finite arguments.
#ifndef LLMC_KERNELS_REFERENCE_MATH_TRIGONOMETRIC_H
#define LLMC_KERNELS_REFERENCE_MATH_TRIGONOMETRIC_H

#include "kernels/reference/math/Rounding.h"

namespace llmc::reference::math {

/// The bits of 2 / pi behind the binary point, first 1280.
inline constexpr uint64_t twoOverPi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

/// 64 of these bits from position `first`; those in front of the table are 0.
inline uint64_t twoOverPiBits(int first) {
  auto word = [](int i) { return i >= 0 && i < 20 ? twoOverPi[i] : 0; };
  int index = first >> 6, shift = first & 63;
  return shift ? word(index) << shift | word(index + 1) >> (64 - shift) : word(index);
}

/// x = quadrant * pi / 2 + rest, modulo 2 pi.
struct Reduced {
  int quadrant;
  DoubleDouble rest;
};

/// Payne and Hanek 1983: the product of x with just those bits of 2 / pi that matter modulo 4, in fixed point with two
/// bits in front of the point and 254 behind: enough for any double's nearest miss of a multiple of pi / 2 (2^-62).
inline Reduced reduceQuadrant(double x) {
  if (x > -0.785 && x < 0.785)
    return {0, {x}};
  Decomposed parts(x);
  int first = parts.exponent - 2;
  uint64_t words[4], carry = 0; // most significant first
  for (int i = 3; i >= 0; --i) {
    Bits128 p = Bits128(parts.significand) * twoOverPiBits(first + 64 * i) + carry;
    words[i] = uint64_t(p);
    carry = uint64_t(p >> 64);
  }
  int quadrant = int(words[0] >> 62);
  words[0] &= ~uint64_t(0) >> 2;
  bool above = words[0] >> 61; // the fraction is at least one half: take it from the next quadrant
  if (above) {
    quadrant = (quadrant + 1) & 3;
    for (int i = 0; i < 4; ++i)
      words[i] = ~words[i]; // 1 - fraction, but for 2^-254
    words[0] &= ~uint64_t(0) >> 2;
  }
  DoubleDouble fraction{};
  for (int i = 3; i >= 0; --i) {
    double unit = powerOfTwo(64 * (3 - i) - 254);
    fraction = fraction + DoubleDouble{double(uint32_t(words[i])) * unit};
    fraction = fraction + DoubleDouble{double(uint32_t(words[i] >> 32)) * unit * 0x1p32};
  }
  DoubleDouble rest = fraction * halfPi;
  if (above != parts.negative)
    rest = -rest;
  return {parts.negative ? -quadrant & 3 : quadrant, rest};
}

/// sin(r) and cos(r) for |r| <= pi / 4 by Taylor's series.
inline DoubleDouble sinSmall(DoubleDouble r) {
  DoubleDouble square = r * r, p{1};
  for (int n = 28; n > 0; n -= 2)
    p = DoubleDouble{1} - square * p / DoubleDouble{double(n * (n + 1))};
  return r * p;
}
inline DoubleDouble cosSmall(DoubleDouble r) {
  DoubleDouble square = r * r, p{1};
  for (int n = 29; n > 0; n -= 2)
    p = DoubleDouble{1} - square * p / DoubleDouble{double(n * (n + 1))};
  return p;
}

inline DoubleDouble sinOfQuadrant(Reduced x) {
  DoubleDouble value = x.quadrant & 1 ? cosSmall(x.rest) : sinSmall(x.rest);
  return x.quadrant & 2 ? -value : value;
}
inline DoubleDouble sinOf(double x) { return sinOfQuadrant(reduceQuadrant(x)); }
inline DoubleDouble cosOf(double x) {
  Reduced r = reduceQuadrant(x);
  return sinOfQuadrant({(r.quadrant + 1) & 3, r.rest});
}
inline DoubleDouble tanOf(double x) {
  Reduced r = reduceQuadrant(x);
  DoubleDouble s = sinSmall(r.rest), c = cosSmall(r.rest);
  return r.quadrant & 1 ? -(c / s) : s / c;
}

/// atan(z) for z >= 0: 1 / z above 1, then halved four times by atan(z) = 2 atan(z / (1 + sqrt(1 + z^2))), then the
/// series.
inline DoubleDouble atanOf(DoubleDouble z) {
  bool inverse = z.high > 1;
  if (inverse)
    z = DoubleDouble{1} / z;
  for (int i = 0; i < 4; ++i)
    z = z / (DoubleDouble{1} + root(DoubleDouble{1} + z * z));
  DoubleDouble square = z * z, total{};
  for (int n = 25; n > 0; n -= 2)
    total = DoubleDouble{1} / DoubleDouble{double(n)} - total * square;
  DoubleDouble angle = scaled(z * total, 16);
  return inverse ? halfPi - angle : angle;
}

/// asin(x) for 0 <= x <= 1
inline DoubleDouble asinOf(double x) {
  if (x == 1)
    return halfPi;
  return atanOf(DoubleDouble{x} / root(twoSum(1, -x) * twoSum(1, x)));
}

/// acos(x) = 2 atan(sqrt((1 - x) / (1 + x))) for -1 < x <= 1
inline DoubleDouble acosOf(double x) { return scaled(atanOf(root(twoSum(1, -x) / twoSum(1, x))), 2); }

} // namespace llmc::reference::math

#endif // LLMC_KERNELS_REFERENCE_MATH_TRIGONOMETRIC_H
