// layer_norm, rms_norm and batch_norm against their formulas in double.
#include "test/kernels/ReferenceCase.h"

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

/// Normalises each run of `size` values.
static std::vector<double> normalized(const std::vector<double> &x, size_t size, bool centre, double epsilon) {
  std::vector<double> y;
  for (size_t start = 0; start < x.size(); start += size) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < size && centre; ++i)
      mean += x[start + i] / double(size);
    for (size_t i = 0; i < size; ++i)
      variance += (x[start + i] - mean) * (x[start + i] - mean) / double(size);
    for (size_t i = 0; i < size; ++i)
      y.push_back((x[start + i] - mean) / std::sqrt(variance + epsilon));
  }
  return y;
}

static const std::vector<double> samples = {1, 2, 4, -3, 0.5, 8, -7, 3, 11, 2, 2, 2};

TEST(ReferenceKernel, layer_norm) {
  std::vector<double> scale = {1, 2, 3, 4}, bias = {0.5, 0, -1, 2}, y = normalized(samples, 4, true, 1e-5);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = y[i] * scale[i % 4] + bias[i % 4];
  expectKernel("layer_norm", {f32({3, 4}, samples), f32({4}, scale), f32({4}, bias)}, f32({3, 4}, y), {1}, {1e-5},
               1e-6);
  expectKernel("layer_norm", {f64({3, 2, 2}, samples), f64({2, 2}, scale), f64({2, 2}, bias)}, f64({3, 2, 2}, y), {-2},
               {1e-5}, 1e-14);
  std::vector<double> whole = normalized(samples, 12, true, 0.1);
  expectKernel("layer_norm", {f32({3, 4}, samples), f32({1}, {1})}, f32({3, 4}, whole), {0}, {0.1}, 1e-6); // no bias
  expectKernel("layer_norm", {f32({3, 4}, samples), f32({}, {1}), absent}, f32({3, 4}, whole), {0}, {0.1}, 1e-6);
  // A large mean must not swallow the variance.
  expectKernel("layer_norm", {f32({1, 2}, {16777216, 16777218}), f32({2}, {1, 1})}, f32({1, 2}, {-1, 1}), {1}, {0}, 0);
  expectKernel("layer_norm", {f32({0, 4}, {}), f32({4}, scale)}, f32({0, 4}, {}), {1}, {1e-5});
}

TEST(ReferenceKernel, rms_norm) {
  std::vector<double> y = normalized(samples, 4, false, 1e-6);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] *= double(i % 4);
  expectKernel("rms_norm", {f32({3, 4}, samples), f32({4}, {0, 1, 2, 3})}, f32({3, 4}, y), {-1}, {1e-6}, 1e-6);
  expectKernel("rms_norm", {make<Half>({1, 2}, {3, 3}), make<Half>({2}, {1, 2})}, make<Half>({1, 2}, {1, 2}), {1}, {0});
}

TEST(ReferenceKernel, batch_norm) {
  Tensor scale = f32({2}, {2, 1}), bias = f32({2}, {1, -1}), mean = f32({2}, {1, 2}), variance = f32({2}, {3, 0});
  // (x - 1) / 2 * 2 + 1 and (x - 2) / 1 * 1 - 1 with epsilon 1
  expectKernel("batch_norm", {f32({1, 2, 2}, {1, 2, 3, 4}), scale, bias, mean, variance}, f32({1, 2, 2}, {1, 2, 0, 1}),
               {0}, {1});
  expectKernel("batch_norm", {f32({1, 2, 2}, {1, 3, 2, 4}), scale, bias, mean, variance}, f32({1, 2, 2}, {1, 0, 2, 1}),
               {1}, {1});
  expectKernel("batch_norm", {f32({2, 2}, {1, 3, 2, 4}), scale, bias, mean, variance}, f32({2, 2}, {1, 0, 2, 1}), {0},
               {1});
  expectKernel("batch_norm", {f32({0, 2}, {}), scale, bias, mean, variance}, f32({0, 2}, {}), {0}, {1});
  expectKernel("batch_norm", {make<Half>({2}, {1, 2}), f32({1}, {2}), f32({1}, {1}), f32({1}, {1}), f32({1}, {3})},
               make<Half>({2}, {1, 2}), {0}, {1}); // rank 1: one channel; parameters of another float type
}
