// top_k: the greatest or least elements along an axis, and where they were.
//
// ints: axis, largest. The outputs' dim says how many. NaN counts as greater than all; of equal ones the earlier comes first. The
// result is sorted.
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Line.h"

using namespace llmc::reference;

/// Whether a comes before b, which stands behind it.
template <typename T> static bool isBefore(T a, T b, bool largest) {
  bool aIsNan = a != a, bIsNan = b != b;
  if (aIsNan || bIsNan)
    return largest ? aIsNan && !bIsNan : bIsNan && !aIsNan;
  return largest ? a > b : a < b;
}

LLMC_REFERENCE_KERNEL(top_k) {
  const llmc_tensor &x = args->inputs[0], &values = args->outputs[0], &places = args->outputs[1];
  int64_t axis = args->ints[0];
  bool largest = args->ints[1] != 0;
  if (!normalizeIndex(axis, x.rank))
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, axis);
  int64_t size = x.dims[axis], count = values.dims[axis];
  if (count > size)
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 1, count);
  int64_t step = stridesOf(x)[axis], toStep = stridesOf(values)[axis], placeStep = stridesOf(places)[axis];
  const Dims strides[] = {without(stridesOf(x), axis), without(stridesOf(values), axis), without(stridesOf(places), axis)};
  return dispatchNumber(x.dtype, [&]<typename T>() {
    forEachElement(without(shapeOf(x), axis), strides, [&](const int64_t *at) {
      const T *from = dataOf<T>(x) + at[0];
      T *to = dataOf<T>(values) + at[1];
      int64_t *place = dataOf<int64_t>(places) + at[2];
      // Insertion into the sorted list of the best so far: count is small where this is hot.
      int64_t held = 0;
      for (int64_t i = 0; i < size && count > 0; ++i) {
        T element = from[i * step];
        if (held == count && !isBefore(load(element), load(to[(held - 1) * toStep]), largest))
          continue;
        int64_t slot = held < count ? held++ : held - 1;
        for (; slot > 0 && isBefore(load(element), load(to[(slot - 1) * toStep]), largest); --slot) {
          to[slot * toStep] = to[(slot - 1) * toStep];
          place[slot * placeStep] = place[(slot - 1) * placeStep];
        }
        to[slot * toStep] = element;
        place[slot * placeStep] = i;
      }
    });
    return LLMC_KERNEL_OK;
  });
}
