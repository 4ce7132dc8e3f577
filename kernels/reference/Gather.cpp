// gather and gather_elements: elements picked by an i32 or i64 index tensor. Indices may count from the end; one out of
// range ends the kernel with the index in the error record. ints: axis
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

/// y = x at the offsets of `fromX` plus, along `axis`, an index read at the offsets of `fromIndices`; all over y's
/// shape.
static int32_t pick(const llmc_reference_args *args, int64_t axis, const Dims &fromX, const Dims &fromIndices) {
  const llmc_tensor &x = args->inputs[0], &indices = args->inputs[1], &y = args->outputs[0];
  const Dims strides[] = {fromX, fromIndices, stridesOf(y)};
  int64_t size = x.dims[axis], step = stridesOf(x)[int32_t(axis)];
  return dispatchWidth(y.dtype, [&]<typename T>() {
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y);
    int32_t status = LLMC_KERNEL_OK;
    forEachElement(shapeOf(y), strides, [&](const int64_t *at) {
      int64_t index = readIndex(indices, at[1]);
      if (status)
        return;
      if (normalizeIndex(index, size))
        to[at[2]] = from[at[0] + index * step];
      else
        status = fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, index);
    });
    return status;
  });
}

/// y[before..., i..., after...] = x[before..., indices[i...], after...]
LLMC_REFERENCE_KERNEL(gather) {
  const llmc_tensor &x = args->inputs[0], &indices = args->inputs[1], &y = args->outputs[0];
  int64_t axis = args->ints[0];
  if (!normalizeIndex(axis, x.rank))
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, axis);
  Dims own = stridesOf(x), picks = stridesOf(indices), fromX{y.rank}, fromIndices{y.rank};
  for (int32_t d = 0; d < y.rank; ++d) {
    if (d < axis)
      fromX[d] = own[d];
    else if (d < axis + indices.rank)
      fromIndices[d] = picks[d - int32_t(axis)];
    else
      fromX[d] = own[d - indices.rank + 1];
  }
  return pick(args, axis, fromX, fromIndices);
}

/// y[i, j, ...] = x[i, indices[i, j, ...], ...] with the index at `axis`; y has the shape of the indices.
LLMC_REFERENCE_KERNEL(gather_elements) {
  int64_t axis = args->ints[0];
  if (!normalizeIndex(axis, args->inputs[0].rank))
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, axis);
  Dims fromX = stridesOf(args->inputs[0]);
  fromX[int32_t(axis)] = 0;
  return pick(args, axis, fromX, stridesOf(args->inputs[1]));
}
