// Unary kernels, cast and where.
#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

/// Finite values, edges and specials; enough for each branch of the kernels.
static const std::vector<double> edges = {0.0,   -0.0,     1,         -1,   0.5, -0.5, 1.5,  2.5,  -2.5,
                                          3.7,   -3.7,     10,        -10,  89,  -89,  -104, 1e-3, -1e-3,
                                          1e-30, 0x1p-149, -0x1p-149, 1e30, inf, -inf, NaN};

/// Applies `function`, in double, to `values` as T holds them, and expects the kernel to give its results rounded to T.
template <typename T, typename Function>
static void expectMap(const char *mnemonic, const std::vector<double> &values, Function function, double tolerance = 0,
                      const Ints &ints = {}, const Floats &floats = {}) {
  std::vector<double> expected;
  for (double value : values)
    expected.push_back(function(double(load(convert<T>(value)))));
  int64_t count = int64_t(values.size());
  expectKernel(mnemonic, {make<T>({count}, values)}, make<T>({count}, expected), ints, floats, tolerance);
}

/// The functions of C in double, rounded to each float type; double itself may differ in the last place.
template <typename Function> static void expectFloats(const char *mnemonic, Function function) {
  expectMap<float>(mnemonic, edges, function);
  expectMap<double>(mnemonic, edges, function, 0x1p-51);
  // Through float: two roundings.
  auto viaFloat = [&](double x) { return double(float(function(x))); };
  expectMap<Half>(mnemonic, edges, viaFloat);
  expectMap<BFloat16>(mnemonic, edges, viaFloat);
  expectKernel(mnemonic, {f32({0}, {})}, f32({0}, {}));
  expectKernel(mnemonic, {f32({}, {0.75})}, f32({}, {function(0.75)}));
}

#define LLMC_TEST_MATH(mnemonic, function)                                                                             \
  TEST(ReferenceKernel, mnemonic) {                                                                                    \
    expectFloats(#mnemonic, [](double x) { return function(x); });                                                     \
  }
LLMC_TEST_MATH(exp, std::exp)
LLMC_TEST_MATH(log, std::log)
LLMC_TEST_MATH(sqrt, std::sqrt)
LLMC_TEST_MATH(erf, std::erf)
LLMC_TEST_MATH(tanh, std::tanh)
LLMC_TEST_MATH(sin, std::sin)
LLMC_TEST_MATH(cos, std::cos)
LLMC_TEST_MATH(tan, std::tan)
LLMC_TEST_MATH(asin, std::asin)
LLMC_TEST_MATH(acos, std::acos)
LLMC_TEST_MATH(atan, std::atan)
LLMC_TEST_MATH(sinh, std::sinh)
LLMC_TEST_MATH(cosh, std::cosh)
LLMC_TEST_MATH(asinh, std::asinh)
LLMC_TEST_MATH(acosh, std::acosh)
LLMC_TEST_MATH(atanh, std::atanh)
LLMC_TEST_MATH(floor, std::floor)
LLMC_TEST_MATH(ceil, std::ceil)
LLMC_TEST_MATH(round, std::nearbyint) // in the default mode: halves to even
LLMC_TEST_MATH(reciprocal, 1 /)

TEST(ReferenceKernel, abs) {
  expectFloats("abs", [](double x) { return std::fabs(x); });
  expectKernel("abs", {i32({3}, {-5, 7, -2147483648.0})}, i32({3}, {5, 7, -2147483648.0}));
  expectKernel("abs", {make<int8_t>({2}, {-128, -127})}, make<int8_t>({2}, {-128, 127}));
  expectKernel("abs", {make<uint8_t>({2}, {255, 0})}, make<uint8_t>({2}, {255, 0}));
  expectKernel("abs", {exact({1}, {INT64_MIN})}, exact({1}, {INT64_MIN}));
}

TEST(ReferenceKernel, neg) {
  expectFloats("neg", [](double x) { return -x; });
  expectKernel("neg", {i64({2}, {3, -4})}, i64({2}, {-3, 4}));
  expectKernel("neg", {make<int16_t>({1}, {-32768})}, make<int16_t>({1}, {-32768}));
}

TEST(ReferenceKernel, relu) {
  expectFloats("relu", [](double x) { return x > 0 || std::isnan(x) ? x : 0.0; });
  expectKernel("relu", {i32({3}, {-1, 0, 1})}, i32({3}, {0, 0, 1}));
}

TEST(ReferenceKernel, sign) {
  expectFloats("sign", [](double x) { return std::isnan(x) ? x : double(x > 0) - double(x < 0); });
  expectKernel("sign", {make<uint8_t>({2}, {0, 200})}, make<uint8_t>({2}, {0, 1}));
  expectKernel("sign", {make<int8_t>({2}, {-128, 3})}, make<int8_t>({2}, {-1, 1}));
}

TEST(ReferenceKernel, is_nan) {
  expectKernel("is_nan", {f32({4}, {NaN, inf, 0, -NaN})}, boolean({4}, {1, 0, 0, 1}));
  expectKernel("is_nan", {make<Half>({2}, {NaN, inf})}, boolean({2}, {1, 0}));
  expectKernel("is_nan", {f64({}, {NaN})}, boolean({}, {1}));
}

TEST(ReferenceKernel, not) {
  expectKernel("not", {boolean({2}, {0, 1})}, boolean({2}, {1, 0}));
  Tensor stray = boolean({1}, {1}); // any byte but 0 is true
  stray.bytes[0] = 100;
  expectKernel("not", {stray}, boolean({1}, {0}));
}

// The activations compute in T, so they may be a few units off in the last place.
TEST(ReferenceKernel, sigmoid) {
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  expectMap<float>("sigmoid", edges, sigmoid, 0x1p-22);
  expectMap<double>("sigmoid", edges, sigmoid, 0x1p-51);
  expectKernel("sigmoid", {f32({2}, {-104, -87.5})}, f32({2}, {1.0 / (1 + std::exp(104.0)), 9.982e-39}), {}, {}, 1e-42);
}

TEST(ReferenceKernel, softplus) {
  auto softplus = [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); };
  expectMap<float>("softplus", edges, softplus, 0x1p-22);
  expectMap<double>("softplus", edges, softplus, 1e-13);
  expectKernel("softplus", {f32({1}, {-12.3392})}, f32({1}, {4.3767584e-06}), {}, {}, 2e-12);
}

TEST(ReferenceKernel, softsign) {
  expectMap<float>("softsign", edges, [](double x) { return x / (1 + std::fabs(x)); }, 0x1p-22);
}

TEST(ReferenceKernel, hard_sigmoid) {
  auto function = [](double x) { return std::isnan(x) ? x : std::max(0.0, std::min(1.0, 0.2 * x + 0.5)); };
  expectMap<float>("hard_sigmoid", edges, function, 0x1p-22, {}, {0.2, 0.5});
  expectMap<double>("hard_sigmoid", edges, function, 0x1p-51, {}, {0.2, 0.5});
}

TEST(ReferenceKernel, hard_swish) {
  auto function = [](double x) { return std::isnan(x) ? x : x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); };
  expectMap<float>("hard_swish", edges, function, 0x1p-21);
}

TEST(ReferenceKernel, leaky_relu) {
  expectMap<float>("leaky_relu", edges, [](double x) { return x < 0 ? double(float(0.1)) * x : x; }, 0, {}, {0.1});
  expectMap<double>("leaky_relu", edges, [](double x) { return x < 0 ? 0.1 * x : x; }, 0, {}, {0.1});
}

TEST(ReferenceKernel, elu) {
  expectMap<float>("elu", edges, [](double x) { return x < 0 ? 1.5 * std::expm1(x) : x; }, 0x1p-22, {}, {1.5});
}

TEST(ReferenceKernel, gelu) {
  std::vector<double> values = {0, -0.0, 1, -1, 0.5, -3, 3, 10, -10, NaN, inf};
  expectMap<float>("gelu", values, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2))); }, 0x1p-21, {0});
  auto tanhForm = [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); };
  expectMap<float>("gelu", values, tanhForm, 0x1p-21, {1});
  expectMap<double>("gelu", values, tanhForm, 1e-14, {1});
}

TEST(ReferenceKernel, where) {
  expectKernel("where", {boolean({2, 1}, {1, 0}), f32({3}, {1, 2, 3}), f32({}, {9})}, f32({2, 3}, {1, 2, 3, 9, 9, 9}));
  expectKernel("where", {boolean({}, {1}), i64({2}, {1, 2}), i64({2}, {3, 4})}, i64({2}, {1, 2}));
  expectKernel("where", {boolean({0}, {}), f32({1}, {1}), f32({1}, {2})}, f32({0}, {}));
  expectKernel("where", {boolean({2}, {0, 1}), boolean({2}, {0, 0}), boolean({2}, {1, 1})}, boolean({2}, {1, 0}));
}

TEST(ReferenceKernel, bit_cast) {
  expectKernel("bit_cast", {f32({2, 2}, {1, -0.0, inf, 0})}, i32({2, 2}, {0x3f800000, INT32_MIN, 0x7f800000, 0}));
  expectKernel("bit_cast", {exact({2}, {0x4000000000000000, INT64_MIN})}, f64({2}, {2, -0.0}));
  expectKernel("bit_cast", {make<Half>({2}, {1, -2})}, make<uint16_t>({2}, {0x3c00, 0xc000}));
  expectKernel("bit_cast", {make<int8_t>({}, {-1})}, make<uint8_t>({}, {255}));
  expectKernel("bit_cast", {boolean({3}, {1, 0, 1})}, make<uint8_t>({3}, {1, 0, 1}));
  std::vector<Tensor> results = {f64({1}, {0})};
  EXPECT_EQ(call("bit_cast", {f32({1}, {1})}, results, {}, {}), LLMC_KERNEL_UNSUPPORTED);
}

TEST(ReferenceKernel, cast) {
  // Float to integer truncates, saturates and maps NaN to 0.
  expectKernel("cast", {f32({6}, {300, NaN, inf, -inf, 50.9, -50.9})}, make<int8_t>({6}, {127, 0, 127, -128, 50, -50}));
  expectKernel("cast", {f32({3}, {-1, 4294967296.0, 3e9})}, make<uint32_t>({3}, {0, 4294967295.0, 3e9}));
  expectKernel("cast", {f64({4}, {0x1p63, -0x1p63, -0x1.8p63, 0x1.fffffffffffffp62})},
               exact({4}, {INT64_MAX, INT64_MIN, INT64_MIN, 0x7ffffffffffffc00}));
  // Integer to integer keeps the low bits.
  expectKernel("cast", {i32({3}, {-1, 256, 300})}, make<uint8_t>({3}, {255, 0, 44}));
  expectKernel("cast", {make<uint8_t>({1}, {200})}, make<int8_t>({1}, {-56}));
  expectKernel("cast", {exact({1}, {-1})}, make<uint16_t>({1}, {65535}));
  // To and from bool.
  expectKernel("cast", {f32({4}, {100, NaN, 0, -0.0})}, boolean({4}, {1, 1, 0, 0}));
  expectKernel("cast", {boolean({2}, {1, 0})}, f32({2}, {1, 0}));
  expectKernel("cast", {boolean({2}, {1, 0})}, i64({2}, {1, 0}));
  // One rounding, to nearest even.
  expectKernel("cast", {f64({1}, {0.1})}, f32({1}, {0.10000000149011612}));
  expectKernel("cast", {exact({2}, {16777217, 16777219})}, f32({2}, {16777216, 16777220}));
  expectKernel("cast", {exact({1}, {(int64_t(1) << 62) + (int64_t(1) << 38) + 1})}, f32({1}, {0x1.000002p62}));
  expectKernel("cast", {f32({5}, {65504, 65519, 65520, 0x1p-25, 0x1.8p-25})},
               make<Half>({5}, {65504, 65504, inf, 0, 0x1p-24}));
  expectKernel("cast", {make<BFloat16>({3}, {1.5, inf, NaN})}, make<Half>({3}, {1.5, inf, NaN}));
  expectKernel("cast", {exact({1}, {INT64_MIN})}, f64({1}, {-0x1p63}));
  Tensor big = exact({1}, {-1});
  big.dtype = LLMC_U64;
  expectKernel("cast", {big}, f32({1}, {0x1p64}));
  expectKernel("cast", {big}, f64({1}, {0x1p64}));
  // The sticky bit decides what 53 bits would call a tie of bfloat16.
  expectKernel("cast", {exact({1}, {(int64_t(1) << 62) + (int64_t(1) << 54) + 1})}, make<BFloat16>({1}, {0x1.02p62}));
}
