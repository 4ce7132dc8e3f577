// Kernels that give as much as they find: the rest of their outputs keeps what it held.
#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::test;

/// What outputs hold before a kernel writes them.
static constexpr int64_t left = static_cast<int64_t>(0xABABABABABABABABull);

TEST(ReferenceKernel, prefix) {
  expectKernel("prefix", {f32({2, 3}, {1, 2, 3, 4, 5, 6})}, f32({2, 2}, {1, 2, 3, 4}));
  expectKernel("prefix", {i64({5}, {1, 2, 3, 4, 5})}, i64({0, 3}, {}));
  expectFault("prefix", {f32({2}, {1, 2})}, f32({3}, {0, 0, 0}), {}, LLMC_KERNEL_BAD_SHAPE, 0, 3);
}

TEST(ReferenceKernel, non_zero) {
  expectKernels("non_zero", {f32({2, 2}, {0, NaN, -0.0, 3})}, {exact({8}, {0, 1, 1, 1, left, left, left, left}), i64({1}, {2})});
  expectKernels("non_zero", {boolean({3}, {1, 0, 1})}, {exact({3}, {0, 2, left}), i64({1}, {2})});
  expectKernels("non_zero", {i32({}, {4})}, {i64({0}, {}), i64({1}, {1})});
  expectKernels("non_zero", {f64({0, 2}, {})}, {i64({0}, {}), i64({1}, {0})});
}

TEST(ReferenceKernel, unique) {
  Tensor x = i64({6}, {2, 1, 1, 3, 4, 3});
  expectKernels("unique", {x}, {i64({6}, {1, 0, 3, 4, 5, 4}), i64({6}, {1, 0, 0, 2, 3, 2}), exact({6}, {2, 1, 2, 1, 3, left}), i64({1}, {4})}, {-1, 1});
  // In the order of first occurrence.
  expectKernels("unique", {x}, {i64({6}, {0, 1, 3, 4, 5, 4}), i64({6}, {0, 1, 1, 2, 3, 2}), exact({6}, {1, 2, 2, 1, 3, left}), i64({1}, {4})}, {-1, 0});
  // Rows; NaNs are equal and come last.
  Tensor rows = f32({3, 2}, {NaN, 1, 0, 1, NaN, 1});
  expectKernels("unique", {rows}, {i64({3}, {1, 0, 2}), i64({3}, {1, 0, 1}), exact({3}, {1, 2, left}), i64({1}, {2})}, {0, 1});
  expectKernels("unique", {f32({0}, {})}, {i64({0}, {}), i64({0}, {}), i64({0}, {}), i64({1}, {0})}, {-1, 1});
}

TEST(ReferenceKernel, non_max_suppression) {
  // The second box overlaps the first by more than half; the third is apart; the fourth is the third with its corners turned.
  Tensor boxes = f32({1, 4, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11, 1, 11, 0, 10});
  Tensor scores = f32({1, 1, 4}, {0.9, 0.8, 0.5, 0.6});
  expectKernels("non_max_suppression", {boxes, scores, i64({1}, {3}), f32({}, {0.5}), f32({}, {0})},
                {exact({9}, {0, 0, 0, 0, 0, 3, left, left, left}), i64({4}, {0, 1, 3, 2}), i64({1}, {2})}, {0});
  expectKernels("non_max_suppression", {boxes, scores, i64({1}, {1}), f32({}, {0.99}), f32({}, {0.5})},
                {i64({3}, {0, 0, 0}), exact({4}, {0, 1, 3, left}), i64({1}, {1})}, {0});
  // As centre and size the last two boxes have sides that are apart.
  Tensor centred = f32({1, 2, 4}, {0, 0, 2, 2, 1.5, 0, 2, 2});
  expectKernels("non_max_suppression", {centred, f32({1, 1, 2}, {0.5, 0.5}), i64({1}, {9}), f32({}, {0.2}), f32({}, {0})},
                {i64({6}, {0, 0, 0, 0, 0, 1}), i64({2}, {0, 1}), i64({1}, {2})}, {1});
}
