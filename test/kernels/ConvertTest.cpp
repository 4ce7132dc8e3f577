// 16-bit floats against exhaustive and bitwise definitions.
#include "kernels/reference/Convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace llmc::reference;

TEST(Convert, HalvesDecodeToTheirValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    int exponent = (bits >> 10) & 0x1f;
    double mantissa = bits & 0x3ff, value;
    if (exponent == 0x1f)
      value = mantissa == 0 ? INFINITY : NAN;
    else
      value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    value = bits & 0x8000 ? -value : value;
    float decoded = decode(Half{uint16_t(bits)});
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(decoded));
    else
      EXPECT_EQ(bitCast<uint32_t>(decoded), bitCast<uint32_t>(float(value))) << bits;
  }
}

/// The neighbours of a 16-bit float and the middles between them round to it or, on a tie, to the even one.
template <typename T> static void checkRounding(uint32_t greatestFinite) {
  for (uint32_t bits = 0; bits < greatestFinite; ++bits) {
    double low = decode(T{uint16_t(bits)}), high = decode(T{uint16_t(bits + 1)}), middle = low + (high - low) / 2;
    ASSERT_EQ(convert<T>(low).bits, bits);
    ASSERT_EQ(convert<T>(-low).bits, bits | 0x8000);
    ASSERT_EQ(convert<T>(middle).bits, bits + (bits & 1));
    ASSERT_EQ(convert<T>(std::nextafter(middle, 0)).bits, bits);
    ASSERT_EQ(convert<T>(std::nextafter(middle, INFINITY)).bits, bits + 1);
  }
  double greatest = decode(T{uint16_t(greatestFinite)}), step = greatest - decode(T{uint16_t(greatestFinite - 1)});
  EXPECT_EQ(convert<T>(greatest + step / 2).bits, greatestFinite + 1); // the tie goes to infinity
  EXPECT_EQ(convert<T>(std::nextafter(greatest + step / 2, 0)).bits, greatestFinite);
  EXPECT_EQ(convert<T>(1e300).bits, greatestFinite + 1);
  EXPECT_EQ(convert<T>(double(INFINITY)).bits, greatestFinite + 1);
  EXPECT_EQ(convert<T>(-1e-300).bits, 0x8000);
  EXPECT_TRUE(std::isnan(decode(convert<T>(double(NAN)))));
}

TEST(Convert, HalvesRoundToNearestEven) { checkRounding<Half>(0x7bff); }
TEST(Convert, BFloatsRoundToNearestEven) { checkRounding<BFloat16>(0x7f7f); }

TEST(Convert, FloatsGiveTheSameAsDoubles) {
  std::mt19937 random(7);
  for (int i = 0; i < 100000; ++i) {
    float x = bitCast<float>(uint32_t(random()));
    if (std::isnan(x))
      continue;
    ASSERT_EQ(convert<Half>(x).bits, convert<Half>(double(x)).bits);
    ASSERT_EQ(convert<BFloat16>(x).bits, convert<BFloat16>(double(x)).bits);
  }
}

TEST(Convert, IntegersSaturate) {
  EXPECT_EQ(toInteger<int8_t>(127.9), 127);
  EXPECT_EQ(toInteger<int8_t>(128), 127);
  EXPECT_EQ(toInteger<int8_t>(-128.9), -128);
  EXPECT_EQ(toInteger<int8_t>(-129), -128);
  EXPECT_EQ(toInteger<uint8_t>(-0.9), 0);
  EXPECT_EQ(toInteger<uint8_t>(255.9), 255);
  EXPECT_EQ(toInteger<uint64_t>(0x1p64), UINT64_MAX);
  EXPECT_EQ(toInteger<uint64_t>(0x1.fffffffffffffp63), 0xfffffffffffff800u);
  EXPECT_EQ(toInteger<int64_t>(0x1p63), INT64_MAX);
  EXPECT_EQ(toInteger<int64_t>(-0x1p63), INT64_MIN);
  EXPECT_EQ(toInteger<int64_t>(double(NAN)), 0);
}
