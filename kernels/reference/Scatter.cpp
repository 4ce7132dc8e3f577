// scatter_elements and scatter_nd: a copy of the first input with elements replaced, or combined, at places that the second
// input (i32 or i64) names. Updates are applied in row-major order. Indices may count from the end; one out of range ends
// the kernel with the index in the error record.
//
// ints: reduction (0 none, 1 add, 2 mul, 3 max, 4 min), of scatter_elements then axis
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

namespace {

enum Reduction : int64_t { replace = 0, add = 1, multiply = 2, greatest = 3, least = 4 };

void copyAll(const llmc_tensor &x, const llmc_tensor &y) {
  const Dims strides[] = {stridesOf(x), stridesOf(y)};
  dispatchWidth(y.dtype, [&]<typename T>() {
    forEachElement(shapeOf(y), strides, [&](const int64_t *at) { dataOf<T>(y)[at[1]] = dataOf<T>(x)[at[0]]; });
    return LLMC_KERNEL_OK;
  });
}

template <typename T> void combine(T &target, T update, int64_t reduction) {
  Compute<T> old = load(target), value = load(update);
  switch (reduction) {
  case add:
    target = store<T>(sum(old, value));
    break;
  case multiply:
    target = store<T>(product(old, value));
    break;
  case greatest:
    target = store<T>(maximum(old, value));
    break;
  default:
    target = store<T>(minimum(old, value));
  }
}

/// Applies `element(target, update)` of the element type; without a reduction only the width of the elements counts.
template <typename Body> int32_t withElements(int32_t dtype, int64_t reduction, Body body) {
  if (reduction == replace)
    return dispatchWidth(dtype, [&]<typename T>() { return body([](T &target, T update) { target = update; }, (T *)nullptr); });
  return dispatchNumber(dtype, [&]<typename T>() {
    return body([reduction](T &target, T update) { combine(target, update, reduction); }, (T *)nullptr);
  });
}

} // namespace

/// y = x, but y[i, indices[i, j, ...], ...] (the index at `axis`) takes updates[i, j, ...].
LLMC_REFERENCE_KERNEL(scatter_elements) {
  const llmc_tensor &indices = args->inputs[1], &updates = args->inputs[2], &y = args->outputs[0];
  int64_t reduction = args->ints[0], axis = args->ints[1];
  if (!normalizeIndex(axis, y.rank))
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, axis);
  copyAll(args->inputs[0], y);
  Dims across = stridesOf(y);
  int64_t size = y.dims[axis], step = across[int32_t(axis)];
  across[int32_t(axis)] = 0;
  const Dims strides[] = {across, stridesOf(indices), stridesOf(updates)};
  return withElements(y.dtype, reduction, [&]<typename T>(auto apply, T *) {
    int32_t status = LLMC_KERNEL_OK;
    forEachElement(shapeOf(indices), strides, [&](const int64_t *at) {
      int64_t index = readIndex(indices, at[1]);
      if (status)
        return;
      if (normalizeIndex(index, size))
        apply(dataOf<T>(y)[at[0] + index * step], dataOf<T>(updates)[at[2]]);
      else
        status = fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, index);
    });
    return status;
  });
}

/// y = x, but the part of y at each tuple of indices[i..., :] takes updates[i..., ...].
LLMC_REFERENCE_KERNEL(scatter_nd) {
  const llmc_tensor &indices = args->inputs[1], &updates = args->inputs[2], &y = args->outputs[0];
  int64_t reduction = args->ints[0];
  int32_t outerRank = indices.rank - 1, depth = int32_t(indices.dims[outerRank]);
  if (depth > y.rank)
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 1, depth);
  copyAll(args->inputs[0], y);
  Dims toTuple = stridesOf(indices), toUpdate = stridesOf(updates), whole = stridesOf(y), outer{outerRank}, partShape{y.rank - depth};
  Dims tuples{outerRank}, starts{outerRank}, partOfY{partShape.rank}, partOfUpdate{partShape.rank};
  for (int32_t d = 0; d < outerRank; ++d)
    outer[d] = indices.dims[d], tuples[d] = toTuple[d], starts[d] = toUpdate[d];
  for (int32_t d = 0; d < partShape.rank; ++d)
    partShape[d] = y.dims[depth + d], partOfY[d] = whole[depth + d], partOfUpdate[d] = toUpdate[outerRank + d];
  const Dims places[] = {tuples, starts}, parts[] = {partOfY, partOfUpdate};
  return withElements(y.dtype, reduction, [&]<typename T>(auto apply, T *) {
    int32_t status = LLMC_KERNEL_OK;
    forEachElement(outer, places, [&](const int64_t *at) {
      int64_t offset = 0;
      for (int32_t d = 0; d < depth && !status; ++d) {
        int64_t index = readIndex(indices, at[0] + d * toTuple[outerRank]);
        if (normalizeIndex(index, y.dims[d]))
          offset += index * whole[d];
        else
          status = fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 1, index);
      }
      if (status)
        return;
      forEachElement(partShape, parts, [&](const int64_t *part) {
        apply(dataOf<T>(y)[offset + part[0]], dataOf<T>(updates)[at[1] + part[1]]);
      });
    });
    return status;
  });
}
