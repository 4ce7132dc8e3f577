// arg_max and arg_min: the int64 index of an extreme element along an axis.
//
// ints: axis, keep dims, select last. Among equal elements the first index wins, or the last with select_last. A NaN is
// more extreme than any number, as in numpy. An empty axis has no extremum: a bad shape, unless there are no lines.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Line.h"

using namespace llmc::reference;

/// `before(a, b)`: a is strictly more extreme than b.
template <typename Before> static int32_t argExtremum(const llmc_reference_args *args, Before before) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  IntReader ints(args);
  int64_t axis = ints.integer();
  bool keepDims = ints.flag(), selectLast = ints.flag();
  if (!normalizeIndex(axis, x.rank))
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, axis);
  Dims shape = shapeOf(x), rest = without(shape, axis);
  if (shape[axis] == 0 && rest.elements() > 0)
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, 0);
  int64_t stride = stridesOf(x)[axis];
  const Dims strides[] = {without(stridesOf(x), axis), keepDims ? without(stridesOf(y), axis) : stridesOf(y)};
  return dispatchNumber(x.dtype, [&]<typename T>() {
    const T *from = dataOf<T>(x);
    int64_t *to = dataOf<int64_t>(y);
    forEachElement(rest, strides, [&](const int64_t *at) {
      int64_t best = 0;
      for (int64_t i = 1; i < shape[axis]; ++i) {
        auto old = load(from[at[0] + best * stride]), candidate = load(from[at[0] + i * stride]);
        bool wins = isNan(candidate) ? !isNan(old) || selectLast
                                     : !isNan(old) && (before(candidate, old) || (selectLast && candidate == old));
        best = wins ? i : best;
      }
      to[at[1]] = best;
    });
    return LLMC_KERNEL_OK;
  });
}

LLMC_REFERENCE_KERNEL(arg_max) {
  return argExtremum(args, [](auto a, auto b) { return a > b; });
}

LLMC_REFERENCE_KERNEL(arg_min) {
  return argExtremum(args, [](auto a, auto b) { return a < b; });
}
