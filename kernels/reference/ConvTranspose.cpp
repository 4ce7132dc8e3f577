// conv_transpose(x, w, bias?): the transpose of a convolution over 1 to 3 spatial dims.
//
// ints: list strides, list pads (begins, then ends), list dilations, list output padding, auto pad, group
// x is N x C x spatial, w is C x M/group x kernel, y is N x M x spatial. Order of a sum: taps in row-major order, channels ascending
// within a tap, one accumulator starting at 0, one fused multiply-add per step; then the bias is added.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Window.h"

using namespace llmc::reference;

/// The input that tap k adds to the output from; false if there is none.
static bool sourceOf(const WindowDim &window, int64_t size, int64_t output, int64_t tap, int64_t &source) {
  int64_t distance = output + window.padBegin - tap * window.dilation;
  source = distance / window.stride;
  return distance >= 0 && distance % window.stride == 0 && source < size;
}

/// Calls `body(place in the kernel, place in the input)` for the taps that reach the output.
template <typename Body>
static void forEachSource(const Window &window, const ImageView &input, const int64_t (&output)[spatialDims], Body body) {
  int64_t tap[spatialDims], source[spatialDims];
  auto reaches = [&](int32_t d) { return sourceOf(window.dims[d], input.size[d], output[d], tap[d], source[d]); };
  for (tap[0] = 0; tap[0] < window.dims[0].kernel; ++tap[0])
    for (tap[1] = 0; reaches(0) && tap[1] < window.dims[1].kernel; ++tap[1])
      for (tap[2] = 0; reaches(1) && tap[2] < window.dims[2].kernel; ++tap[2])
        if (reaches(2))
          body(tap, source);
}

/// With auto pad: what is cut off so that the output has its sizes. `added`: what is behind them as it is.
static void cutToSize(Window &window, int64_t autoPad, const Dims &added, const ImageView &input, const ImageView &output) {
  for (int32_t i = 0; autoPad != explicitPads && i < added.rank; ++i) {
    int32_t d = spatialDims - added.rank + i;
    WindowDim &dim = window.dims[d];
    int64_t surplus = (input.size[d] - 1) * dim.stride + dim.extent() + added[i] - output.size[d];
    surplus = surplus < 0 ? 0 : surplus;
    dim.padBegin = autoPad == sameUpper ? surplus / 2 : surplus - surplus / 2;
  }
}

template <typename T>
static void convolveTransposed(const llmc_reference_args *args, Window window, const Dims &added, int64_t autoPad, int64_t groups) {
  const llmc_tensor &x = args->inputs[0], &w = args->inputs[1], &y = args->outputs[0];
  ImageView input(x, false), weights(w, false), output(y, false);
  cutToSize(window, autoPad, added, input, output);
  const T *from = dataOf<T>(x), *weight = dataOf<T>(w);
  const T *bias = isPresent(args, 2) ? dataOf<T>(args->inputs[2]) : nullptr;
  int64_t biasStride = bias ? stridesOf(args->inputs[2])[0] : 0;
  T *to = dataOf<T>(y);
  int64_t groupInputs = input.channels / groups, groupOutputs = weights.channels;
  forEachPixel(output, [&](int64_t n, int64_t m, const int64_t (&position)[spatialDims]) {
    int64_t first = m / groupOutputs * groupInputs;
    Compute<T> total = 0;
    forEachSource(window, input, position, [&](const int64_t (&tap)[spatialDims], const int64_t (&source)[spatialDims]) {
      const T *value = from + input.offset(n, first, source), *factor = weight + weights.offset(first, m % groupOutputs, tap);
      for (int64_t c = 0; c < groupInputs; ++c)
        total = multiplyAdd(load(value[c * input.channelStride]), load(factor[c * weights.batchStride]), total);
    });
    if (bias)
      total = sum(total, load(bias[m * biasStride]));
    to[output.offset(n, m, position)] = store<T>(total);
  });
}

LLMC_REFERENCE_KERNEL(conv_transpose) {
  IntReader ints(args);
  Dims strides = ints.list(), pads = ints.list(), dilations = ints.list(), added = ints.list();
  int64_t autoPad = ints.integer(), groups = ints.integer();
  Dims weights = shapeOf(args->inputs[1]), kernel{weights.rank - 2};
  for (int32_t d = 0; d < kernel.rank; ++d)
    kernel[d] = weights[d + 2];
  Window window = makeWindow(kernel, strides, pads, dilations);
  return dispatchFloat(args->outputs[0].dtype, [&]<typename T>() {
    convolveTransposed<T>(args, window, added, autoPad, groups);
    return LLMC_KERNEL_OK;
  });
}
