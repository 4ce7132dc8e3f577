// Reductions, arg_max and arg_min, softmax, cum_sum and cum_prod.
#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

static const Tensor cube = f32({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});

TEST(ReferenceKernel, reduce_sum) {
  expectKernel("reduce_sum", {cube}, f32({2, 2}, {9, 12, 27, 30}), {1, 1, 0});
  expectKernel("reduce_sum", {cube}, f32({2, 1, 2}, {9, 12, 27, 30}), {1, -2, 1});
  expectKernel("reduce_sum", {cube}, f32({3}, {18, 26, 34}), {2, 2, 0, 0});
  expectKernel("reduce_sum", {cube}, f32({}, {78}), {3, 0, 1, 2, 0});
  expectKernel("reduce_sum", {cube}, f32({1, 1, 1}, {78}), {3, 0, 1, 2, 1});
  expectKernel("reduce_sum", {cube}, cube, {0, 1}); // no axes: nothing to reduce
  expectKernel("reduce_sum", {f32({}, {5})}, f32({}, {5}), {0, 0});
  expectKernel("reduce_sum", {f32({2, 0}, {})}, f32({2}, {0, 0}), {1, 1, 0});
  expectKernel("reduce_sum", {f32({0, 2}, {})}, f32({0}, {}), {1, 1, 0});
  expectKernel("reduce_sum", {i32({2}, {2147483647, 1})}, i32({}, {-2147483648.0}), {1, 0, 0});
  expectKernel("reduce_sum", {f32({3}, {1, 0x1p30, -0x1p30})}, f32({}, {1}), {1, 0, 0}); // in double
  expectKernel("reduce_sum", {make<Half>({2}, {60000, 60000})}, make<Half>({}, {inf}), {1, 0, 0});
}

TEST(ReferenceKernel, reduce_mean) {
  expectKernel("reduce_mean", {cube}, f32({2, 3}, {1.5, 3.5, 5.5, 7.5, 9.5, 11.5}), {1, 2, 0});
  expectKernel("reduce_mean", {i32({3}, {-1, -1, -3})}, i32({1}, {-1}), {1, 0, 1});
  expectKernel("reduce_mean", {make<uint8_t>({2}, {255, 254})}, make<uint8_t>({}, {254}), {1, 0, 0});
  expectKernel("reduce_mean", {f32({0}, {})}, f32({}, {NaN}), {1, 0, 0});
  expectKernel("reduce_mean", {make<Half>({2}, {60000, 60000})}, make<Half>({}, {60000}), {1, 0, 0});
  expectFault("reduce_mean", {i32({0}, {})}, i32({}, {0}), {1, 0, 0}, LLMC_KERNEL_DIVISION_BY_ZERO, -1, 0);
}

TEST(ReferenceKernel, reduce_prod) {
  expectKernel("reduce_prod", {cube}, f32({2, 1, 2}, {15, 48, 693, 960}), {1, 1, 1});
  expectKernel("reduce_prod", {f32({0}, {})}, f32({}, {1}), {1, 0, 0});
  expectKernel("reduce_prod", {make<int8_t>({2}, {16, 17})}, make<int8_t>({}, {16}), {1, 0, 0});
}

TEST(ReferenceKernel, reduce_max) {
  expectKernel("reduce_max", {cube}, f32({3}, {8, 10, 12}), {2, 0, 2, 0});
  expectKernel("reduce_max", {f32({2, 2}, {NaN, 1, 2, NaN})}, f32({2}, {NaN, NaN}), {1, 1, 0});
  expectKernel("reduce_max", {f32({0}, {})}, f32({}, {-inf}), {1, 0, 0});
  expectKernel("reduce_max", {i32({0}, {})}, i32({}, {-2147483648.0}), {1, 0, 0});
  expectKernel("reduce_max", {boolean({2, 2}, {0, 1, 0, 0})}, boolean({2}, {1, 0}), {1, 1, 0});
}

TEST(ReferenceKernel, reduce_min) {
  expectKernel("reduce_min", {cube}, f32({3}, {1, 3, 5}), {2, 0, 2, 0});
  expectKernel("reduce_min", {f32({2}, {NaN, 1})}, f32({}, {NaN}), {1, 0, 0});
  expectKernel("reduce_min", {make<uint8_t>({0}, {})}, make<uint8_t>({}, {255}), {1, 0, 0});
  expectKernel("reduce_min", {boolean({2, 2}, {0, 1, 1, 1})}, boolean({2}, {0, 1}), {1, 1, 0});
}

TEST(ReferenceKernel, arg_max) {
  expectKernel("arg_max", {f32({2, 3}, {1, 3, 3, 5, 4, 5})}, i64({2}, {1, 0}), {1, 0, 0});
  expectKernel("arg_max", {f32({2, 3}, {1, 3, 3, 5, 4, 5})}, i64({2, 1}, {2, 2}), {-1, 1, 1});
  expectKernel("arg_max", {f32({2, 3}, {1, 3, 3, 5, 4, 5})}, i64({3}, {1, 1, 1}), {0, 0, 0});
  expectKernel("arg_max", {f32({5}, {2, NaN, 7, NaN, 1})}, i64({}, {1}), {0, 0, 0});
  expectKernel("arg_max", {f32({5}, {2, NaN, 7, NaN, 1})}, i64({}, {3}), {0, 0, 1});
  expectKernel("arg_max", {f32({3}, {NaN, NaN, NaN})}, i64({}, {0}), {0, 0, 0});
  expectKernel("arg_max", {f32({0, 3}, {})}, i64({0}, {}), {1, 0, 0});
  expectFault("arg_max", {f32({2, 0}, {})}, i64({2}, {0, 0}), {1, 0, 0}, LLMC_KERNEL_BAD_SHAPE, 0, 0);
}

TEST(ReferenceKernel, arg_min) {
  expectKernel("arg_min", {f32({6}, {4, 2, NaN, 6, 1, 3})}, i64({}, {2}), {0, 0, 0});
  expectKernel("arg_min", {i32({4}, {4, -2, 5, -2})}, i64({1}, {1}), {0, 1, 0});
  expectKernel("arg_min", {i32({4}, {4, -2, 5, -2})}, i64({1}, {3}), {0, 1, 1});
}

TEST(ReferenceKernel, softmax) {
  double a = std::exp(-1.0), total = 1 + a;
  expectKernel("softmax", {f32({2, 2}, {0, 1, 5, 4})}, f32({2, 2}, {a / total, 1 / total, 1 / total, a / total}), {1},
               {}, 0x1p-23);
  expectKernel("softmax", {f32({2, 2}, {0, 5, 1, 4})}, f32({2, 2}, {a / total, 1 / total, 1 / total, a / total}), {-2},
               {}, 0x1p-23);
  expectKernel("softmax", {f32({3}, {1e30, -1e30, -inf})}, f32({3}, {1, 0, 0}), {0});
  expectKernel("softmax", {f32({2, 2}, {-inf, -inf, NaN, 0})}, f32({2, 2}, {NaN, NaN, NaN, NaN}), {1});
  expectKernel("softmax", {f64({1, 2}, {1000, 1000})}, f64({1, 2}, {0.5, 0.5}), {1});
  expectKernel("softmax", {f32({2, 0}, {})}, f32({2, 0}, {}), {1});
  expectKernel("softmax", {make<Half>({4}, {1, 1, 1, 1})}, make<Half>({4}, {0.25, 0.25, 0.25, 0.25}), {0});
}

TEST(ReferenceKernel, log_softmax) {
  double total = std::log(1 + std::exp(-1.0));
  expectKernel("log_softmax", {f32({1, 2}, {0, 1})}, f32({1, 2}, {-1 - total, -total}), {1}, {}, 0x1p-23);
  expectKernel("log_softmax", {f32({2}, {1000, -1000})}, f32({2}, {0, -2000}), {0});
}

TEST(ReferenceKernel, cum_sum) {
  expectKernel("cum_sum", {f32({3}, {1, 2, 3})}, f32({3}, {1, 3, 6}), {0, 0, 0});
  expectKernel("cum_sum", {f32({3}, {1, 2, 3})}, f32({3}, {0, 1, 3}), {0, 1, 0});
  expectKernel("cum_sum", {f32({3}, {1, 2, 3})}, f32({3}, {6, 5, 3}), {0, 0, 1});
  expectKernel("cum_sum", {f32({3}, {1, 2, 3})}, f32({3}, {5, 3, 0}), {0, 1, 1});
  expectKernel("cum_sum", {i64({2, 2}, {1, 2, 3, 4})}, i64({2, 2}, {1, 2, 4, 6}), {0, 0, 0});
  expectKernel("cum_sum", {i32({2, 2}, {1, 2, 3, 4})}, i32({2, 2}, {1, 3, 3, 7}), {-1, 0, 0});
  expectKernel("cum_sum", {f32({0}, {})}, f32({0}, {}), {0, 0, 0});
  expectFault("cum_sum", {f32({2}, {1, 2})}, f32({2}, {0, 0}), {1, 0, 0}, LLMC_KERNEL_BAD_SHAPE, 1, 1);
}

TEST(ReferenceKernel, cum_prod) {
  expectKernel("cum_prod", {f32({3}, {2, 3, 4})}, f32({3}, {2, 6, 24}), {0, 0, 0});
  expectKernel("cum_prod", {f32({3}, {2, 3, 4})}, f32({3}, {1, 2, 6}), {0, 1, 0});
  expectKernel("cum_prod", {i32({2, 2}, {2, 3, 4, 5})}, i32({2, 2}, {6, 3, 20, 5}), {1, 0, 1});
  expectKernel("cum_prod", {i64({2}, {2, 3})}, i64({2}, {3, 1}), {0, 1, 1});
}
