// matmul, conv and pooling: hand values, and sweeps against direct evaluations in double on data with exact results.
#include "test/kernels/ReferenceCase.h"

#include <random>

using namespace llmc;
using namespace llmc::reference;
using namespace llmc::test;

static std::vector<double> smallIntegers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> values(count);
  for (double &value : values)
    value = int(random() % 9) - 4;
  return values;
}

TEST(ReferenceKernel, matmul) {
  expectKernel("matmul", {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({3, 2}, {1, 0, 0, 1, 1, 1})},
               f32({2, 2}, {4, 5, 10, 11}));
  expectKernel("matmul", {f32({3}, {1, 2, 3}), f32({3}, {4, 5, 6})}, f32({}, {32}));
  expectKernel("matmul", {f32({3}, {1, 2, 3}), f32({3, 2}, {1, 0, 0, 1, 1, 1})}, f32({2}, {4, 5}));
  expectKernel("matmul", {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({3}, {1, 0, 1})}, f32({2}, {4, 10}));
  expectKernel("matmul", {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2, 1}, {10, 1})}, f32({2, 1, 1}, {12, 34}));
  expectKernel("matmul", {f32({2, 1, 1, 2}, {1, 2, 3, 4}), f32({3, 2, 1}, {1, 0, 0, 1, 1, 1})},
               f32({2, 3, 1, 1}, {1, 2, 3, 3, 4, 7}));
  expectKernel("matmul", {f32({2}, {1, 2}), f32({2, 2, 1}, {1, 0, 0, 1})}, f32({2, 1}, {1, 2}));
  expectKernel("matmul", {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2}, {1, 1})}, f32({2, 1}, {3, 7}));
  // A sum of nothing is 0; no rows, no results.
  expectKernel("matmul", {f32({2, 0}, {}), f32({0, 2}, {})}, f32({2, 2}, {0, 0, 0, 0}));
  expectKernel("matmul", {f32({0, 2}, {}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, f32({0, 3}, {}));
  expectKernel("matmul", {i32({1, 2}, {2147483647, 1}), i32({2, 1}, {2, 3})}, i32({1, 1}, {1}));
  expectKernel("matmul", {make<Half>({1, 2}, {2048, 1}), make<Half>({2, 1}, {1, 1})}, make<Half>({1, 1}, {2048}));
  // Fused, in ascending k: -1 + (1 + e)^2 keeps the square's low bits; the other order would lose the 1.
  double e = 0x1p-12;
  expectKernel("matmul", {f32({1, 2}, {-1, 1 + e}), f32({2, 1}, {1, 1 + e})}, f32({1, 1}, {2 * e + e * e}));
  expectKernel("matmul", {f32({1, 3}, {1, 0x1p30, -0x1p30}), f32({3, 1}, {1, 1, 1})}, f32({1, 1}, {0}));
}

namespace {

/// A window problem with the same parameters in each spatial dim.
struct Problem {
  int spatial;
  int64_t batch, channels, outputs, groups, size, kernel, stride, dilation, padBegin, padEnd;

  int64_t count() const { return (size + padBegin + padEnd - ((kernel - 1) * dilation + 1)) / stride + 1; }
  bool isPossible() const { return size + padBegin + padEnd >= (kernel - 1) * dilation + 1; }
};

int64_t power(int64_t base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

Ints dims(int64_t batch, int64_t channels, int64_t size, int spatial, bool channelsLast) {
  Ints result(spatial, size);
  result.insert(channelsLast ? result.end() : result.begin(), channels);
  result.insert(result.begin(), batch);
  return result;
}

void appendList(Ints &ints, const Ints &list) {
  ints.push_back(int64_t(list.size()));
  ints.insert(ints.end(), list.begin(), list.end());
}

Ints pads(const Problem &p) {
  Ints result(p.spatial, p.padBegin);
  result.insert(result.end(), p.spatial, p.padEnd);
  return result;
}

/// N x C x spatial to N x spatial x C.
std::vector<double> moveChannelsLast(const std::vector<double> &values, int64_t batch, int64_t channels) {
  int64_t pixels = channels && batch ? int64_t(values.size()) / (batch * channels) : 0;
  std::vector<double> result(values.size());
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < pixels; ++i)
        result[(n * pixels + i) * channels + c] = values[(n * channels + c) * pixels + i];
  return result;
}

/// Calls `body(output pixel, tap, input pixel or -1)`, all in row-major order.
template <typename Body> void forEachTapOf(const Problem &p, Body body) {
  int64_t outputs = power(p.count(), p.spatial), taps = power(p.kernel, p.spatial);
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t t = 0; t < taps; ++t) {
      int64_t input = 0, scale = 1, restO = o, restT = t;
      for (int d = 0; d < p.spatial; ++d, restO /= p.count(), restT /= p.kernel, scale *= p.size) {
        int64_t at = restO % p.count() * p.stride + restT % p.kernel * p.dilation - p.padBegin;
        input = at < 0 || at >= p.size || input < 0 ? -1 : input + at * scale;
      }
      body(o, t, input);
    }
}

void checkConv(const Problem &p) {
  int64_t inputs = power(p.size, p.spatial), outputs = power(p.count(), p.spatial), taps = power(p.kernel, p.spatial);
  int64_t groupInputs = p.channels / p.groups, groupOutputs = p.outputs / p.groups;
  std::vector<double> x = smallIntegers(p.batch * p.channels * inputs, 1),
                      w = smallIntegers(p.outputs * groupInputs * taps, 2);
  std::vector<double> bias = smallIntegers(p.outputs, 3), y(p.batch * p.outputs * outputs);
  for (int64_t n = 0; n < p.batch; ++n)
    for (int64_t m = 0; m < p.outputs; ++m) {
      double *row = y.data() + (n * p.outputs + m) * outputs;
      std::fill(row, row + outputs, bias[m]);
      forEachTapOf(p, [&](int64_t o, int64_t t, int64_t i) {
        for (int64_t c = 0; i >= 0 && c < groupInputs; ++c)
          row[o] += x[(n * p.channels + m / groupOutputs * groupInputs + c) * inputs + i] *
                    w[(m * groupInputs + c) * taps + t];
      });
    }
  for (bool channelsLast : {false, true}) {
    Ints ints;
    appendList(ints, Ints(p.spatial, p.stride));
    appendList(ints, pads(p));
    appendList(ints, Ints(p.spatial, p.dilation));
    ints.push_back(0); // pads as given
    ints.push_back(p.groups);
    ints.push_back(channelsLast);
    Tensor image = f32(dims(p.batch, p.channels, p.size, p.spatial, channelsLast),
                       channelsLast ? moveChannelsLast(x, p.batch, p.channels) : x);
    Tensor result = f32(dims(p.batch, p.outputs, p.count(), p.spatial, channelsLast),
                        channelsLast ? moveChannelsLast(y, p.batch, p.outputs) : y);
    expectKernel("conv",
                 {image, f32(dims(p.outputs, groupInputs, p.kernel, p.spatial, false), w), f32({p.outputs}, bias)},
                 result, ints);
  }
}

void checkPool(const Problem &p, bool countPads) {
  int64_t inputs = power(p.size, p.spatial), outputs = power(p.count(), p.spatial);
  std::vector<double> x = smallIntegers(p.batch * p.channels * inputs, 4), greatest, mean;
  auto isPadded = [&](int64_t o, int64_t t) { // inside input and pads in each dim
    for (int d = 0; d < p.spatial; ++d, o /= p.count(), t /= p.kernel)
      if (o % p.count() * p.stride + t % p.kernel * p.dilation - p.padBegin >= p.size + p.padEnd)
        return false;
    return true;
  };
  for (int64_t plane = 0; plane < p.batch * p.channels; ++plane) {
    std::vector<double> best(outputs, -inf), total(outputs), taps(outputs);
    forEachTapOf(p, [&](int64_t o, int64_t t, int64_t i) {
      taps[o] += countPads ? isPadded(o, t) : i >= 0;
      if (i < 0)
        return;
      best[o] = std::max(best[o], x[plane * inputs + i]);
      total[o] += x[plane * inputs + i];
    });
    for (int64_t o = 0; o < outputs; ++o) {
      greatest.push_back(best[o]);
      mean.push_back(total[o] / taps[o]);
    }
  }
  for (bool channelsLast : {false, true}) {
    Ints ints;
    appendList(ints, Ints(p.spatial, p.kernel));
    appendList(ints, Ints(p.spatial, p.stride));
    appendList(ints, pads(p));
    appendList(ints, Ints(p.spatial, p.dilation));
    ints.push_back(0); // pads as given
    ints.push_back(channelsLast);
    auto ordered = [&](const std::vector<double> &values) {
      return channelsLast ? moveChannelsLast(values, p.batch, p.channels) : values;
    };
    Tensor image = f32(dims(p.batch, p.channels, p.size, p.spatial, channelsLast), ordered(x));
    Ints shape = dims(p.batch, p.channels, p.count(), p.spatial, channelsLast);
    expectKernel("max_pool", {image}, f32(shape, ordered(greatest)), ints);
    ints.push_back(countPads);
    expectKernel("average_pool", {image}, f32(shape, ordered(mean)), ints);
  }
}

template <typename Body> void forEachProblem(int spatial, Body body) {
  for (int64_t size : {1, 2, 5})
    for (int64_t kernel : {1, 2, 3})
      for (int64_t stride : {1, 2, 3})
        for (int64_t dilation : {1, 2})
          for (int64_t padBegin : {0, 2})
            for (int64_t padEnd : {0, 1}) {
              Problem p{spatial, 2, 4, 6, 2, size, kernel, stride, dilation, padBegin, padEnd};
              if (p.isPossible())
                body(p);
            }
}

} // namespace

TEST(ReferenceKernel, conv) {
  forEachProblem(1, checkConv);
  forEachProblem(2, checkConv);
  checkConv({3, 1, 2, 4, 1, 4, 3, 2, 1, 1, 1});
  checkConv({2, 1, 6, 6, 6, 5, 3, 1, 1, 1, 1}); // depthwise
  checkConv({2, 0, 2, 2, 1, 3, 2, 1, 1, 0, 0}); // an empty batch
  // Without bias; small floats accumulate in float.
  expectKernel("conv", {make<Half>({1, 2, 1}, {2048, 1}), make<Half>({1, 2, 1}, {1, 1})}, make<Half>({1, 1, 1}, {2048}),
               {1, 1, 2, 0, 0, 1, 1, 0, 1, 0});
  expectKernel("conv", {f64({1, 1, 3}, {1, 2, 3}), f64({1, 1, 2}, {10, 1})}, f64({1, 1, 2}, {12, 23}),
               {1, 1, 2, 0, 0, 1, 1, 0, 1, 0});
  // Taps before channels: (tap 0: 1, 2^30; tap 1: -2^30, 0) keeps nothing of the 1, whichever order channels first had
  // kept.
  expectKernel("conv", {f32({1, 2, 2}, {1, -0x1p30, 0x1p30, 0}), f32({1, 2, 2}, {1, 1, 1, 1})}, f32({1, 1, 1}, {0}),
               {1, 1, 2, 0, 0, 1, 1, 0, 1, 0});
  // One group per channel.
  expectKernel("conv", {f32({1, 2, 2}, {1, 2, 3, 4}), f32({2, 1, 2}, {1, 10, 100, 1000})}, f32({1, 2, 1}, {21, 4300}), {1, 1, 2, 0, 0, 1, 1, 0, 0, 0});
}

TEST(ReferenceKernel, conv_transpose) {
  // Each input gives a block of the result.
  Tensor x = f32({1, 1, 2, 2}, {1, 2, 3, 4}), w = f32({1, 1, 2, 2}, {1, 10, 100, 1000});
  expectKernel("conv_transpose", {x, w}, f32({1, 1, 4, 4}, {1, 10, 2, 20, 100, 1000, 200, 2000, 3, 30, 4, 40, 300, 3000, 400, 4000}),
               {2, 2, 2, 4, 0, 0, 0, 0, 2, 1, 1, 2, 0, 0, 0, 1});
  // Blocks overlap; pads cut off, a bias is added, and a result that is larger has zeros.
  expectKernel("conv_transpose", {x, w}, f32({1, 1, 3, 3}, {1, 12, 20, 103, 1234, 2040, 300, 3400, 4000}), {2, 1, 1, 4, 0, 0, 0, 0, 2, 1, 1, 2, 0, 0, 0, 1});
  expectKernel("conv_transpose", {x, w, f32({1}, {0.5})}, f32({1, 1, 2, 2}, {1234.5, 2040.5, 3400.5, 4000.5}), {2, 1, 1, 4, 1, 1, 0, 0, 2, 1, 1, 2, 0, 0, 0, 1});
  expectKernel("conv_transpose", {f32({1, 1, 2}, {1, 2}), f32({1, 1, 2}, {1, 10})}, f32({1, 1, 5}, {1, 10, 2, 20, 0}), {1, 2, 2, 0, 0, 1, 1, 1, 0, 0, 1});
  expectKernel("conv_transpose", {f32({1, 1, 2}, {1, 2}), f32({1, 1, 2}, {1, 10})}, f32({1, 1, 4}, {1, 2, 10, 20}), {1, 1, 2, 0, 0, 1, 2, 1, 0, 0, 1});
  // A given size: what is too much is cut off, the odd element after or before; what is behind counts.
  for (int64_t lower : {0, 1})
    expectKernel("conv_transpose", {f32({1, 1, 2}, {1, 2}), f32({1, 1, 2}, {1, 10})}, f32({1, 1, 2}, lower ? Floats{12, 20} : Floats{1, 12}),
                 {1, 1, 2, 0, 0, 1, 1, 1, 0, 1 + lower, 1});
  expectKernel("conv_transpose", {f32({1, 1, 2}, {1, 2}), f32({1, 1, 2}, {1, 10})}, f32({1, 1, 2}, {12, 20}), {1, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1});
  expectKernel("conv_transpose", {f32({1, 1, 2}, {1, 2}), f32({1, 1, 2}, {1, 10})}, f32({1, 1, 5}, {1, 10, 2, 20, 0}), {1, 2, 2, 0, 0, 1, 1, 1, 0, 1, 1});
  // Two groups of two inputs and one output each.
  expectKernel("conv_transpose", {f32({1, 4, 1}, {1, 2, 3, 4}), f32({4, 1, 2}, {1, 10, 100, 1000, 1, 10, 100, 1000})},
               f32({1, 2, 2}, {201, 2010, 403, 4030}), {1, 1, 2, 0, 0, 1, 1, 1, 0, 0, 2});
  expectKernel("conv_transpose", {f64({1, 1, 1, 1, 2}, {1, 2}), f64({1, 2, 2, 1, 1}, {1, 10, 100, 1000})},
               f64({1, 2, 2, 1, 2}, {1, 2, 10, 20, 100, 200, 1000, 2000}), {3, 1, 1, 1, 6, 0, 0, 0, 0, 0, 0, 3, 1, 1, 1, 3, 0, 0, 0, 0, 1});
  expectKernel("conv_transpose", {f32({0, 1, 2}, {}), f32({1, 1, 2}, {1, 10})}, f32({0, 1, 3}, {}), {1, 1, 2, 0, 0, 1, 1, 1, 0, 0, 1});
}

TEST(ReferenceKernel, det) {
  // The greatest of a column is the pivot: rows change places.
  expectKernels("det", {f32({2, 2, 2}, {2, 4, 1, 5, 1, 5, 2, 4})}, {f32({2}, {6, -6}), f64({2, 2, 2}, {2, 4, 0, 3, 2, 4, 0, 3})});
  expectKernels("det", {f64({3, 3}, {0, 0, 3, 0, 2, 0, 1, 0, 0})}, {f64({}, {-6}), f64({3, 3}, {1, 0, 0, 0, 2, 0, 0, 0, 3})});
  expectKernels("det", {f32({2, 2}, {0, 1, 0, 2})}, {f32({}, {0}), f64({2, 2}, {0, 1, 0, 2})});
  expectKernels("det", {make<Half>({1, 1}, {7})}, {make<Half>({}, {7}), f64({1, 1}, {7})});
  expectKernels("det", {f32({0, 0}, {})}, {f32({}, {1}), f64({0, 0}, {})});
}

TEST(ReferenceKernel, max_pool) {
  forEachProblem(1, [](const Problem &p) { checkPool(p, false); });
  forEachProblem(2, [](const Problem &p) { checkPool(p, true); });
  // NaN wins; integers start at their least value; a window in the padding alone holds nothing.
  expectKernel("max_pool", {f32({1, 1, 4}, {1, NaN, 3, 4})}, f32({1, 1, 3}, {NaN, NaN, 4}),
               {1, 2, 1, 1, 2, 0, 0, 1, 1, 0, 0});
  expectKernel("max_pool", {make<int8_t>({1, 1, 2}, {-128, -100})}, make<int8_t>({1, 1, 1}, {-100}),
               {1, 2, 1, 1, 2, 0, 0, 1, 1, 0, 0});
  expectKernel("max_pool", {f32({1, 1, 1}, {-5})}, f32({1, 1, 3}, {-inf, -5, -inf}), {1, 1, 1, 1, 2, 1, 1, 1, 1, 0, 0});
}

TEST(ReferenceKernel, average_pool) {
  checkPool({3, 1, 2, 2, 1, 4, 2, 2, 1, 1, 1}, false);
  checkPool({3, 1, 2, 2, 1, 4, 2, 2, 1, 1, 1}, true);
  // One more window than fits, as ceil mode asks: it is cut off at the end of the pads.
  expectKernel("average_pool", {f32({1, 1, 4}, {1, 2, 3, 4})}, f32({1, 1, 2}, {2, 4}),
               {1, 3, 1, 3, 2, 0, 0, 1, 1, 0, 0, 0});
  expectKernel("average_pool", {f32({1, 1, 4}, {1, 2, 3, 4})}, f32({1, 1, 2}, {2, 2}),
               {1, 3, 1, 3, 2, 0, 1, 1, 1, 0, 0, 1});
}

/// Pads that the kernel finds: one element more at the end (upper) or at the start (lower), and none of what `pads` says.
TEST(ReferenceKernel, same_padding) {
  Tensor line = f32({1, 1, 4}, {1, 2, 3, 4});
  expectKernel("max_pool", {line}, f32({1, 1, 4}, {2, 3, 4, 4}), {1, 2, 1, 1, 2, 9, 9, 1, 1, 1, 0});
  expectKernel("max_pool", {line}, f32({1, 1, 4}, {1, 2, 3, 4}), {1, 2, 1, 1, 2, 9, 9, 1, 1, 2, 0});
  expectKernel("average_pool", {line}, f32({1, 1, 2}, {2, 3.5}), {1, 3, 1, 2, 2, 9, 9, 1, 1, 1, 0, 0});
  expectKernel("conv", {line, f32({1, 1, 2}, {10, 1})}, f32({1, 1, 4}, {12, 23, 34, 40}), {1, 1, 2, 9, 9, 1, 1, 1, 1, 0});
  expectKernel("conv", {line, f32({1, 1, 2}, {10, 1})}, f32({1, 1, 4}, {1, 12, 23, 34}), {1, 1, 2, 9, 9, 1, 1, 2, 1, 0});
}
