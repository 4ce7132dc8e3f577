// grid_sample(x, grid): samples of an image at any places, of 1 to 3 spatial dims.
//
// ints: mode (0 nearest, 1 linear, 2 cubic), padding (0 zeros, 1 border, 2 reflection), align corners
// x is N x C x spatial, grid N x places x spatial dims with the last dim first. Places and sums are in the compute type of x, in float
// where x is not interpolated. A value is the sum over the taps of the first dim of weight times the value along the rest.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

namespace {

enum Mode : int64_t { nearest, linear, cubic };
enum Padding : int64_t { zeros, border, reflection };
constexpr int32_t most = 3, mostTaps = 4;

/// The taps of a sample along one dim: inputs and their weights. -1 stands for a zero beyond the border.
template <typename C> struct Taps {
  int32_t count;
  int64_t index[mostTaps];
  C weight[mostTaps];
};

template <typename C> struct Sampler {
  int64_t mode, padding;
  bool alignCorners;

  /// Between the borders, by reflection at them.
  C reflected(C x, C low, C high) const {
    C range = high - low;
    if (!(range > 0))
      return low;
    C beyond = x < low ? low - x : x > high ? x - high : C(0);
    C times = math::floor(beyond / range), rest = beyond - times * range;
    bool isOdd = times - C(2) * math::floor(times / C(2)) != 0;
    if (x < low)
      return isOdd ? high - rest : low + rest;
    if (x > high)
      return isOdd ? low + rest : high - rest;
    return x;
  }
  C lowBorder() const { return alignCorners ? C(0) : C(-0.5); }
  C highBorder(int64_t size) const { return C(size) - (alignCorners ? C(1) : C(0.5)); }

  /// The input that stands at place i.
  int64_t inside(int64_t i, int64_t size) const {
    if (i >= 0 && i < size)
      return i;
    if (padding == zeros)
      return -1;
    if (padding == border)
      return clamp(i, 0, size - 1);
    return clamp(toInteger<int64_t>(reflected(C(i), lowBorder(), highBorder(size))), 0, size - 1);
  }

  Taps<C> tapsAt(C coordinate, int64_t size) const {
    C x = alignCorners ? (coordinate + C(1)) / C(2) * C(size - 1) : ((coordinate + C(1)) * C(size) - C(1)) / C(2);
    if (mode == nearest)
      x = math::roundEven(x);
    if (x < lowBorder() || x > highBorder(size)) {
      if (padding == border)
        x = maximum(C(0), minimum(x, C(size - 1)));
      else if (padding == reflection)
        x = reflected(x, lowBorder(), highBorder(size));
    }
    constexpr C far = C(0x1p40); // beyond any image, and far from the ends of int64
    int64_t left = toInteger<int64_t>(math::floor(maximum(-far, minimum(far, x))));
    C rest = x - C(left);
    Taps<C> taps{mode == cubic ? 4 : mode == linear ? 2 : 1, {}, {}};
    for (int32_t t = 0; t < taps.count; ++t) {
      int64_t place = t - (mode == cubic ? 1 : 0);
      taps.index[t] = inside(left + place, size);
      taps.weight[t] = mode == nearest ? C(1) : mode == linear ? (t ? rest : C(1) - rest) : cubicWeight(magnitude(rest - C(place)));
    }
    return taps;
  }
  static C cubicWeight(C x) {
    constexpr C a = C(-0.75);
    return x <= C(1) ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  }
};

} // namespace

/// The value along the dims from d on.
template <typename T, typename C> static C interpolate(const T *from, const Taps<C> *taps, const int64_t *strides, int32_t d,
                                                       int32_t rank) {
  if (d == rank)
    return C(load(*from));
  C total = 0;
  for (int32_t t = 0; t < taps[d].count; ++t) {
    bool isInside = taps[d].index[t] >= 0;
    C value = isInside ? interpolate<T, C>(from + taps[d].index[t] * strides[d], taps, strides, d + 1, rank) : C(0);
    total = multiplyAdd(taps[d].weight[t], value, total);
  }
  return total;
}

/// Calls `sample(y offset, x offset of the image, taps)` for each place and channel.
template <typename C, typename Sample> static void forEachSample(const llmc_reference_args *args, Sample sample) {
  const llmc_tensor &x = args->inputs[0], &grid = args->inputs[1], &y = args->outputs[0];
  Sampler<C> sampler{args->ints[0], args->ints[1], args->ints[2] != 0};
  int32_t spatial = x.rank - 2;
  Dims xStrides = stridesOf(x), yStrides = stridesOf(y), gridStrides = stridesOf(grid), places{spatial + 1};
  places[0] = y.dims[0];
  for (int32_t d = 0; d < spatial; ++d)
    places[d + 1] = y.dims[d + 2];
  forEachIndex(places, [&](const int64_t *index) {
    int64_t gridOffset = 0, yOffset = index[0] * yStrides[0];
    for (int32_t d = 0; d <= spatial; ++d)
      gridOffset += index[d] * gridStrides[d];
    for (int32_t d = 1; d <= spatial; ++d)
      yOffset += index[d] * yStrides[d + 1];
    Taps<C> taps[most];
    for (int32_t d = 0; d < spatial; ++d)
      taps[d] = sampler.tapsAt(C(readFloat(grid, gridOffset + (spatial - 1 - d) * gridStrides[spatial + 1])), x.dims[d + 2]);
    for (int64_t c = 0; c < y.dims[1]; ++c)
      sample(yOffset + c * yStrides[1], index[0] * xStrides[0] + c * xStrides[1], taps);
  });
}

LLMC_REFERENCE_KERNEL(grid_sample) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  Dims strides = stridesOf(x);
  int32_t spatial = x.rank - 2;
  if (shapeOf(x).elements() == 0 && shapeOf(y).elements() != 0)
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, 0);
  if (args->ints[0] == nearest)
    return dispatchWidth(x.dtype, [&]<typename T>() {
      forEachSample<float>(args, [&](int64_t to, int64_t from, const Taps<float> *taps) {
        bool isInside = true;
        for (int32_t d = 0; d < spatial; ++d)
          isInside &= taps[d].index[0] >= 0, from += taps[d].index[0] * strides[d + 2];
        dataOf<T>(y)[to] = isInside ? dataOf<T>(x)[from] : T(0);
      });
      return LLMC_KERNEL_OK;
    });
  return dispatchFloat(x.dtype, [&]<typename T>() {
    using C = Compute<T>;
    forEachSample<C>(args, [&](int64_t to, int64_t from, const Taps<C> *taps) {
      dataOf<T>(y)[to] = store<T>(interpolate<T, C>(dataOf<T>(x) + from, taps, strides.at + 2, 0, spatial));
    });
    return LLMC_KERNEL_OK;
  });
}
