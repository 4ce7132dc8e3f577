// Ops that move elements by shape alone: reshape, transpose, expand, tile, trilu; and shape, which reads no element.
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

/// y = x through the strides given for x, over the shape of y.
static int32_t copyThrough(const llmc_reference_args *args, const Dims &xStrides) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  const Dims strides[] = {xStrides, stridesOf(y)};
  return dispatchWidth(y.dtype, [&]<typename T>() {
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y);
    forEachElement(shapeOf(y), strides, [&](const int64_t *at) { to[at[1]] = from[at[0]]; });
    return LLMC_KERNEL_OK;
  });
}

/// Repeats dims of size 1 and missing leading dims up to the shape of the output.
LLMC_REFERENCE_KERNEL(expand) {
  return copyThrough(args, broadcastStrides(args->inputs[0], shapeOf(args->outputs[0])));
}

/// Dim d of the output is dim perm[d] of the input. ints: list perm
LLMC_REFERENCE_KERNEL(transpose) {
  Dims perm = IntReader(args).list(), strides = stridesOf(args->inputs[0]), permuted{perm.rank};
  for (int32_t d = 0; d < perm.rank; ++d)
    permuted[d] = strides[int32_t(perm[d])];
  return copyThrough(args, permuted);
}

/// The elements in row-major order, in the output's shape.
LLMC_REFERENCE_KERNEL(reshape) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  Dims shape = shapeOf(x);
  if (shape.elements() != shapeOf(y).elements())
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, shape.elements());
  return dispatchWidth(y.dtype, [&]<typename T>() {
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y);
    Odometer read(shape, stridesOf(x)), write(shapeOf(y), stridesOf(y));
    for (int64_t left = shape.elements(); left > 0; --left, read.advance(), write.advance())
      to[write.offset()] = from[read.offset()];
    return LLMC_KERNEL_OK;
  });
}

/// The input repeated along each dim, as often as the output's dims say. ints: list repeats (not needed, checked by the
/// op)
LLMC_REFERENCE_KERNEL(tile) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  Dims shape = shapeOf(y), xStrides = stridesOf(x), yStrides = stridesOf(y);
  return dispatchWidth(y.dtype, [&]<typename T>() {
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y);
    forEachIndex(shape, [&](const int64_t *index) {
      int64_t source = 0, target = 0;
      for (int32_t d = 0; d < shape.rank; ++d) {
        source += index[d] % x.dims[d] * xStrides[d];
        target += index[d] * yStrides[d];
      }
      to[target] = from[source];
    });
    return LLMC_KERNEL_OK;
  });
}

/// Keeps the elements of each matrix (the last two dims) with column >= row + k (upper) or column <= row + k, zero
/// elsewhere. ints: upper, k
LLMC_REFERENCE_KERNEL(trilu) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  bool upper = args->ints[0] != 0;
  int64_t k = args->ints[1];
  Dims shape = shapeOf(y), row{shape.rank}, column{shape.rank};
  row[shape.rank - 2] = 1, column[shape.rank - 1] = 1;
  const Dims strides[] = {stridesOf(x), stridesOf(y), row, column};
  return dispatchWidth(y.dtype, [&]<typename T>() {
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y);
    forEachElement(shape, strides, [&](const int64_t *at) {
      int64_t diagonal = at[3] - at[2];
      to[at[1]] = (upper ? diagonal >= k : diagonal <= k) ? from[at[0]] : T(0);
    });
    return LLMC_KERNEL_OK;
  });
}

/// The sizes of dims start .. end - 1 of the input as int64; both bounds may count from the end and clamp to the rank.
/// ints: start, end
LLMC_REFERENCE_KERNEL(shape) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  SliceRange range = sliceRange(x.rank, args->ints[0], args->ints[1], 1);
  int64_t stride = stridesOf(y)[0];
  for (int64_t i = 0; i < range.count; ++i)
    dataOf<int64_t>(y)[i * stride] = x.dims[range.start + i];
  return LLMC_KERNEL_OK;
}
