// range, cum_sum and cum_prod.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Line.h"

using namespace llmc::reference;

/// The number of elements of range: max(0, ceil((limit - start) / delta)), exact for integers; -1 if it is not a size.
template <typename C> static int64_t rangeCount(C start, C limit, C delta) {
  if constexpr (isFloat<C>) {
    double count = math::ceil((double(limit) - double(start)) / double(delta));
    return delta == C(0) || !(count < 0x1p62) ? -1 : count > 0 ? int64_t(count) : 0;
  } else {
    if (delta == C(0))
      return -1;
    if (delta > C(0) ? start >= limit : start <= limit)
      return 0;
    // The distances of 64-bit integers fit in unsigned ones.
    uint64_t span = delta > C(0) ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
    uint64_t step = delta > C(0) ? uint64_t(delta) : uint64_t(0) - uint64_t(delta);
    uint64_t count = (span - 1) / step + 1;
    return count >> 62 ? -1 : int64_t(count);
  }
}

/// range(start, limit, delta): start + i * delta (a product and a sum, each rounded). Sets the true size of the output.
LLMC_REFERENCE_KERNEL(range) {
  const llmc_tensor &y = args->outputs[0];
  return dispatchNumber(y.dtype, [&]<typename T>() -> int32_t {
    using C = Compute<T>;
    auto scalar = [&](int32_t input) { return load(*dataOf<T>(args->inputs[input])); };
    C start = scalar(0), limit = scalar(1), delta = scalar(2);
    Dims shape{1};
    shape[0] = rangeCount(start, limit, delta);
    if (shape[0] < 0)
      return fail(args, LLMC_KERNEL_BAD_SHAPE, 2, 0);
    if (int32_t status = resize(args, y, shape))
      return status;
    int64_t stride = stridesOf(y)[0];
    for (int64_t i = 0; i < shape[0]; ++i)
      dataOf<T>(y)[i * stride] = store<T>(sum(start, product(C(i), delta)));
    return LLMC_KERNEL_OK;
  });
}

/// Running results along an axis; floats accumulate in double and round each result once.
template <typename Combine> static int32_t accumulate(const llmc_reference_args *args, int start, Combine combine) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  IntReader ints(args);
  int64_t axis = ints.integer();
  bool exclusive = ints.flag(), reverse = ints.flag();
  if (!normalizeIndex(axis, x.rank))
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 1, axis);
  int64_t size = x.dims[axis], fromStride = stridesOf(x)[axis], toStride = stridesOf(y)[axis];
  return dispatchNumber(x.dtype, [&]<typename T>() {
    using A = Wide<T>;
    const T *from = dataOf<T>(x);
    T *to = dataOf<T>(y);
    forEachLine(x, y, axis, [&](int64_t xLine, int64_t yLine) {
      A total = A(start);
      for (int64_t n = 0; n < size; ++n) {
        int64_t i = reverse ? size - 1 - n : n;
        A next = combine(total, A(load(from[xLine + i * fromStride])));
        to[yLine + i * toStride] = convert<T>(exclusive ? total : next);
        total = next;
      }
    });
    return LLMC_KERNEL_OK;
  });
}

/// ints: axis, exclusive (an element's own value is left out), reverse (from the end)
LLMC_REFERENCE_KERNEL(cum_sum) {
  return accumulate(args, 0, [](auto total, auto value) { return sum(total, value); });
}

/// ints: as cum_sum
LLMC_REFERENCE_KERNEL(cum_prod) {
  return accumulate(args, 1, [](auto total, auto value) { return product(total, value); });
}
