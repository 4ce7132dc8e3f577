// reverse_sequence(x, lengths): the first elements along the time axis in reverse order, as many as each place of the batch axis says.
// ints: batch axis, time axis
#include "kernels/reference/Line.h"

using namespace llmc::reference;

LLMC_REFERENCE_KERNEL(reverse_sequence) {
  const llmc_tensor &x = args->inputs[0], &lengths = args->inputs[1], &y = args->outputs[0];
  int32_t batchAxis = int32_t(args->ints[0]), timeAxis = int32_t(args->ints[1]);
  Dims fromX = stridesOf(x), toY = stridesOf(y), rest = shapeOf(x);
  rest[batchAxis] = rest[timeAxis] = 1;
  const Dims strides[] = {fromX, toY};
  return dispatchWidth(x.dtype, [&]<typename T>() {
    for (int64_t b = 0; b < x.dims[batchAxis]; ++b) {
      int64_t length = readIndex(lengths, b * stridesOf(lengths)[0]);
      if (length < 0 || length > x.dims[timeAxis])
        return fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, length);
      for (int64_t t = 0; t < x.dims[timeAxis]; ++t) {
        int64_t source = t < length ? length - 1 - t : t;
        const T *from = dataOf<T>(x) + b * fromX[batchAxis] + source * fromX[timeAxis];
        T *to = dataOf<T>(y) + b * toY[batchAxis] + t * toY[timeAxis];
        forEachElement(rest, strides, [&](const int64_t *at) { to[at[1]] = from[at[0]]; });
      }
    }
    return int32_t(LLMC_KERNEL_OK);
  });
}
