#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

namespace {

enum Mode { nearest, linear, cubic };
enum Padding { zeros, border, reflection };

/// 0 ... 15 in four rows.
Tensor square() {
  std::vector<double> values(16);
  for (int i = 0; i < 16; ++i)
    values[i] = i;
  return f32({1, 1, 4, 4}, values);
}

} // namespace

TEST(ReferenceKernel, grid_sample) {
  Tensor line = f32({1, 1, 4}, {1, 2, 3, 4});
  auto expectLine = [&](const Floats &places, const Floats &expected, int64_t mode, int64_t padding, int64_t alignCorners) {
    int64_t count = places.size();
    expectKernel("grid_sample", {line, f32({1, count, 1}, places)}, f32({1, 1, count}, expected), {mode, padding, alignCorners});
  };
  expectLine({-1, 0, 1}, {1, 2.5, 4}, linear, zeros, 1);
  expectLine({-1, 0, 1}, {0.5, 2.5, 2}, linear, zeros, 0);
  // At and beyond the border: places -0.5 and -1.5, or -1.5 and 4.5.
  expectLine({-1, -1.5, 9}, {1, 1, 4}, linear, border, 0);
  expectLine({-1, -1.5, 1.5}, {1, 1.5, 3.5}, linear, reflection, 0);
  expectLine({-2, 2}, {2.5, 2.5}, linear, reflection, 1);
  expectLine({-2, 9, 1e30}, {0, 0, 0}, linear, zeros, 1);
  // Ties go to even: places 1.5 and 0.5.
  expectLine({0, -0.5, -9, 9}, {3, 1, 0, 0}, nearest, zeros, 0);
  expectLine({-9, 9}, {1, 4}, nearest, border, 0);
  expectLine({0}, {2.5}, cubic, zeros, 1);
  expectKernel("grid_sample", {f32({1, 1, 4}, {0, 0, 1, 0}), f32({1, 1, 1}, {0})}, f32({1, 1, 1}, {0.59375}), {cubic, border, 0});
  // The column comes first; two channels and two images, each with a place of its own.
  Tensor images = f32({2, 2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40, 5, 6, 7, 8, 50, 60, 70, 80});
  expectKernel("grid_sample", {images, f32({2, 1, 1, 2}, {1, -1, -1, 1})}, f32({2, 2, 1, 1}, {2, 20, 7, 70}), {linear, zeros, 1});
  expectKernel("grid_sample", {make<uint8_t>({1, 1, 1, 1, 2}, {7, 9}), f32({1, 1, 1, 2, 3}, {1, 0, 0, -1, 0, 0})},
               make<uint8_t>({1, 1, 1, 1, 2}, {9, 7}),
               {nearest, border, 1});
  expectKernel("grid_sample", {f64({1, 1, 1}, {5}), f64({1, 2, 1}, {0.5, -3})}, f64({1, 1, 2}, {5, 5}), {linear, reflection, 1});
  expectKernel("grid_sample", {f32({1, 1, 4}, {1, 2, 3, 4}), f32({1, 0, 1}, {})}, f32({1, 1, 0}, {}), {linear, zeros, 1});
  expectFault("grid_sample", {f32({1, 1, 0}, {}), f32({1, 1, 1}, {0})}, f32({1, 1, 1}, {0}), {linear, border, 1},
              LLMC_KERNEL_BAD_SHAPE, 0, 0);
}

TEST(ReferenceKernel, roi_align) {
  auto expectPixel = [](const Floats &roi, double expected, int64_t samples, int64_t halfPixel, int64_t maximum) {
    expectKernel("roi_align", {square(), f32({1, 4}, roi), i64({1}, {0})}, f32({1, 1, 1, 1}, {expected}),
                 {samples, halfPixel, maximum}, {1});
  };
  expectPixel({0, 0, 2, 2}, 5, 1, 0, 0);
  expectPixel({0, 0, 2, 2}, 2.5, 1, 1, 0);
  expectPixel({0, 0, 2, 2}, 5, 2, 0, 0);
  expectPixel({0, 0, 2, 2}, 5, 0, 0, 0);      // two samples of their own account
  expectPixel({0, 0, 2, 2}, 1.25, 1, 1, 1);   // the greatest of a quarter of 0, 1, 4 and 5
  expectPixel({1, 1, 1, 1}, 7.5, 1, 0, 0);    // grows to a pixel
  expectPixel({9, 9, 11, 11}, 0, 1, 0, 0);    // beyond the image
  expectPixel({-1, -1, 0.5, 0.5}, 0, 1, 0, 0); // places before the first count as at it
  // Two regions, the second at half the scale, in two columns.
  expectKernel("roi_align", {square(), f32({2, 4}, {0, 0, 4, 2, 0, 4, 8, 6}), i64({2}, {0, 0})},
               f32({2, 1, 1, 2}, {2.5, 3.5, 11, 13}), {1, 0, 0},
               {0.5});
  std::vector<Tensor> results = {f32({1, 1, 1, 1}, {0})};
  Tensor roi = f32({1, 4}, {0, 0, 1e6, 1});
  EXPECT_EQ(call("roi_align", {square(), roi, i64({1}, {1})}, results, {1, 0, 0}, {1}), LLMC_KERNEL_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(call("roi_align", {square(), roi, i64({1}, {0})}, results, {0, 0, 0}, {1}), LLMC_KERNEL_BAD_SHAPE);
}

TEST(ReferenceKernel, max_roi_pool) {
  auto expectCells = [](const Floats &roi, const Floats &expected, double scale) {
    expectKernel("max_roi_pool", {square(), f32({1, 5}, roi)}, f32({1, 1, 2, 2}, expected), {}, {scale});
  };
  expectCells({0, 0, 0, 3, 3}, {5, 7, 13, 15}, 1);
  expectCells({0, 1, 1, 1, 1}, {5, 5, 5, 5}, 1);
  expectCells({0, 2, 2, 6, 6}, {10, 11, 14, 15}, 0.5);
  expectCells({0, 9, 9, 9, 9}, {0, 0, 0, 0}, 1);
  std::vector<Tensor> results = {f32({1, 1, 2, 2}, {0, 0, 0, 0})};
  EXPECT_EQ(call("max_roi_pool", {square(), f32({1, 5}, {1, 0, 0, 1, 1})}, results, {}, {1}), LLMC_KERNEL_INDEX_OUT_OF_RANGE);
}

TEST(ReferenceKernel, deform_conv) {
  Tensor x = f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  Tensor still = f32({1, 8, 2, 2}, std::vector<double>(32, 0));
  const Ints plain = {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 1, 1};
  // Without moves it is a convolution.
  expectKernel("deform_conv", {x, f32({1, 1, 2, 2}, {1, 1, 1, 1}), still}, f32({1, 1, 2, 2}, {12, 16, 24, 28}), plain);
  // All moved half a pixel to the right, where zeros begin; halved by the mask, and one more.
  std::vector<double> right(18, 0), half(9, 0.5);
  std::fill(right.begin() + 9, right.end(), 0.5);
  Tensor moved = f32({1, 2, 3, 3}, right), one = f32({1, 1, 1, 1}, {2});
  expectKernel("deform_conv", {x, one, moved}, f32({1, 1, 3, 3}, {3, 5, 3, 9, 11, 6, 15, 17, 9}), plain);
  expectKernel("deform_conv", {x, one, moved, f32({1}, {1}), f32({1, 1, 3, 3}, half)},
               f32({1, 1, 3, 3}, {2.5, 3.5, 2.5, 5.5, 6.5, 4, 8.5, 9.5, 5.5}), plain);
  // Two channels in one group each; the second has moves of its own, by a row.
  expectKernel("deform_conv", {f32({1, 2, 2, 1}, {1, 2, 3, 4}), f32({2, 1, 1, 1}, {1, 10}),
                               f32({1, 4, 2, 1}, {0, 0, 0, 0, 1, 1, 0, 0})},
               f32({1, 2, 2, 1}, {1, 2, 40, 0}), {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 2, 2});
  // Places far beyond the image.
  expectKernel("deform_conv", {f32({1, 1, 1, 1}, {7}), one, f32({1, 2, 1, 1}, {-1e30, inf})}, f32({1, 1, 1, 1}, {NaN}), plain);
}

TEST(ReferenceKernel, col2im) {
  // Four blocks of 2 x 2 in an image of 3 x 3: how often each pixel is covered, and what the first taps alone give.
  expectKernel("col2im", {f32({1, 4, 4}, std::vector<double>(16, 1)), i64({2}, {2, 2})},
               f32({1, 1, 3, 3}, {1, 2, 1, 2, 4, 2, 1, 2, 1}),
               {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1});
  expectKernel("col2im", {f32({1, 4, 4}, {1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), i64({2}, {2, 2})},
               f32({1, 1, 3, 3}, {1, 2, 0, 3, 4, 0, 0, 0, 0}),
               {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1});
  // Strides, pads, dilations, two channels: blocks at -1 and 1, their taps two apart.
  expectKernel("col2im", {i32({1, 4, 2}, {1, 2, 3, 4, 10, 20, 30, 40}), i64({1}, {2})},
               i32({1, 2, 4}, {0, 2 + 3, 0, 4, 0, 50, 0, 40}), {1, 2, 2, 1, 0, 1, 2});
  expectFault("col2im", {f32({1, 4, 3}, std::vector<double>(12, 1)), i64({2}, {2, 2})}, f32({1, 1, 3, 3}, std::vector<double>(9)),
              {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1},
              LLMC_KERNEL_BAD_SHAPE, 0, 4);
  expectFault("col2im", {f32({1, 4, 1}, {1, 1, 1, 1}), i64({1}, {0})}, f32({1, 1, 3}, {0, 0, 0}), {1, 1, 2, 0, 0, 1, 1},
              LLMC_KERNEL_BAD_SHAPE, 1, 0);
}

TEST(ReferenceKernel, max_unpool) {
  Tensor x = f32({1, 1, 2, 2}, {5, 6, 7, 8}), indices = i64({1, 1, 2, 2}, {5, 7, 13, 15});
  const Ints window = {2, 2, 2, 2, 2, 2, 4, 0, 0, 0, 0};
  expectKernel("max_unpool", {x, indices}, f32({1, 1, 4, 4}, {0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 7, 0, 8}), window);
  // A larger result keeps the places.
  expectKernel("max_unpool", {f32({1, 1, 1}, {5}), i64({1, 1, 1}, {1})}, f32({1, 1, 4}, {0, 5, 0, 0}), {1, 2, 1, 2, 2, 0, 0});
  expectFault("max_unpool", {f32({1, 1, 1}, {5}), i64({1, 1, 1}, {2})}, f32({1, 1, 4}, {0, 0, 0, 0}), {1, 2, 1, 2, 2, 0, 0},
              LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, 2);
  expectFault("max_unpool", {f32({1, 1, 1}, {5}), i64({1, 1, 1}, {-1})}, f32({1, 1, 2}, {0, 0}), {1, 2, 1, 2, 2, 0, 0},
              LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, -1);
}

TEST(ReferenceKernel, max_pool_with_indices) {
  Tensor x = f32({1, 2, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  Tensor values = f32({1, 2, 2, 2}, {5, 6, 8, 9, 9, 8, 6, 5});
  const Ints window = {2, 2, 2, 2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 0, 0};
  auto with = [](Ints ints, int64_t columnMajor) {
    ints.push_back(columnMajor);
    return ints;
  };
  expectKernels("max_pool_with_indices", {x}, {values, i64({1, 2, 2, 2}, {4, 5, 7, 8, 9, 10, 12, 13})}, with(window, 0));
  expectKernels("max_pool_with_indices", {x}, {values, i64({1, 2, 2, 2}, {4, 7, 5, 8, 9, 12, 10, 13})}, with(window, 1));
  // The first of equals, the first NaN, nothing in the padding.
  expectKernels("max_pool_with_indices", {f32({1, 1, 3}, {2, 2, NaN})}, {f32({1, 1, 2}, {2, NaN}), i64({1, 1, 2}, {0, 2})},
                {1, 2, 1, 1, 2, 0, 0, 1, 1, 0, 0, 0});
  expectKernels("max_pool_with_indices", {make<int8_t>({1, 1, 1}, {-128})},
                {make<int8_t>({1, 1, 3}, {-128, -128, -128}), i64({1, 1, 3}, {-1, 0, -1})},
                {1, 1, 1, 1, 2, 1, 1, 1, 1, 0, 0, 0});
}
