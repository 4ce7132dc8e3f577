#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

namespace {

// As kernels/reference/Resize.cpp numbers them.
enum Mode { nearest, linear, cubic };
enum Coordinates { halfPixel, halfPixelSymmetric, pytorchHalfPixel, alignCorners, asymmetric, tfHalfPixelForNn, tfCropAndResize };
enum Rounding { preferFloor, preferCeil, down, up, downIfGrown };

const Floats floats = {-0.75, 9};

/// Along dim 0 of one-dimensional tensors.
Ints along0(int64_t mode, int64_t coordinates, int64_t rounding = preferFloor, int64_t excludeOutside = 0, int64_t antialias = 0) {
  return {1, 0, mode, coordinates, rounding, excludeOutside, antialias};
}

const Tensor four = f32({4}, {1, 2, 3, 4});

} // namespace

static void expectNearest(const Floats &expected, int64_t coordinates, int64_t rounding) {
  expectKernel("resize", {four}, f32({int64_t(expected.size())}, expected), along0(nearest, coordinates, rounding), floats);
}

TEST(ReferenceKernel, resize) {
  // Two dims of four, and a mode that repeats.
  expectKernel("resize", {f32({1, 1, 2, 2}, {1, 2, 3, 4})}, f32({1, 1, 4, 6},
      {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}),
               {2, 2, 3, nearest, asymmetric, down, 0, 0}, floats);
  // Places 0.5 and 2.5.
  expectNearest({1, 3}, halfPixel, preferFloor);
  expectNearest({2, 4}, halfPixel, preferCeil);
  expectNearest({1, 3}, halfPixel, down);
  expectNearest({2, 4}, halfPixel, up);
  // Places 0 and 4 / 3, or 0 ... 3 in steps of 0.6.
  expectNearest({1, 3, 4}, asymmetric, downIfGrown);
  expectNearest({1, 1, 2, 3, 3, 4}, asymmetric, downIfGrown);
  expectNearest({2, 4}, tfHalfPixelForNn, down);
  expectNearest({1}, pytorchHalfPixel, up);
  expectKernel("resize", {boolean({2}, {1, 0})}, boolean({4}, {1, 1, 0, 0}), along0(nearest, halfPixel), floats);
  // A given scale leaves a part of an output that does not show: 4 * 0.6 = 2.4.
  Tensor scale = f32({1}, {0.6});
  expectKernel("resize", {four, scale}, f32({2}, {1, 1 + 3 / 1.4}), along0(linear, alignCorners), floats, 1e-6);
  expectKernel("resize", {four, scale}, f32({2}, {1 + 0.5 / 0.6 - 0.5, 1 + 1.5 / 0.6 - 0.5}), along0(linear, halfPixel), floats,
               1e-6);
  double offset = 2 * (1 - 2 / 2.4);
  expectKernel("resize", {four, scale}, f32({2}, {1 + offset + 0.5 / 0.6 - 0.5, 1 + offset + 1.5 / 0.6 - 0.5}),
               along0(linear, halfPixelSymmetric), floats, 1e-6);
}

TEST(ReferenceKernel, resize_by_weights) {
  Tensor two = f32({2}, {1, 2});
  expectKernel("resize", {two}, f32({4}, {1, 1.25, 1.75, 2}), along0(linear, halfPixel), floats);
  expectKernel("resize", {two}, f32({3}, {1, 1.5, 2}), along0(linear, alignCorners), floats);
  expectKernel("resize", {two}, f32({1}, {1}), along0(linear, alignCorners), floats);
  expectKernel("resize", {f32({2, 2}, {1, 2, 3, 4})}, f32({3, 3}, {1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4}),
               {2, 0, 1, linear, alignCorners, 0, 0, 0}, floats);
  // Integers round to even and saturate.
  expectKernel("resize", {make<uint8_t>({2}, {0, 255})}, make<uint8_t>({3}, {0, 128, 255}), along0(linear, alignCorners), floats);
  // The weights of a place in the middle, and at -0.25, where two taps are the first input or are left out.
  expectKernel("resize", {f32({4}, {0, 0, 1, 0})}, f32({1}, {0.59375}), along0(cubic, halfPixel), floats);
  Tensor step = f32({2}, {8, 0});
  double near = 0.87890625, far = -0.10546875, outer = ((-0.75 * 1.75 + 3.75) * 1.75 - 6) * 1.75 + 3;
  double other = ((1.25 * 0.75) - 2.25) * 0.75 * 0.75 + 1;
  std::vector<Tensor> results = {f32({4}, {0, 0, 0, 0})};
  ASSERT_EQ(call("resize", {step}, results, along0(cubic, halfPixel), floats), LLMC_KERNEL_OK);
  EXPECT_NEAR(results[0].at<float>(0), 8 * (outer + other + near), 1e-5);
  ASSERT_EQ(call("resize", {step}, results, along0(cubic, halfPixel, 0, 1), floats), LLMC_KERNEL_OK);
  EXPECT_NEAR(results[0].at<float>(0), 8 * near / (near + far), 1e-5);
  // Half as many: the filter is twice as wide.
  expectKernel("resize", {four}, f32({2}, {1.625, 3.375}), along0(linear, halfPixel, 0, 0, 1), floats);
  expectKernel("resize", {f64({4}, {1, 2, 3, 4})}, f64({2}, {(0.75 * 1 + 0.75 * 2 + 0.25 * 3) / 1.75,
                                                             (0.25 * 2 + 0.75 * 3 + 0.75 * 4) / 1.75}),
               along0(linear, halfPixel, 0, 1, 1), floats, 1e-15);
}

TEST(ReferenceKernel, resize_of_a_region) {
  Ints crop = along0(linear, tfCropAndResize);
  expectKernel("resize", {four, absent, f32({2}, {0, 2})}, f32({3}, {1, 4, 9}), crop, floats);
  expectKernel("resize", {four, absent, f32({2}, {0.25, 0.75})}, f32({1}, {2.5}), crop, floats);
  expectKernel("resize", {four, absent, f32({2}, {1, 0})}, f32({4}, {4, 3, 2, 1}), crop, floats);
  expectKernel("resize", {four, absent, f32({2}, {0, 2})}, f32({3}, {1, 4, 9}), along0(nearest, tfCropAndResize), floats);
}

TEST(ReferenceKernel, resize_of_nothing) {
  expectKernel("resize", {f32({}, {7})}, f32({}, {7}), {0, nearest, halfPixel, preferFloor, 0, 0}, floats);
  expectKernel("resize", {f32({0, 4}, {})}, f32({0, 2}, {}), {1, 1, linear, halfPixel, 0, 0, 0}, floats);
  std::vector<Tensor> results = {f32({2}, {0, 0})};
  EXPECT_EQ(call("resize", {f32({0}, {})}, results, along0(linear, halfPixel), floats), LLMC_KERNEL_BAD_SHAPE);
  for (double scale : {0.0, -1.0, 0.1, inf, NaN}) // not those of the result
    EXPECT_EQ(call("resize", {four, f32({1}, {scale})}, results, along0(linear, halfPixel), floats),
              LLMC_KERNEL_BAD_SHAPE) << scale;
}
