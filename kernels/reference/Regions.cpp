// roi_align and max_roi_pool: regions of images as pictures of one size.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Limits.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

namespace {

/// A picture of an image: a channel, for reading by row and column.
template <typename T> struct Plane {
  const T *data;
  int64_t height, width, rowStep, step;

  Plane(const llmc_tensor &x, int64_t image, int64_t channel) {
    Dims strides = stridesOf(x);
    data = dataOf<T>(x) + image * strides[0] + channel * strides[1];
    height = x.dims[2], width = x.dims[3], rowStep = strides[2], step = strides[3];
  }
  Compute<T> at(int64_t row, int64_t column) const { return load(data[row * rowStep + column * step]); }
};

/// The two neighbours of a place along one dim, and the weight of the second. No weight at all beyond the image.
template <typename C> struct Neighbours {
  int64_t low = 0, high = 0;
  C rest = 0;
  bool isBeyond = false;

  Neighbours(C x, int64_t size) {
    isBeyond = !(x >= C(-1) && x <= C(size));
    if (isBeyond)
      return;
    x = maximum(x, C(0));
    low = toInteger<int64_t>(x);
    bool isLast = low >= size - 1;
    low = isLast ? size - 1 : low;
    high = isLast ? low : low + 1;
    rest = isLast ? C(0) : x - C(low);
  }
};

/// The samples of one pixel: their mean, or the greatest of their weighted neighbours.
template <typename C> struct Pool {
  bool isMaximum;
  int64_t count = 0;
  C value = 0;

  template <typename T> void add(const Plane<T> &plane, const Neighbours<C> &y, const Neighbours<C> &x) {
    bool isBeyond = y.isBeyond || x.isBeyond;
    auto part = [&](C weight, int64_t row, int64_t column) { return isBeyond ? C(0) : weight * plane.at(row, column); };
    C one = C(1), parts[] = {part((one - y.rest) * (one - x.rest), y.low, x.low), part((one - y.rest) * x.rest, y.low, x.high),
                             part(y.rest * (one - x.rest), y.high, x.low), part(y.rest * x.rest, y.high, x.high)};
    C greatest = maximum(maximum(parts[0], parts[1]), maximum(parts[2], parts[3]));
    if (isMaximum)
      value = count ? maximum(value, greatest) : greatest;
    else
      value += parts[0] + parts[1] + parts[2] + parts[3];
    ++count;
  }
  C result() const { return isMaximum || count == 0 ? value : value / C(count); }
};

/// One region along one dim.
template <typename C> struct Extent {
  C start, pixel; // of the first pixel; of each pixel
  int64_t samples;

  Extent(C from, C to, int64_t pixels, int64_t fixedSamples, bool halfPixel) {
    C size = to - from;
    size = halfPixel ? size : maximum(size, C(1));
    start = from, pixel = size / C(pixels);
    samples = fixedSamples > 0 ? fixedSamples : toInteger<int64_t>(math::ceil(pixel));
  }
  C place(int64_t i, int64_t sample) const { return start + C(i) * pixel + (C(sample) + C(0.5)) * pixel / C(samples); }
};

} // namespace

/// inputs: x, rois [regions, 4], images [regions]; ints: samples, half pixel, maximum; floats: scale
template <typename T> static int32_t alignRegions(const llmc_reference_args *args) {
  using C = Compute<T>;
  constexpr int64_t mostSamples = 1 << 12; // per pixel and dim: a region of more is no data of a model
  const llmc_tensor &x = args->inputs[0], &rois = args->inputs[1], &images = args->inputs[2], &y = args->outputs[0];
  Dims roiStrides = stridesOf(rois), yStrides = stridesOf(y);
  bool halfPixel = args->ints[1] != 0;
  for (int64_t region = 0; region < y.dims[0]; ++region) {
    int64_t image = readIndex(images, region * stridesOf(images)[0]);
    if (image < 0 || image >= x.dims[0])
      return fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 2, image);
    auto edge = [&](int64_t i) {
      return load(dataOf<T>(rois)[region * roiStrides[0] + i * roiStrides[1]]) * C(args->floats[0]) - (halfPixel ? C(0.5) : C(0));
    };
    Extent<C> columns(edge(0), edge(2), y.dims[3], args->ints[0], halfPixel), rows(edge(1), edge(3), y.dims[2], args->ints[0], halfPixel);
    if (rows.samples > mostSamples || columns.samples > mostSamples)
      return fail(args, LLMC_KERNEL_BAD_SHAPE, 1, maximum(rows.samples, columns.samples));
    for (int64_t c = 0; c < y.dims[1]; ++c) {
      Plane<T> plane(x, image, c);
      for (int64_t i = 0; i < y.dims[2]; ++i)
        for (int64_t j = 0; j < y.dims[3]; ++j) {
          Pool<C> pool{args->ints[2] != 0};
          for (int64_t row = 0; row < rows.samples; ++row)
            for (int64_t column = 0; column < columns.samples; ++column)
              pool.add(plane, Neighbours<C>(rows.place(i, row), plane.height), Neighbours<C>(columns.place(j, column), plane.width));
          dataOf<T>(y)[region * yStrides[0] + c * yStrides[1] + i * yStrides[2] + j * yStrides[3]] = store<T>(pool.result());
        }
    }
  }
  return LLMC_KERNEL_OK;
}

/// Bilinear samples of each pixel, their mean or maximum.
LLMC_REFERENCE_KERNEL(roi_align) {
  return dispatchFloat(args->inputs[0].dtype, [&]<typename T>() {
    if (shapeOf(args->inputs[0]).elements() == 0 && shapeOf(args->outputs[0]).elements() != 0)
      return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, 0);
    return alignRegions<T>(args);
  });
}

/// The cells of one region along one dim: whole inputs, at least one from its first to its last.
struct Cells {
  int64_t first;
  double cell;

  /// Edges round half away from zero.
  Cells(double from, double to, int64_t cells) {
    auto rounded = [](double x) { return toInteger<int64_t>(x < 0 ? math::ceil(x - 0.5) : math::floor(x + 0.5)); };
    constexpr int64_t far = int64_t(1) << 40;
    first = clamp(rounded(from), -far, far);
    int64_t size = clamp(rounded(to), -far, far) - first + 1;
    cell = double(size < 1 ? 1 : size) / double(cells);
  }
  int64_t begin(int64_t i, int64_t size) const { return clamp(first + toInteger<int64_t>(math::floor(double(i) * cell)), 0, size); }
  int64_t end(int64_t i, int64_t size) const { return clamp(first + toInteger<int64_t>(math::ceil(double(i + 1) * cell)), 0, size); }
};

/// inputs: x, rois [regions, 5]: image, x1, y1, x2, y2; floats: scale
LLMC_REFERENCE_KERNEL(max_roi_pool) {
  const llmc_tensor &x = args->inputs[0], &rois = args->inputs[1], &y = args->outputs[0];
  Dims roiStrides = stridesOf(rois), yStrides = stridesOf(y);
  return dispatchFloat(x.dtype, [&]<typename T>() {
    using C = Compute<T>;
    for (int64_t region = 0; region < y.dims[0]; ++region) {
      auto number = [&](int64_t i) { return readFloat(rois, region * roiStrides[0] + i * roiStrides[1]); };
      auto edge = [&](int64_t i) { return double(C(number(i)) * C(args->floats[0])); };
      int64_t image = toInteger<int64_t>(number(0));
      if (image < 0 || image >= x.dims[0])
        return fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, image);
      Cells columns(edge(1), edge(3), y.dims[3]), rows(edge(2), edge(4), y.dims[2]);
      for (int64_t c = 0; c < y.dims[1]; ++c) {
        Plane<T> plane(x, image, c);
        for (int64_t i = 0; i < y.dims[2]; ++i)
          for (int64_t j = 0; j < y.dims[3]; ++j) {
            int64_t top = rows.begin(i, plane.height), bottom = rows.end(i, plane.height);
            int64_t left = columns.begin(j, plane.width), right = columns.end(j, plane.width);
            C greatest = top < bottom && left < right ? leastValue<C>() : C(0);
            for (int64_t row = top; row < bottom; ++row)
              for (int64_t column = left; column < right; ++column)
                greatest = maximum(greatest, plane.at(row, column));
            dataOf<T>(y)[region * yStrides[0] + c * yStrides[1] + i * yStrides[2] + j * yStrides[3]] = store<T>(greatest);
          }
      }
    }
    return int32_t(LLMC_KERNEL_OK);
  });
}
