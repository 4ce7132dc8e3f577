// Elements picked, placed and ordered by data.
#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::test;

static const Tensor square = f32({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(ReferenceKernel, gather_nd) {
  expectKernel("gather_nd", {square, i64({2, 2}, {0, 2, -1, 0})}, f32({2}, {3, 4}), {0});
  expectKernel("gather_nd", {square, i64({2, 1}, {1, 0})}, f32({2, 3}, {4, 5, 6, 1, 2, 3}), {0});
  expectKernel("gather_nd", {square, i32({2, 1}, {2, 1})}, f32({2}, {3, 5}), {1});
  expectKernel("gather_nd", {square, i64({0, 2}, {})}, f32({0}, {}), {0});
  expectFault("gather_nd", {square, i64({1, 2}, {0, 3})}, f32({1}, {0}), {0}, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, 3);
  expectFault("gather_nd", {square, i64({1, 3}, {0, 0, 0})}, f32({1}, {0}), {0}, LLMC_KERNEL_BAD_SHAPE, 1, 3);
}

TEST(ReferenceKernel, scatter_elements) {
  Tensor places = i64({2, 1}, {0, -1}), updates = f32({2, 1}, {10, 20});
  expectKernel("scatter_elements", {square, places, updates}, f32({2, 3}, {10, 2, 3, 4, 5, 20}), {0, 1});
  expectKernel("scatter_elements", {square, places, updates}, f32({2, 3}, {11, 2, 3, 4, 5, 26}), {1, 1});
  expectKernel("scatter_elements", {square, places, updates}, f32({2, 3}, {10, 2, 3, 4, 5, 120}), {2, 1});
  expectKernel("scatter_elements", {square, places, f32({2, 1}, {0, 20})}, f32({2, 3}, {1, 2, 3, 4, 5, 20}), {3, 1});
  expectKernel("scatter_elements", {square, places, f32({2, 1}, {0, 20})}, f32({2, 3}, {0, 2, 3, 4, 5, 6}), {4, 1});
  // Updates of one place apply in order: the last stays, sums hold all.
  expectKernel("scatter_elements", {f32({2}, {0, 0}), i64({3}, {1, 1, 1}), f32({3}, {5, 6, 7})}, f32({2}, {0, 7}), {0, 0});
  expectKernel("scatter_elements", {f32({2}, {0, 0}), i64({3}, {1, 1, 1}), f32({3}, {5, 6, 7})}, f32({2}, {0, 18}), {1, 0});
  expectKernel("scatter_elements", {boolean({2}, {0, 0}), i64({1}, {1}), boolean({1}, {1})}, boolean({2}, {0, 1}), {0, 0});
  expectFault("scatter_elements", {square, i64({1, 1}, {2}), f32({1, 1}, {0})}, square, {0, 0}, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, 2);
}

TEST(ReferenceKernel, scatter_nd) {
  expectKernel("scatter_nd", {square, i64({1, 1}, {-1}), f32({1, 3}, {7, 8, 9})}, f32({2, 3}, {1, 2, 3, 7, 8, 9}), {0});
  expectKernel("scatter_nd", {square, i64({2, 2}, {0, 0, 0, 0}), f32({2}, {7, 8})}, f32({2, 3}, {16, 2, 3, 4, 5, 6}), {1});
  expectKernel("scatter_nd", {i32({2}, {5, 5}), i64({2, 1}, {0, 1}), i32({2}, {3, 9})}, i32({2}, {5, 9}), {3});
  expectKernel("scatter_nd", {i32({2}, {5, 5}), i64({2, 1}, {0, 1}), i32({2}, {3, 9})}, i32({2}, {3, 5}), {4});
  expectKernel("scatter_nd", {i32({2}, {5, 5}), i64({2, 1}, {0, 1}), i32({2}, {3, 9})}, i32({2}, {15, 45}), {2});
  expectFault("scatter_nd", {square, i64({1, 1}, {-3}), f32({1, 3}, {7, 8, 9})}, square, {0}, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, -3);
}

TEST(ReferenceKernel, top_k) {
  Tensor rows = f32({2, 4}, {1, 3, 2, 3, -1, NaN, 0, 5});
  expectKernels("top_k", {rows}, {f32({2, 2}, {3, 3, NaN, 5}), i64({2, 2}, {1, 3, 1, 3})}, {1, 1});
  expectKernels("top_k", {rows}, {f32({2, 3}, {1, 2, 3, -1, 0, 5}), i64({2, 3}, {0, 2, 1, 0, 2, 3})}, {-1, 0});
  expectKernels("top_k", {i32({3, 1}, {4, 4, 7})}, {i32({3, 1}, {7, 4, 4}), i64({3, 1}, {2, 0, 1})}, {0, 1});
  expectKernels("top_k", {f32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}, {f32({2, 0}, {}), i64({2, 0}, {})}, {1, 1});
}

TEST(ReferenceKernel, reverse_sequence) {
  Tensor x = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  expectKernel("reverse_sequence", {x, i64({2}, {3, 2})}, f32({3, 2}, {5, 4, 3, 2, 1, 6}), {1, 0});
  expectKernel("reverse_sequence", {x, i64({3}, {2, 1, 0})}, f32({3, 2}, {2, 1, 3, 4, 5, 6}), {0, 1});
  expectKernel("reverse_sequence", {boolean({1, 2, 2}, {1, 0, 0, 1}), i64({1}, {2})}, boolean({1, 2, 2}, {0, 1, 1, 0}), {0, 1});
  expectFault("reverse_sequence", {x, i64({2}, {3, 4})}, x, {1, 0}, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, 4);
  expectFault("reverse_sequence", {x, i64({2}, {-1, 0})}, x, {1, 0}, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, -1);
}
