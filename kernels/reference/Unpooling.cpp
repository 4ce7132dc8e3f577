// max_unpool and col2im: elements put back where windows took them from.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

/// Sets all elements to zero.
template <typename T> static void clear(const llmc_tensor &y) {
  const Dims strides[] = {stridesOf(y)};
  forEachElement(shapeOf(y), strides, [&](const int64_t *at) { dataOf<T>(y)[at[0]] = T(0); });
}

/// inputs: x, indices; ints: list kernel, list strides, list pads. An index counts in the shape [N, C, (size - 1) * stride + kernel - pads ...],
/// whose elements the result has at the same place; one outside of either is an error.
LLMC_REFERENCE_KERNEL(max_unpool) {
  IntReader ints(args);
  Dims kernel = ints.list(), strides = ints.list(), pads = ints.list();
  const llmc_tensor &x = args->inputs[0], &indices = args->inputs[1], &y = args->outputs[0];
  Dims pooled = shapeOf(x), toResult = stridesOf(y);
  for (int32_t d = 0; d < kernel.rank; ++d)
    pooled[d + 2] = (x.dims[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[kernel.rank + d];
  int64_t count = pooled.elements();
  const Dims walks[] = {stridesOf(x), stridesOf(indices)};
  return dispatchWidth(y.dtype, [&]<typename T>() {
    int32_t status = LLMC_KERNEL_OK;
    clear<T>(y);
    forEachElement(shapeOf(x), walks, [&](const int64_t *at) {
      int64_t index = readIndex(indices, at[1]), rest = index, to = 0;
      bool isInside = index >= 0 && index < count;
      for (int32_t d = pooled.rank - 1; isInside && d >= 0; --d) {
        int64_t place = rest % pooled[d];
        rest /= pooled[d];
        isInside = place < y.dims[d];
        to += place * toResult[d];
      }
      if (isInside)
        dataOf<T>(y)[to] = dataOf<T>(x)[at[0]];
      else
        status = fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, index);
    });
    return status;
  });
}

/// inputs: x [N, C * taps, blocks], block sizes; ints: list strides, list pads (begins, then ends), list dilations. Each result is the sum of
/// its taps in row-major order, in the element type.
LLMC_REFERENCE_KERNEL(col2im) {
  IntReader ints(args);
  Dims strides = ints.list(), pads = ints.list(), dilations = ints.list();
  const llmc_tensor &x = args->inputs[0], &block = args->inputs[1], &y = args->outputs[0];
  int32_t spatial = y.rank - 2;
  Dims taps{spatial}, counts{spatial}, fromX = stridesOf(x), toResult = stridesOf(y);
  int64_t tapCount = 1, blockCount = 1;
  for (int32_t d = 0; d < spatial; ++d) {
    taps[d] = readIndex(block, d * stridesOf(block)[0]);
    int64_t room = y.dims[d + 2] + pads[d] + pads[spatial + d] - 1;
    if (taps[d] < 1 || taps[d] - 1 > room / dilations[d])
      return fail(args, LLMC_KERNEL_BAD_SHAPE, 1, taps[d]);
    counts[d] = (room - (taps[d] - 1) * dilations[d]) / strides[d] + 1;
    if (__builtin_mul_overflow(tapCount, taps[d], &tapCount) || __builtin_mul_overflow(blockCount, counts[d], &blockCount))
      return fail(args, LLMC_KERNEL_BAD_SHAPE, 1, taps[d]);
  }
  if (x.dims[2] != blockCount || x.dims[1] % tapCount != 0 || x.dims[1] / tapCount != y.dims[1])
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, x.dims[1]);
  return dispatchNumber(y.dtype, [&]<typename T>() {
    forEachIndex(shapeOf(y), [&](const int64_t *index) {
      Compute<T> total = 0;
      int64_t tap = 0;
      forEachIndex(taps, [&](const int64_t *place) {
        int64_t column = 0;
        bool isReached = true;
        for (int32_t d = 0; d < spatial; ++d) {
          int64_t distance = index[d + 2] + pads[d] - place[d] * dilations[d], number = distance / strides[d];
          isReached &= distance >= 0 && distance % strides[d] == 0 && number < counts[d];
          column = column * counts[d] + number;
        }
        if (isReached)
          total = sum(total, load(dataOf<T>(x)[index[0] * fromX[0] + (index[1] * tapCount + tap) * fromX[1] + column * fromX[2]]));
        ++tap;
      });
      int64_t to = 0;
      for (int32_t d = 0; d < y.rank; ++d)
        to += index[d] * toResult[d];
      dataOf<T>(y)[to] = store<T>(total);
    });
    return LLMC_KERNEL_OK;
  });
}
