// gather, gather_elements and gather_nd: elements picked by an i32 or i64 index tensor. Indices may count from the end; one out of
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

/// y[b..., i..., ...] is the part of x[b..., ...] at the tuple indices[b..., i..., :]. ints: batch dims
LLMC_REFERENCE_KERNEL(gather_nd) {
  const llmc_tensor &x = args->inputs[0], &indices = args->inputs[1], &y = args->outputs[0];
  int32_t batch = int32_t(args->ints[0]), outerRank = indices.rank - 1, depth = int32_t(indices.dims[outerRank]);
  if (batch < 0 || batch > outerRank || batch + depth > x.rank)
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 1, batch + depth);
  Dims own = stridesOf(x), toTuple = stridesOf(indices), toResult = stridesOf(y), outer{outerRank}, partShape{x.rank - batch - depth};
  Dims batches{outerRank}, tuples{outerRank}, starts{outerRank}, partOfX{partShape.rank}, partOfY{partShape.rank};
  for (int32_t d = 0; d < outerRank; ++d)
    outer[d] = indices.dims[d], batches[d] = d < batch ? own[d] : 0, tuples[d] = toTuple[d], starts[d] = toResult[d];
  for (int32_t d = 0; d < partShape.rank; ++d)
    partShape[d] = x.dims[batch + depth + d], partOfX[d] = own[batch + depth + d], partOfY[d] = toResult[outerRank + d];
  const Dims places[] = {batches, tuples, starts}, parts[] = {partOfX, partOfY};
  return dispatchWidth(y.dtype, [&]<typename T>() {
    int32_t status = LLMC_KERNEL_OK;
    forEachElement(outer, places, [&](const int64_t *at) {
      int64_t offset = at[0];
      for (int32_t d = 0; d < depth && !status; ++d) {
        int64_t index = readIndex(indices, at[1] + d * toTuple[outerRank]);
        if (normalizeIndex(index, x.dims[batch + d]))
          offset += index * own[batch + d];
        else
          status = fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, index);
      }
      if (status)
        return;
      forEachElement(partShape, parts,
                     [&](const int64_t *part) { dataOf<T>(y)[at[2] + part[1]] = dataOf<T>(x)[offset + part[0]]; });
    });
    return status;
  });
}
