// pad(x, value?): adds elements around each dim, or removes them where a pad is negative.
//
// ints: list pads (all begins, then all ends), mode: 0 constant (value, else 0), 1 reflect (the edge is not repeated),
// 2 edge, 3 wrap. Removal comes first: the other modes read what remains. Reflection and wrapping go on as far as
// needed.
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

enum class PadMode { Constant = 0, Reflect = 1, Edge = 2, Wrap = 3 };

static int64_t positiveRemainder(int64_t value, int64_t modulus) {
  int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

/// The place that an index in front of, in or behind [0, size) reads, or -1 for the constant.
static int64_t paddedSource(int64_t index, int64_t size, PadMode mode) {
  if (index >= 0 && index < size)
    return index;
  switch (mode) {
  case PadMode::Constant:
    return -1;
  case PadMode::Edge:
    return clamp(index, 0, size - 1);
  case PadMode::Wrap:
    return positiveRemainder(index, size);
  case PadMode::Reflect:
    break;
  }
  if (size == 1)
    return 0;
  int64_t period = 2 * (size - 1), place = positiveRemainder(index, period);
  return place < size ? place : period - place;
}

LLMC_REFERENCE_KERNEL(pad) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  int64_t length;
  IntReader ints(args);
  const int64_t *begins = ints.longList(length), *ends = begins + x.rank;
  PadMode mode = PadMode(ints.integer());
  Dims shape = shapeOf(y), xStrides = stridesOf(x), yStrides = stridesOf(y), cropped{x.rank}, size{x.rank};
  for (int32_t d = 0; d < x.rank; ++d) {
    cropped[d] = begins[d] < 0 ? -begins[d] : 0;
    size[d] = x.dims[d] - cropped[d] + (ends[d] < 0 ? ends[d] : 0);
    if (size[d] <= 0 && mode != PadMode::Constant && shape.elements() > 0)
      return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, size[d]);
  }
  return dispatchWidth(y.dtype, [&]<typename T>() {
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y), fill = isPresent(args, 1) ? *dataOf<T>(args->inputs[1]) : T(0);
    forEachIndex(shape, [&](const int64_t *index) {
      int64_t source = 0, target = 0;
      bool isInput = true;
      for (int32_t d = 0; d < shape.rank; ++d) {
        int64_t place = paddedSource(index[d] - (begins[d] > 0 ? begins[d] : 0), size[d], mode);
        isInput &= place >= 0;
        source += (place + cropped[d]) * xStrides[d];
        target += index[d] * yStrides[d];
      }
      to[target] = isInput ? from[source] : fill;
    });
    return LLMC_KERNEL_OK;
  });
}
