// The mathematical functions against the C library's long double: correctly rounded but where that can not tell, and
// the double-double versions (level v2) against the packaged ones (levels with FMA).
#include "kernels/reference/math/Math.h"
#include "kernels/reference/math/Power.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

using namespace llmc::reference;

namespace {

template <typename F> bool same(F a, F b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Specials, edges, every binade with both signs, and random bits.
template <typename F> std::vector<F> arguments() {
  using Bits = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
  std::vector<F> values = {F(0),
                           F(1),
                           F(0.5),
                           F(2),
                           F(100),
                           F(INFINITY),
                           F(NAN),
                           std::numeric_limits<F>::denorm_min(),
                           std::numeric_limits<F>::min(),
                           std::numeric_limits<F>::max(),
                           std::nextafter(F(1), F(0)),
                           std::nextafter(F(1), F(2)),
                           F(0x1.921fb54442d18p+0),
                           F(88.7),
                           F(709.7),
                           F(745.1)};
  std::mt19937_64 random(11);
  constexpr int exponents = sizeof(F) == 4 ? 255 : 2047, mantissa = sizeof(F) == 4 ? 23 : 52;
  for (int e = 0; e < exponents; ++e)
    values.push_back(std::bit_cast<F>(Bits(Bits(e) << mantissa | (Bits(random()) & ((Bits(1) << mantissa) - 1)))));
  for (int i = 0; i < 1500; ++i) // the range in which most functions do something
    values.push_back(F(double(random() >> 11) * 0x1p-53 * (i % 3 == 0 ? 1 : i % 3 == 1 ? 12 : 800)));
  size_t count = values.size();
  for (size_t i = 0; i < count; ++i)
    values.push_back(-values[i]);
  return values;
}

/// Whether `result` is `exact` rounded, or may be: `exact` has 64 bits and an error of an ulp or so.
template <typename F> bool isRounded(F result, long double exact) {
  if (same(result, F(exact)))
    return true;
  long double slack = std::fabs(exact) * 0x1p-60L;
  return F(exact - slack) != F(exact + slack) && (same(result, F(exact - slack)) || same(result, F(exact + slack)));
}

template <typename F, typename Function, typename Exact>
void checkUnary(const char *name, Function function, Exact exact) {
  for (F x : arguments<F>()) {
    F result = function(x);
    // The C library's value near its own underflow has fewer bits.
    ASSERT_TRUE(isRounded(result, exact((long double)x)))
        << name << '(' << std::hexfloat << x << ") = " << result << ", not " << F(exact(x));
  }
}

} // namespace

#define LLMC_MATH_UNARY(name)                                                                                          \
  TEST(Math, name) {                                                                                                   \
    auto exact = [](long double x) { return std::name(x); };                                                           \
    checkUnary<float>(#name "f", llmc_##name##f, exact);                                                               \
    checkUnary<double>(#name, llmc_##name, exact);                                                                     \
  }                                                                                                                    \
  TEST(BaselineMath, name) {                                                                                           \
    for (float x : arguments<float>())                                                                                 \
      ASSERT_TRUE(same(math::name##Function(x), llmc_##name##f(x))) << std::hexfloat << x;                             \
    for (double x : arguments<double>())                                                                               \
      ASSERT_TRUE(same(math::name##Function(x), llmc_##name(x))) << std::hexfloat << x;                                \
  }
#include "kernels/reference/math/Math.def"
#undef LLMC_MATH_UNARY

template <typename F, typename Function> static void checkPow(Function function) {
  std::vector<F> values = arguments<F>();
  std::mt19937 random(5);
  for (F special :
       {F(0), F(-0.0), F(1), F(-1), F(INFINITY), F(-INFINITY), F(NAN), F(2), F(-3), F(0.5), F(1e30), F(-1e30)})
    for (F y : {F(0), F(-0.0), F(1), F(-1), F(INFINITY), F(-INFINITY), F(NAN), F(3), F(-2), F(0.5), F(1e30), F(-1e30)})
      ASSERT_TRUE(same(function(special, y), std::pow(special, y))) << special << " ^ " << y;
  for (int i = 0; i < 20000; ++i) {
    F x = values[random() % values.size()], y = values[random() % values.size()];
    if (i % 2) // exact powers and ties between two results
      x = F(random() % 4096) / 64, y = F(int(random() % 64) - 32) / 4;
    ASSERT_TRUE(isRounded(function(x, y), std::pow((long double)x, (long double)y)))
        << std::hexfloat << x << " ^ " << y;
  }
}

TEST(Math, pow) {
  checkPow<float>(llmc_powf);
  checkPow<double>(llmc_pow);
}

TEST(BaselineMath, pow) { checkPow<float>(math::powFunction<float>); }

TEST(Math, fmod) {
  std::vector<double> values = arguments<double>();
  std::mt19937 random(6);
  for (int i = 0; i < 20000; ++i) {
    double x = values[random() % values.size()], y = values[random() % values.size()];
    ASSERT_TRUE(same(llmc_fmod(x, y), std::fmod(x, y))) << std::hexfloat << x << " % " << y;
  }
}
