// max_pool, also with the places of the elements, and average_pool. The output's dims say how many windows there are, so ceil mode
// is the caller's choice.
//
// ints: list kernel, list strides, list pads (begins, then ends), list dilations, auto pad, channels last
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Limits.h"
#include "kernels/reference/Window.h"

using namespace llmc::reference;

namespace {

struct Pool {
  Window window;
  ImageView input, output;
  bool channelsLast;

  Pool(const llmc_reference_args *args, IntReader &ints)
      : window(readWindow(ints)), input(args->inputs[0], false), output(args->outputs[0], false) {
    int64_t autoPad = ints.integer();
    channelsLast = ints.flag();
    if (channelsLast) {
      input = ImageView(args->inputs[0], true);
      output = ImageView(args->outputs[0], true);
    }
    applyAutoPad(window, autoPad, input);
  }

private:
  static Window readWindow(IntReader &ints) {
    Dims kernel = ints.list(), strides = ints.list(), pads = ints.list(), dilations = ints.list();
    return makeWindow(kernel, strides, pads, dilations);
  }
};

} // namespace

/// The greatest element under the window; NaN if there is one; the least value if the window holds no element.
LLMC_REFERENCE_KERNEL(max_pool) {
  IntReader ints(args);
  Pool pool(args, ints);
  const auto &[window, input, output, channelsLast] = pool;
  return dispatchNumber(args->outputs[0].dtype, [&]<typename T>() {
    const T *from = dataOf<T>(args->inputs[0]);
    T *to = dataOf<T>(args->outputs[0]);
    forEachPixel(output, [&](int64_t n, int64_t c, const int64_t (&position)[spatialDims]) {
      Compute<T> best = leastValue<Compute<T>>();
      forEachTap(window, input, position, [&](int64_t, const int64_t (&source)[spatialDims]) {
        best = maximum(best, load(from[input.offset(n, c, source)]));
      });
      to[output.offset(n, c, position)] = store<T>(best);
    });
    return LLMC_KERNEL_OK;
  });
}

/// One more int: column major. The place of the first greatest element in the input, or -1 if the window holds no element.
LLMC_REFERENCE_KERNEL(max_pool_with_indices) {
  IntReader ints(args);
  Pool pool(args, ints);
  const auto &[window, input, output, channelsLast] = pool;
  bool columnMajor = ints.flag();
  ImageView indices(args->outputs[1], channelsLast);
  const int64_t(&size)[spatialDims] = input.size;
  return dispatchNumber(args->outputs[0].dtype, [&]<typename T>() {
    const T *from = dataOf<T>(args->inputs[0]);
    forEachPixel(output, [&](int64_t n, int64_t c, const int64_t (&position)[spatialDims]) {
      Compute<T> best = leastValue<Compute<T>>();
      int64_t place = -1;
      forEachTap(window, input, position, [&](int64_t, const int64_t (&at)[spatialDims]) {
        Compute<T> value = load(from[input.offset(n, c, at)]);
        if (place >= 0 && !(value > best || (isNan(value) && !isNan(best))))
          return;
        best = value;
        int64_t inPlane = columnMajor ? (at[2] * size[1] + at[1]) * size[0] + at[0] : (at[0] * size[1] + at[1]) * size[2] + at[2];
        place = (n * input.channels + c) * size[0] * size[1] * size[2] + inPlane;
      });
      dataOf<T>(args->outputs[0])[output.offset(n, c, position)] = store<T>(best);
      dataOf<int64_t>(args->outputs[1])[indices.offset(n, c, position)] = place;
    });
    return LLMC_KERNEL_OK;
  });
}

/// One more int: count_include_pad. The divisor is the number of taps inside the input or, with count_include_pad,
/// inside the padded input. The sum runs over the taps in row-major order, in the compute type.
LLMC_REFERENCE_KERNEL(average_pool) {
  IntReader ints(args);
  Pool pool(args, ints);
  const auto &[window, input, output, channelsLast] = pool;
  bool countPads = ints.flag();
  return dispatchFloat(args->outputs[0].dtype, [&]<typename T>() {
    const T *from = dataOf<T>(args->inputs[0]);
    T *to = dataOf<T>(args->outputs[0]);
    forEachPixel(output, [&](int64_t n, int64_t c, const int64_t (&position)[spatialDims]) {
      Compute<T> total = 0;
      int64_t taps = 0;
      forEachTap(window, input, position, [&](int64_t, const int64_t (&source)[spatialDims]) {
        total += load(from[input.offset(n, c, source)]);
        ++taps;
      });
      if (countPads)
        taps = paddedTaps(window, input, position);
      to[output.offset(n, c, position)] = store<T>(total / Compute<T>(taps));
    });
    return LLMC_KERNEL_OK;
  });
}
