// resize: samples of a grid of another size, by interpolation along some axes.
//
// inputs: x, scales?, roi?; ints: list axes, mode, coordinates, nearest, exclude outside, antialias (as numbered below);
// floats: cubic coefficient, extrapolation value
// Places are computed in the compute type of floats, for integers in float. An interpolated value is the sum over the taps of the
// first axis of weight times the value interpolated along the rest, one fused multiply-add each.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

namespace {

enum Mode : int64_t { nearest, linear, cubic };
enum Coordinates : int64_t { halfPixel, halfPixelSymmetric, pytorchHalfPixel, alignCorners, asymmetric, tfHalfPixelForNn,
                            tfCropAndResize };
enum Rounding : int64_t { preferFloor, preferCeil, down, up, downIfGrown };

template <typename T> struct PlaceTypeOf {
  using Type = float;
};
template <> struct PlaceTypeOf<double> {
  using Type = double;
};
template <typename T> using PlaceType = typename PlaceTypeOf<T>::Type;

struct Options {
  Dims axes;
  int64_t mode, coordinates, rounding;
  bool excludeOutside, antialias;
  double cubicCoefficient, extrapolation;

  explicit Options(const llmc_reference_args *args) {
    IntReader ints(args);
    axes = ints.list();
    mode = ints.integer(), coordinates = ints.integer(), rounding = ints.integer();
    excludeOutside = ints.flag(), antialias = ints.flag();
    cubicCoefficient = args->floats[0], extrapolation = args->floats[1];
  }
};

/// One axis: from `size` samples to `newSize`. C is the type of places and weights.
template <typename C> struct Axis {
  int64_t size, newSize, step; // step: from one sample to the next in memory
  C scale, start = 0, end = 1; // start and end of the region of interest
  bool given;                  // the scale, rather than the new size
  bool kept = true;            // output i is input i

  /// Where output i lies between the inputs.
  C place(int64_t i, int64_t coordinates) const {
    C x = C(i), one = C(1), half = C(0.5), old = C(size), fresh = C(newSize), width = given ? scale * old : fresh;
    switch (coordinates) {
    case halfPixelSymmetric:
      return old / 2 * (one - fresh / width) + ((x + half) / scale - half);
    case pytorchHalfPixel:
      return newSize > 1 ? (x + half) / scale - half : C(0);
    case alignCorners:
      return width == one ? C(0) : x * (old - one) / (width - one);
    case asymmetric:
      return x / scale;
    case tfHalfPixelForNn:
      return (x + half) / scale;
    case tfCropAndResize:
      return newSize > 1 ? start * (old - one) + x * (end - start) * (old - one) / (fresh - one) : half * (start + end) * (old - one);
    default:
      return (x + half) / scale - half;
    }
  }
  int64_t inside(int64_t i) const { return clamp(i, 0, size - 1); }
};

/// The inputs that one output of an axis is made of: taps first, first + 1 ..., each with a weight. Of few they are found once.
constexpr int64_t fewTaps = 4;
template <typename C> struct Taps {
  int64_t first = 0, count = 0;
  // Weight of tap i: filter((i - ratio) * stretch) / total, with i counted from the first.
  C ratio = 0, stretch = 1, total = 1;
  C weights[fewTaps] = {};
  int64_t offsets[fewTaps] = {};
};

template <typename C> C linearFilter(C x) { return maximum(C(0), C(1) - magnitude(x)); }

template <typename C> C cubicFilter(C x, C a) {
  x = magnitude(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : C(0);
}

template <typename C> int64_t nearestIndex(C x, const Axis<C> &axis, int64_t rounding) {
  C low = math::floor(x), rest = x - low;
  bool isUp = false;
  switch (rounding) {
  case preferFloor:
    isUp = rest > C(0.5);
    break;
  case preferCeil:
    isUp = rest >= C(0.5);
    break;
  case up:
    isUp = rest > 0;
    break;
  case downIfGrown:
    isUp = rest > 0 && axis.scale < 1;
    break;
  }
  return axis.inside(toInteger<int64_t>(low) + isUp);
}

template <typename C> class Resizer {
public:
  Resizer(const llmc_reference_args *args, const Options &options) : options(options) {
    const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
    Dims strides = stridesOf(x);
    for (int32_t d = 0; d < x.rank; ++d)
      axes[d] = {x.dims[d], y.dims[d], strides[d], C(1), C(0), C(1), false};
    for (int32_t i = 0; i < options.axes.rank; ++i) {
      Axis<C> &axis = axes[options.axes[i]];
      axis.given = isPresent(args, 1);
      axis.scale = axis.given ? C(readAt(args->inputs[1], i)) : C(axis.newSize) / C(axis.size);
      if (isPresent(args, 2) && options.coordinates == tfCropAndResize)
        axis.start = C(readAt(args->inputs[2], i)), axis.end = C(readAt(args->inputs[2], options.axes.rank + i));
      axis.kept = axis.scale == 1 && axis.size == axis.newSize && axis.start == 0 && axis.end == 1;
    }
  }

  /// Whether the place is beyond the input, where the extrapolation value stands.
  bool isBeyond(int32_t d, int64_t i) const {
    if (options.coordinates != tfCropAndResize || axes[d].kept)
      return false;
    C x = axes[d].place(i, options.coordinates);
    return x < 0 || x > C(axes[d].size - 1);
  }
  int64_t nearestOf(int32_t d, int64_t i) const {
    return axes[d].kept ? i : nearestIndex(axes[d].place(i, options.coordinates), axes[d], options.rounding);
  }
  int64_t step(int32_t d) const { return axes[d].step; }

  bool isKept(int32_t d) const { return axes[d].kept; }
  /// Of a dim that is not kept.
  Taps<C> tapsOf(int32_t d, int64_t i) const {
    const Axis<C> &axis = axes[d];
    constexpr C far = C(0x1p40); // beyond any input, and far from the ends of int64
    C x = axis.place(i, options.coordinates), left = maximum(-far, minimum(far, math::ceil(x) - 1));
    C reach = options.mode == cubic ? C(2) : C(1), stretch = options.antialias ? minimum(axis.scale, C(1)) : C(1);
    int64_t before = toInteger<int64_t>(math::floor(-reach / stretch)) + 1; // the first tap, counted from the one at `left`
    Taps<C> taps{toInteger<int64_t>(left) + before, 2 - 2 * before, x - left - C(before), stretch};
    if (options.antialias || options.excludeOutside) {
      C total = 0;
      for (int64_t t = 0; t < taps.count; ++t)
        total += findWeight(axis, taps, t);
      taps.total = total == 0 ? C(1) : total; // all of them may be outside
    }
    for (int64_t t = 0; t < minimum(taps.count, fewTaps); ++t)
      taps.weights[t] = findWeight(axis, taps, t), taps.offsets[t] = findOffset(axis, taps, t);
    return taps;
  }
  C weight(int32_t d, const Taps<C> &taps, int64_t t) const {
    return taps.count <= fewTaps ? taps.weights[t] : findWeight(axes[d], taps, t);
  }
  int64_t offset(int32_t d, const Taps<C> &taps, int64_t t) const {
    return taps.count <= fewTaps ? taps.offsets[t] : findOffset(axes[d], taps, t);
  }

private:
  static double readAt(const llmc_tensor &tensor, int64_t i) { return readFloat(tensor, i * stridesOf(tensor)[0]); }
  C findWeight(const Axis<C> &axis, const Taps<C> &taps, int64_t t) const {
    int64_t at = taps.first + t;
    if (options.excludeOutside && (at < 0 || at >= axis.size))
      return 0;
    C distance = (C(t) - taps.ratio) * taps.stretch;
    return (options.mode == cubic ? cubicFilter(distance, C(options.cubicCoefficient)) : linearFilter(distance)) / taps.total;
  }
  int64_t findOffset(const Axis<C> &axis, const Taps<C> &taps, int64_t t) const { return axis.inside(taps.first + t) * axis.step; }

  const Options &options;
  Axis<C> axes[LLMC_MAX_RANK];
};

/// Calls `body(index, offset in y)` for each row of y's last dim.
template <typename Body> void forEachRow(const llmc_tensor &y, Body body) {
  Dims strides = stridesOf(y), rows = shapeOf(y);
  rows[rows.rank - 1] = 1;
  forEachIndex(rows, [&](const int64_t *index) {
    int64_t offset = 0;
    for (int32_t d = 0; d < rows.rank - 1; ++d)
      offset += index[d] * strides[d];
    body(index, offset);
  });
}

/// Columns whose samples are found once for all rows.
constexpr int64_t blockSize = 64;

template <typename Body> void forEachBlock(int64_t columns, Body body) {
  for (int64_t first = 0; first < columns; first += blockSize)
    body(first, minimum(blockSize, columns - first));
}

} // namespace

template <typename T, typename C> static void resizeNearest(const llmc_reference_args *args, const Options &options) {
  const llmc_tensor &y = args->outputs[0];
  Resizer<C> resizer(args, options);
  const T *from = dataOf<T>(args->inputs[0]), beyond = convert<T>(options.extrapolation);
  T *to = dataOf<T>(y);
  int32_t last = y.rank - 1;
  int64_t step = stridesOf(y)[last];
  forEachBlock(y.dims[last], [&](int64_t first, int64_t count) {
    int64_t columns[blockSize]; // -1 beyond the input
    for (int64_t i = 0; i < count; ++i)
      columns[i] = resizer.isBeyond(last, first + i) ? -1 : resizer.nearestOf(last, first + i) * resizer.step(last);
    forEachRow(y, [&](const int64_t *index, int64_t start) {
      bool rowIsBeyond = false;
      int64_t row = 0;
      for (int32_t d = 0; d < last; ++d)
        row += resizer.nearestOf(d, index[d]) * resizer.step(d), rowIsBeyond |= resizer.isBeyond(d, index[d]);
      for (int64_t i = 0; i < count; ++i)
        to[start + (first + i) * step] = rowIsBeyond || columns[i] < 0 ? beyond : from[row + columns[i]];
    });
  });
}

/// The taps of one output: dims that keep their samples have none, and are in `from` already.
template <typename C> struct Sample {
  Taps<C> taps[LLMC_MAX_RANK];
  int32_t dims[LLMC_MAX_RANK], count = 0;

  void push(int32_t d, const Taps<C> &own) { dims[count] = d, taps[count++] = own; }
};

/// The value interpolated along the dims from the i-th on.
template <typename T, typename C> static C interpolate(const Resizer<C> &resizer, const T *from, const Sample<C> &sample,
                                                       int32_t i = 0) {
  const Taps<C> &taps = sample.taps[i];
  int32_t d = sample.dims[i];
  C total = 0;
  for (int64_t t = 0; t < taps.count; ++t) {
    const T *at = from + resizer.offset(d, taps, t);
    C value = i + 1 == sample.count ? C(load(*at)) : interpolate<T, C>(resizer, at, sample, i + 1);
    total = multiplyAdd(resizer.weight(d, taps, t), value, total);
  }
  return total;
}

/// Of integers the nearest, ties to even.
template <typename T, typename C> static T rounded(C value) {
  if constexpr (isFloat<T>)
    return convert<T>(value);
  else
    return convert<T>(math::roundEven(value));
}

template <typename T, typename C> static void resizeByWeights(const llmc_reference_args *args, const Options &options) {
  const llmc_tensor &y = args->outputs[0];
  Resizer<C> resizer(args, options);
  const T beyond = convert<T>(options.extrapolation);
  T *to = dataOf<T>(y);
  int32_t last = y.rank - 1;
  int64_t step = stridesOf(y)[last];
  forEachBlock(y.dims[last], [&](int64_t first, int64_t count) {
    Taps<C> columns[blockSize];
    bool isBeyond[blockSize];
    for (int64_t i = 0; i < count; ++i)
      columns[i] = resizer.tapsOf(last, first + i), isBeyond[i] = resizer.isBeyond(last, first + i);
    forEachRow(y, [&](const int64_t *index, int64_t start) {
      const T *row = dataOf<T>(args->inputs[0]);
      bool rowIsBeyond = false;
      Sample<C> sample;
      for (int32_t d = 0; d < last; ++d) {
        rowIsBeyond |= resizer.isBeyond(d, index[d]);
        if (resizer.isKept(d))
          row += index[d] * resizer.step(d);
        else
          sample.push(d, resizer.tapsOf(d, index[d]));
      }
      int32_t outer = sample.count;
      for (int64_t i = 0; i < count; ++i) {
        const T *from = row;
        sample.count = outer;
        if (resizer.isKept(last))
          from += (first + i) * resizer.step(last);
        else
          sample.push(last, columns[i]);
        T &result = to[start + (first + i) * step];
        if (rowIsBeyond || isBeyond[i])
          result = beyond;
        else
          result = sample.count == 0 ? *from : rounded<T, C>(interpolate<T, C>(resizer, from, sample));
      }
    });
  });
}

/// Given scales must be those of the output's dims, rounded down or to the nearest: this also bounds the taps of a sample.
static int32_t checkScales(const llmc_reference_args *args, const Options &options) {
  for (int32_t i = 0; isPresent(args, 1) && i < options.axes.rank; ++i) {
    int32_t d = int32_t(options.axes[i]);
    double scale = readFloat(args->inputs[1], i * stridesOf(args->inputs[1])[0]), width = scale * double(args->inputs[0].dims[d]);
    if (!(scale > 0 && double(args->outputs[0].dims[d]) < width + 0.75 && width < 0x1p62))
      return fail(args, LLMC_KERNEL_BAD_SHAPE, 1, args->outputs[0].dims[d]);
  }
  return LLMC_KERNEL_OK;
}

LLMC_REFERENCE_KERNEL(resize) {
  Options options(args);
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  if (shapeOf(y).elements() == 0)
    return LLMC_KERNEL_OK;
  if (shapeOf(x).elements() == 0)
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, 0);
  if (int32_t status = checkScales(args, options))
    return status;
  if (y.rank == 0 || options.mode == nearest)
    return dispatchAny(y.dtype, [&]<typename T>() {
      using C = PlaceType<T>;
      if (y.rank == 0)
        *dataOf<T>(y) = *dataOf<T>(x);
      else
        resizeNearest<T, C>(args, options);
      return LLMC_KERNEL_OK;
    });
  return dispatchNumber(y.dtype, [&]<typename T>() {
    resizeByWeights<T, PlaceType<T>>(args, options);
    return LLMC_KERNEL_OK;
  });
}
