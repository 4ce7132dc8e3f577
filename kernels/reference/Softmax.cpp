// softmax and log_softmax along an axis. ints: axis
//
// Exponentials of x - max in the compute type, their sum in double in ascending order. A line of -infinity alone gives
// NaN.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Limits.h"
#include "kernels/reference/Line.h"

using namespace llmc::reference;

/// y = finish(x - max, sum of exp(x - max)) along each line.
template <typename Finish> static int32_t softmax(const llmc_reference_args *args, Finish finish) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  int64_t axis = args->ints[0];
  if (!normalizeIndex(axis, x.rank))
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, axis);
  int64_t size = x.dims[axis], fromStride = stridesOf(x)[axis], toStride = stridesOf(y)[axis];
  return dispatchFloat(x.dtype, [&]<typename T>() {
    using C = Compute<T>;
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y);
    forEachLine(x, y, axis, [&](int64_t xLine, int64_t yLine) {
      auto value = [&](int64_t i) { return load(from[xLine + i * fromStride]); };
      C greatest = leastValue<C>();
      for (int64_t i = 0; i < size; ++i)
        greatest = maximum(greatest, value(i));
      double total = 0;
      for (int64_t i = 0; i < size; ++i)
        total += math::exp(value(i) - greatest);
      for (int64_t i = 0; i < size; ++i)
        to[yLine + i * toStride] = store<T>(finish(value(i) - greatest, C(total)));
    });
    return LLMC_KERNEL_OK;
  });
}

LLMC_REFERENCE_KERNEL(softmax) {
  return softmax(args, []<typename C>(C centred, C total) { return math::exp(centred) / total; });
}

LLMC_REFERENCE_KERNEL(log_softmax) {
  return softmax(args, []<typename C>(C centred, C total) { return centred - math::log(total); });
}
