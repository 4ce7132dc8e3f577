// Reductions over a set of axes.
//
// ints: list axes (negative ones count from the end; an empty list reduces nothing), keep dims
// Sums, means and products of floats run in double in row-major order and round once. Integers wrap; their mean
// truncates.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Limits.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

namespace {

/// The input split into kept dims (with the strides of both tensors) and reduced ones.
struct ReductionPlan {
  Dims kept, keptFrom, keptTo, reduced, reducedFrom;

  explicit ReductionPlan(const llmc_reference_args *args) {
    const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
    IntReader ints(args);
    Dims axes = ints.list(), from = stridesOf(x), to = stridesOf(y);
    bool keepDims = ints.flag(), isReduced[LLMC_MAX_RANK] = {};
    for (int32_t i = 0; i < axes.rank; ++i) {
      int64_t axis = axes[i];
      if (normalizeIndex(axis, x.rank))
        isReduced[axis] = true;
    }
    for (int32_t d = 0; d < x.rank; ++d) {
      if (isReduced[d]) {
        append(reduced, x.dims[d]), append(reducedFrom, from[d]);
      } else {
        append(keptTo, to[keepDims ? d : kept.rank]);
        append(kept, x.dims[d]), append(keptFrom, from[d]);
      }
    }
  }

  static void append(Dims &dims, int64_t value) { dims[dims.rank++] = value; }
};

} // namespace

/// Calls `finish(accumulator, count)` for each output, after `step` has taken in all its inputs.
template <typename T, typename Accumulator, typename Step, typename Finish>
static int32_t reduce(const llmc_reference_args *args, Accumulator start, Step step, Finish finish) {
  ReductionPlan plan(args);
  const T *from = dataOf<T>(args->inputs[0]);
  T *to = dataOf<T>(args->outputs[0]);
  int64_t count = plan.reduced.elements();
  const Dims outer[] = {plan.keptFrom, plan.keptTo}, inner[] = {plan.reducedFrom};
  forEachElement(plan.kept, outer, [&](const int64_t *at) {
    Accumulator total = start;
    forEachElement(plan.reduced, inner,
                   [&](const int64_t *offset) { total = step(total, load(from[at[0] + offset[0]])); });
    to[at[1]] = convert<T>(finish(total, count));
  });
  return LLMC_KERNEL_OK;
}

template <typename A> static A asIs(A total, int64_t) { return total; }

LLMC_REFERENCE_KERNEL(reduce_sum) {
  return dispatchNumber(args->inputs[0].dtype, [&]<typename T>() {
    using A = Wide<T>;
    return reduce<T>(args, A(0), [](A total, auto x) { return sum(total, A(x)); }, asIs<A>);
  });
}

LLMC_REFERENCE_KERNEL(reduce_prod) {
  return dispatchNumber(args->inputs[0].dtype, [&]<typename T>() {
    using A = Wide<T>;
    return reduce<T>(args, A(1), [](A total, auto x) { return product(total, A(x)); }, asIs<A>);
  });
}

/// The mean of no elements is NaN; of no integers, a division by zero.
LLMC_REFERENCE_KERNEL(reduce_mean) {
  bool byZero = false;
  int32_t status = dispatchNumber(args->inputs[0].dtype, [&]<typename T>() {
    if constexpr (isFloat<T>) {
      return reduce<T>(
          args, 0.0, [](double total, auto x) { return total + x; },
          [](double total, int64_t count) { return total / double(count); });
    } else {
      using A = Widest<T>;
      return reduce<T>(
          args, A(0), [](A total, T x) { return sum(total, A(x)); },
          [&](A total, int64_t count) {
            byZero |= count == 0;
            return count == 0 ? A(0) : quotient(total, A(count));
          });
    }
  });
  return byZero ? fail(args, LLMC_KERNEL_DIVISION_BY_ZERO, -1, 0) : status;
}

/// NaN if there is one; the least value (-infinity) of no elements.
LLMC_REFERENCE_KERNEL(reduce_max) {
  return dispatchAny(args->inputs[0].dtype, [&]<typename T>() {
    using A = Compute<T>;
    return reduce<T>(args, leastValue<A>(), [](A best, A x) { return maximum(best, x); }, asIs<A>);
  });
}

/// NaN if there is one; the greatest value (infinity) of no elements.
LLMC_REFERENCE_KERNEL(reduce_min) {
  return dispatchAny(args->inputs[0].dtype, [&]<typename T>() {
    using A = Compute<T>;
    return reduce<T>(args, greatestValue<A>(), [](A best, A x) { return minimum(best, x); }, asIs<A>);
  });
}
