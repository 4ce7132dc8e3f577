// conv(x, w, bias?): 1 to 3 spatial dims, groups, strides, dilations, pads.
//
// ints: list strides, list pads (begins, then ends), list dilations, auto pad, group (0: as many as channels), channels last
// x and y are N x C x spatial, or N x spatial x C with channels last; w is always M x C/group x kernel.
// Order of a sum: taps in row-major order, channels ascending within a tap, one accumulator starting at 0, one fused
// multiply-add per step; then the bias is added. Small floats accumulate in float and round once.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Window.h"

using namespace llmc::reference;

template <typename T>
static void convolve(const llmc_reference_args *args, Window window, int64_t autoPad, int64_t groups, bool channelsLast) {
  const llmc_tensor &x = args->inputs[0], &w = args->inputs[1], &y = args->outputs[0];
  ImageView input(x, channelsLast), weights(w, false), output(y, channelsLast);
  applyAutoPad(window, autoPad, input);
  groups = groups ? groups : input.channels;
  const T *from = dataOf<T>(x), *weight = dataOf<T>(w);
  const T *bias = isPresent(args, 2) ? dataOf<T>(args->inputs[2]) : nullptr;
  int64_t biasStride = bias ? stridesOf(args->inputs[2])[0] : 0;
  T *to = dataOf<T>(y);
  int64_t groupInputs = weights.channels, groupOutputs = groups ? output.channels / groups : 0;
  int64_t kernelColumns = window.dims[2].kernel, kernelRows = window.dims[1].kernel;
  forEachPixel(output, [&](int64_t n, int64_t m, const int64_t (&position)[spatialDims]) {
    int64_t firstChannel = m / groupOutputs * groupInputs;
    Compute<T> total = 0;
    forEachTap(window, input, position, [&](int64_t tap, const int64_t (&source)[spatialDims]) {
      const int64_t place[] = {tap / (kernelColumns * kernelRows), tap / kernelColumns % kernelRows,
                               tap % kernelColumns};
      for (int64_t c = 0; c < groupInputs; ++c)
        total = multiplyAdd(load(from[input.offset(n, firstChannel + c, source)]),
                            load(weight[weights.offset(m, c, place)]), total);
    });
    if (bias)
      total = sum(total, load(bias[m * biasStride]));
    to[output.offset(n, m, position)] = store<T>(total);
  });
}

LLMC_REFERENCE_KERNEL(conv) {
  IntReader ints(args);
  Dims strides = ints.list(), pads = ints.list(), dilations = ints.list();
  int64_t autoPad = ints.integer(), groups = ints.integer();
  bool channelsLast = ints.flag();
  Dims weights = shapeOf(args->inputs[1]), kernel{weights.rank - 2};
  for (int32_t d = 0; d < kernel.rank; ++d)
    kernel[d] = weights[d + 2];
  Window window = makeWindow(kernel, strides, pads, dilations);
  return dispatchFloat(args->outputs[0].dtype, [&]<typename T>() {
    convolve<T>(args, window, autoPad, groups, channelsLast);
    return LLMC_KERNEL_OK;
  });
}
