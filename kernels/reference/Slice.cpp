// slice with constant bounds and slice_dynamic with bounds from tensors. Indexing.h states the clamping rules.
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

/// y = x[ranges]
static int32_t copySlice(const llmc_reference_args *args, const SliceRange *ranges) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  Dims shape{x.rank}, strides = stridesOf(x);
  int64_t first = 0;
  for (int32_t d = 0; d < x.rank; ++d) {
    shape[d] = ranges[d].count;
    first += ranges[d].start * strides[d];
    // A step past the dim's size belongs to a single element and is not used: no overflow.
    strides[d] = ranges[d].count > 1 ? strides[d] * ranges[d].step : 0;
  }
  if (int32_t status = resize(args, y, shape))
    return status;
  const Dims both[] = {strides, stridesOf(y)};
  return dispatchWidth(y.dtype, [&]<typename T>() {
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y);
    forEachElement(shape, both, [&](const int64_t *at) { to[at[1]] = from[first + at[0]]; });
    return LLMC_KERNEL_OK;
  });
}

/// The four lists of Slice, wherever they come from: `axis` and `step` give the defaults where their list is absent.
template <typename Start, typename End, typename Axis, typename Step>
static int32_t slice(const llmc_reference_args *args, int64_t count, Start start, End end, Axis axis, Step step) {
  const llmc_tensor &x = args->inputs[0];
  SliceRange ranges[LLMC_MAX_RANK];
  for (int32_t d = 0; d < x.rank; ++d)
    ranges[d] = {0, 1, x.dims[d]};
  for (int64_t i = 0; i < count; ++i) {
    int64_t dim = axis(i), stride = step(i);
    if (!normalizeIndex(dim, x.rank))
      return fail(args, LLMC_KERNEL_INDEX_OUT_OF_RANGE, 3, dim);
    if (stride == 0)
      return fail(args, LLMC_KERNEL_BAD_SHAPE, 4, 0);
    ranges[dim] = sliceRange(x.dims[dim], start(i), end(i), stride);
  }
  return copySlice(args, ranges);
}

/// ints: list starts, list ends, list axes (empty: the first ones), list steps (empty: 1)
LLMC_REFERENCE_KERNEL(slice) {
  IntReader ints(args);
  Dims starts = ints.list(), ends = ints.list(), axes = ints.list(), steps = ints.list();
  return slice(
      args, starts.rank, [&](int64_t i) { return starts.at[i]; }, [&](int64_t i) { return ends.at[i]; },
      [&](int64_t i) { return axes.rank ? axes.at[i] : i; }, [&](int64_t i) { return steps.rank ? steps.at[i] : 1; });
}

/// slice_dynamic(x, starts, ends, axes?, steps?), each a 1-D i32 or i64 tensor. Sets the true dims of the output.
LLMC_REFERENCE_KERNEL(slice_dynamic) {
  auto read = [&](int32_t input, int64_t i) {
    const llmc_tensor &tensor = args->inputs[input];
    return readIndex(tensor, i * stridesOf(tensor)[0]);
  };
  int64_t count = args->inputs[1].dims[0];
  bool hasAxes = isPresent(args, 3), hasSteps = isPresent(args, 4);
  for (int32_t input = 2; input < 5; ++input)
    if (isPresent(args, input) && args->inputs[input].dims[0] != count)
      return fail(args, LLMC_KERNEL_BAD_SHAPE, input, args->inputs[input].dims[0]);
  return slice(
      args, count, [&](int64_t i) { return read(1, i); }, [&](int64_t i) { return read(2, i); },
      [&](int64_t i) { return hasAxes ? read(3, i) : i; }, [&](int64_t i) { return hasSteps ? read(4, i) : 1; });
}
