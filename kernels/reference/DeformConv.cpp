// deform_conv(x, w, offset, bias?, mask?): a convolution of images whose taps lie anywhere, by bilinear interpolation.
//
// ints: list strides, list pads (begins, then ends), list dilations, group, offset group
// offset is N x (offset groups x taps x 2) x H x W, mask N x (offset groups x taps) x H x W. Order of a sum: taps in row-major order,
// channels ascending within a tap, one accumulator starting at 0, one fused multiply-add per step; then the bias is added.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Window.h"

using namespace llmc::reference;

namespace {

/// A place between four inputs.
template <typename C> struct Place {
  int64_t row, column;
  C down, right; // weights of the lower and the right neighbours

  Place(C y, C x) {
    constexpr C far = C(0x1p40); // beyond any image, and far from the ends of int64
    auto bounded = [](C value) { return maximum(-far, minimum(far, value)); };
    row = toInteger<int64_t>(math::floor(bounded(y))), column = toInteger<int64_t>(math::floor(bounded(x)));
    down = y - C(row), right = x - C(column);
  }
  /// Zero beyond the image.
  template <typename T> C sample(const ImageView &image, const T *channel) const {
    auto at = [&](int64_t i, int64_t j) {
      bool inside = i >= 0 && i < image.size[1] && j >= 0 && j < image.size[2];
      return inside ? C(load(channel[i * image.stride[1] + j * image.stride[2]])) : C(0);
    };
    C upper = (C(1) - right) * at(row, column) + right * at(row, column + 1);
    C lower = (C(1) - right) * at(row + 1, column) + right * at(row + 1, column + 1);
    return (C(1) - down) * upper + down * lower;
  }
};

} // namespace

template <typename T> static void convolve(const llmc_reference_args *args, const Window &window, int64_t groups, int64_t offsetGroups) {
  using C = Compute<T>;
  const llmc_tensor &x = args->inputs[0], &w = args->inputs[1], &y = args->outputs[0];
  ImageView input(x, false), weights(w, false), offsets(args->inputs[2], false), output(y, false);
  bool hasBias = isPresent(args, 3), hasMask = isPresent(args, 4);
  ImageView masks(args->inputs[hasMask ? 4 : 2], false);
  int64_t groupInputs = weights.channels, groupOutputs = output.channels / groups, offsetInputs = input.channels / offsetGroups;
  const WindowDim &rows = window.dims[1], &columns = window.dims[2];
  forEachPixel(output, [&](int64_t n, int64_t m, const int64_t (&position)[spatialDims]) {
    int64_t first = m / groupOutputs * groupInputs;
    C total = 0;
    for (int64_t tap = 0; tap < window.taps(); ++tap) {
      const int64_t place[] = {0, tap / columns.kernel, tap % columns.kernel};
      for (int64_t c = 0; c < groupInputs; ++c) {
        int64_t number = (first + c) / offsetInputs * window.taps() + tap; // of the tap among those of all offset groups
        C moves[2], factor = hasMask ? load(dataOf<T>(args->inputs[4])[masks.offset(n, number, position)]) : C(1);
        for (int64_t i = 0; i < 2; ++i)
          moves[i] = load(dataOf<T>(args->inputs[2])[offsets.offset(n, 2 * number + i, position)]);
        Place<C> source(C(rows.position(position[1], place[1])) + moves[0], C(columns.position(position[2], place[2])) + moves[1]);
        C value = source.sample(input, dataOf<T>(x) + n * input.batchStride + (first + c) * input.channelStride);
        total = multiplyAdd(factor * value, load(dataOf<T>(w)[weights.offset(m, c, place)]), total);
      }
    }
    if (hasBias)
      total = sum(total, load(dataOf<T>(args->inputs[3])[m * stridesOf(args->inputs[3])[0]]));
    dataOf<T>(y)[output.offset(n, m, position)] = store<T>(total);
  });
}

LLMC_REFERENCE_KERNEL(deform_conv) {
  IntReader ints(args);
  Dims strides = ints.list(), pads = ints.list(), dilations = ints.list(), kernel{2};
  int64_t groups = ints.integer(), offsetGroups = ints.integer();
  for (int32_t d = 0; d < 2; ++d)
    kernel[d] = args->inputs[1].dims[d + 2];
  Window window = makeWindow(kernel, strides, pads, dilations);
  return dispatchFloat(args->outputs[0].dtype, [&]<typename T>() {
    convolve<T>(args, window, groups, offsetGroups);
    return LLMC_KERNEL_OK;
  });
}
