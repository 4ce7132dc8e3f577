// Binary kernels: arithmetic edges per type, broadcasting, comparisons and logic.
#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

TEST(ReferenceKernel, add) {
  expectKernel("add", {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({3}, {10, 20, 30})}, f32({2, 3}, {11, 22, 33, 14, 25, 36}));
  expectKernel("add", {f32({2, 1}, {1, 2}), f32({1, 3}, {10, 20, 30})}, f32({2, 3}, {11, 21, 31, 12, 22, 32}));
  expectKernel("add", {f32({}, {1}), f32({}, {2})}, f32({}, {3}));
  expectKernel("add", {f32({0, 3}, {}), f32({3}, {1, 2, 3})}, f32({0, 3}, {}));
  expectKernel("add", {f32({2, 0, 2}, {}), f32({1}, {1})}, f32({2, 0, 2}, {}));
  expectKernel("add", {f32({3}, {inf, NaN, 1e38}), f32({3}, {-inf, 1, 3e38})}, f32({3}, {NaN, NaN, inf}));
  expectKernel("add", {make<uint8_t>({4}, {200, 100, 255, 128}), make<uint8_t>({4}, {100, 200, 10, 200})},
               make<uint8_t>({4}, {44, 44, 9, 72}));
  expectKernel("add", {exact({1}, {INT64_MAX}), exact({1}, {1})}, exact({1}, {INT64_MIN}));
  expectKernel("add", {make<Half>({1}, {2048}), make<Half>({1}, {1})}, make<Half>({1}, {2048}));
  expectKernel("add", {f64({1}, {0x1p53}), f64({1}, {1})}, f64({1}, {0x1p53}));
}

TEST(ReferenceKernel, sub) {
  expectKernel("sub", {make<int8_t>({4}, {-128, 127, -1, 0}), make<int8_t>({4}, {1, -128, -127, 100})},
               make<int8_t>({4}, {127, -1, 126, -100}));
  expectKernel("sub", {f32({3}, {1, 2, 3}), f32({1}, {1})}, f32({3}, {0, 1, 2}));
  expectKernel("sub", {i32({1}, {-2147483648.0}), i32({1}, {1})}, i32({1}, {2147483647}));
}

TEST(ReferenceKernel, mul) {
  expectKernel("mul", {make<uint8_t>({4}, {200, 200, 50, 10}), make<uint8_t>({4}, {10, 3, 6, 30})},
               make<uint8_t>({4}, {208, 88, 44, 44}));
  expectKernel("mul", {f32({3}, {0, inf, -3}), f32({3}, {inf, 0, 2})}, f32({3}, {NaN, NaN, -6}));
  expectKernel("mul", {exact({1}, {INT64_MIN}), exact({1}, {-1})}, exact({1}, {INT64_MIN}));
}

TEST(ReferenceKernel, div) {
  expectKernel("div", {i64({4}, {8, -8, 7, -7}), i64({4}, {-3, 3, -2, 2})}, i64({4}, {-2, -2, -3, -3}));
  expectKernel("div", {exact({1}, {INT64_MIN}), exact({1}, {-1})}, exact({1}, {INT64_MIN}));
  expectKernel("div", {make<int8_t>({1}, {-128}), make<int8_t>({1}, {-1})}, make<int8_t>({1}, {-128}));
  expectKernel("div", {make<uint8_t>({1}, {255}), make<uint8_t>({1}, {255})}, make<uint8_t>({1}, {1}));
  expectKernel("div", {f32({4}, {1, -1, 0, 1}), f32({4}, {0, 0, 0, 3})}, f32({4}, {inf, -inf, NaN, 1.0 / 3}));
  expectFault("div", {i32({2}, {1, 2}), i32({2}, {1, 0})}, i32({2}, {0, 0}), {}, LLMC_KERNEL_DIVISION_BY_ZERO, 1, 0);
}

TEST(ReferenceKernel, mod) {
  expectKernel("mod", {i32({4}, {-7, 7, -7, 7}), i32({4}, {3, -3, -3, 3})}, i32({4}, {2, -2, -1, 1}), {0});
  expectKernel("mod", {i32({4}, {-7, 7, -7, 7}), i32({4}, {3, -3, -3, 3})}, i32({4}, {-1, 1, -1, 1}), {1});
  expectKernel("mod", {exact({1}, {INT64_MIN}), exact({1}, {-1})}, exact({1}, {0}), {0});
  expectKernel("mod", {exact({1}, {INT64_MIN}), exact({1}, {-1})}, exact({1}, {0}), {1});
  expectKernel("mod", {make<uint8_t>({1}, {250}), make<uint8_t>({1}, {7})}, make<uint8_t>({1}, {5}), {0});
  expectKernel("mod", {f32({6}, {-4.3, 4.3, 5, -0.0, 1, inf}), f32({6}, {2.1, -2.1, inf, 2, 0, 2})},
               f32({6}, {std::fmod(double(float(-4.3)), double(float(2.1))),
                         std::fmod(double(float(4.3)), double(float(2.1))), 5, -0.0, NaN, NaN}),
               {1});
  expectKernel("mod", {f64({4}, {-5, 5, -4, 1e300}), f64({4}, {3, -3, 2, 7})},
               f64({4}, {1, -1, 0, std::fmod(1e300, 7)}), {0});
  expectFault("mod", {i32({1}, {1}), i32({1}, {0})}, i32({1}, {0}), {1}, LLMC_KERNEL_DIVISION_BY_ZERO, 1, 0);
}

TEST(ReferenceKernel, pow) {
  expectKernel("pow", {i64({4}, {13, 17, 19, 23}), i64({4}, {8, 7, 7, 6})},
               exact({4}, {815730721, 410338673, 893871739, 148035889}));
  expectKernel("pow", {f32({4}, {2, 2, -8, -2}), f32({4}, {0.5, -1, 1.0 / 3, 3})},
               f32({4}, {std::sqrt(2.0), 0.5, NaN, -8}));
  expectKernel("pow", {f32({4}, {0, -0.0, NaN, 1}), f32({4}, {-1, -3, 0, NaN})}, f32({4}, {inf, -inf, 1, 1}));
  expectKernel("pow", {i32({4}, {2, 1, -1, -1}), i32({4}, {-1, -5, -3, -2})}, i32({4}, {0, 1, -1, 1}));
  expectKernel("pow", {f32({2}, {2, 3}), i64({2}, {10, -1})}, f32({2}, {1024, 1.0 / 3}));
  expectKernel("pow", {i32({2}, {4, 9}), f32({2}, {0.5, 1.5})}, i32({2}, {2, 27}));
  expectKernel("pow", {make<Half>({1}, {3}), make<Half>({1}, {2})}, make<Half>({1}, {9}));
  expectKernel("pow", {f64({2}, {10, 2}), f64({2}, {-2, 1000})}, f64({2}, {0.01, 0x1p1000}));
  uint64_t wrapped = 1;
  for (int i = 0; i < 200; ++i)
    wrapped *= 3;
  expectKernel("pow", {i64({1}, {3}), i64({1}, {200})}, exact({1}, {int64_t(wrapped)}));
  expectFault("pow", {i32({1}, {0}), i32({1}, {-1})}, i32({1}, {0}), {}, LLMC_KERNEL_DIVISION_BY_ZERO, 1, 0);
}

TEST(ReferenceKernel, max) {
  expectKernel("max", {f32({5}, {NaN, 1, 2, 0.0, -0.0}), f32({5}, {1, NaN, 3, -0.0, 0.0})},
               f32({5}, {NaN, NaN, 3, 0, 0}));
  expectKernel("max", {f32({3, 1}, {1, 5, NaN}), f32({1}, {3})}, f32({3, 1}, {3, 5, NaN}));
  expectKernel("max", {make<uint8_t>({2}, {200, 1}), make<uint8_t>({2}, {100, 2})}, make<uint8_t>({2}, {200, 2}));
}

TEST(ReferenceKernel, min) {
  expectKernel("min", {f32({5}, {NaN, 1, 2, 0.0, -0.0}), f32({5}, {1, NaN, 3, -0.0, 0.0})},
               f32({5}, {NaN, NaN, 2, -0.0, -0.0}));
  expectKernel("min", {make<int8_t>({2}, {-128, 1}), make<int8_t>({2}, {100, 2})}, make<int8_t>({2}, {-128, 1}));
}

TEST(ReferenceKernel, equal) {
  expectKernel("equal", {f32({4}, {1, NaN, 0, inf}), f32({4}, {1, NaN, -0.0, -inf})}, boolean({4}, {1, 0, 1, 0}));
  expectKernel("equal", {exact({2}, {INT64_MAX, 5}), exact({2}, {INT64_MAX - 1, 5})}, boolean({2}, {0, 1}));
  expectKernel("equal", {boolean({2}, {1, 0}), boolean({2}, {1, 1})}, boolean({2}, {1, 0}));
  expectKernel("equal", {i64({2, 1}, {1, 2}), i64({2}, {1, 2})}, boolean({2, 2}, {1, 0, 0, 1}));
}

TEST(ReferenceKernel, less) {
  expectKernel("less", {f32({3}, {1, NaN, 2}), f32({3}, {2, 1, 2})}, boolean({3}, {1, 0, 0}));
  expectKernel("less", {make<uint32_t>({1}, {1}), make<uint32_t>({1}, {4e9})}, boolean({1}, {1}));
}

TEST(ReferenceKernel, less_equal) {
  expectKernel("less_equal", {f32({3}, {1, NaN, 2}), f32({3}, {2, NaN, 2})}, boolean({3}, {1, 0, 1}));
}

TEST(ReferenceKernel, greater) {
  expectKernel("greater", {make<Half>({3}, {3, NaN, 2}), make<Half>({3}, {2, 1, 2})}, boolean({3}, {1, 0, 0}));
}

TEST(ReferenceKernel, greater_equal) {
  expectKernel("greater_equal", {i64({3}, {3, -1, 2}), i64({3}, {2, 1, 2})}, boolean({3}, {1, 0, 1}));
}

TEST(ReferenceKernel, and) {
  expectKernel("and", {boolean({2, 1}, {0, 1}), boolean({2}, {0, 1})}, boolean({2, 2}, {0, 0, 0, 1}));
}

TEST(ReferenceKernel, or) {
  expectKernel("or", {boolean({2, 1}, {0, 1}), boolean({2}, {0, 1})}, boolean({2, 2}, {0, 1, 1, 1}));
}

TEST(ReferenceKernel, xor) {
  expectKernel("xor", {boolean({2, 1}, {0, 1}), boolean({2}, {0, 1})}, boolean({2, 2}, {0, 1, 1, 0}));
}

TEST(ReferenceKernel, bitwise_and) {
  expectKernel("bitwise_and", {i32({2}, {12, -1}), i32({}, {10})}, i32({2}, {8, 10}));
  expectKernel("bitwise_and", {make<uint8_t>({1}, {255}), make<uint8_t>({1}, {129})}, make<uint8_t>({1}, {129}));
}

TEST(ReferenceKernel, bitwise_or) {
  expectKernel("bitwise_or", {i32({2}, {12, -2}), i32({}, {3})}, i32({2}, {15, -1}));
}

TEST(ReferenceKernel, bitwise_xor) {
  expectKernel("bitwise_xor", {i64({2}, {12, -1}), i64({}, {10})}, i64({2}, {6, -11}));
}

TEST(ReferenceKernel, bitwise_not) {
  expectKernel("bitwise_not", {make<int8_t>({3}, {0, -1, 127})}, make<int8_t>({3}, {-1, 0, -128}));
  expectKernel("bitwise_not", {make<uint16_t>({1}, {1})}, make<uint16_t>({1}, {65534}));
}

/// Also by the width and more, where C++ says nothing.
TEST(ReferenceKernel, bit_shift) {
  expectKernel("bit_shift", {make<uint8_t>({4}, {1, 129, 255, 1}), make<uint8_t>({4}, {7, 1, 8, 255})}, make<uint8_t>({4}, {128, 2, 0, 0}), {1});
  expectKernel("bit_shift", {make<uint8_t>({3}, {128, 255, 255}), make<uint8_t>({3}, {7, 8, 200})}, make<uint8_t>({3}, {1, 0, 0}), {0});
  expectKernel("bit_shift", {i32({3}, {-8, -8, 8}), i32({3}, {1, 32, -1})}, i32({3}, {-4, -1, 0}), {0});
}
