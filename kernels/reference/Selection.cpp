// prefix, non_zero, unique and non_max_suppression. The number of results depends on data: outputs have room for the most, and the
// last one gets the number.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

namespace {

/// A tensor's elements by their place in row-major order.
template <typename T> class Elements {
public:
  explicit Elements(const llmc_tensor &tensor) : data(dataOf<T>(tensor)), shape(shapeOf(tensor)), strides(stridesOf(tensor)) {}
  T &operator[](int64_t place) const {
    int64_t offset = 0;
    for (int32_t d = shape.rank - 1; d >= 0; --d) {
      offset += place % shape[d] * strides[d];
      place /= shape[d];
    }
    return data[offset];
  }
  int64_t size() const { return shape.elements(); }

private:
  T *data;
  Dims shape, strides;
};
using Numbers = Elements<int64_t>;

/// Sorts [0, size) of `order` in place; `isBefore` is a strict total order.
template <typename Before> void heapSort(Numbers order, int64_t size, Before isBefore) {
  auto sink = [&](int64_t at, int64_t end) {
    for (int64_t child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && isBefore(order[child], order[child + 1]))
        ++child;
      if (!isBefore(order[at], order[child]))
        return;
      int64_t held = order[at];
      order[at] = order[child];
      order[child] = held;
    }
  };
  for (int64_t at = size / 2 - 1; at >= 0; --at)
    sink(at, size);
  for (int64_t end = size - 1; end > 0; --end) {
    int64_t held = order[0];
    order[0] = order[end];
    order[end] = held;
    sink(0, end);
  }
}

/// The slices of a tensor along an axis, or its elements: an order of them in which NaNs are equal and come last.
template <typename T> struct Slices {
  Elements<T> elements;
  int64_t outer = 1, count = 1, inner = 1;

  int compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        auto x = load(elements[(o * count + a) * inner + i]), y = load(elements[(o * count + b) * inner + i]);
        bool xIsNan = x != x, yIsNan = y != y;
        if (xIsNan || yIsNan) {
          if (xIsNan != yIsNan)
            return xIsNan ? 1 : -1;
        } else if (x != y) {
          return x < y ? -1 : 1;
        }
      }
    return 0;
  }
};

template <typename T> Slices<T> slicesOf(const llmc_tensor &x, int64_t axis) {
  Slices<T> slices{Elements<T>(x)};
  if (axis < 0) {
    slices.count = slices.elements.size();
    return slices;
  }
  slices.count = x.dims[axis];
  for (int32_t d = 0; d < x.rank; ++d)
    (d < axis ? slices.outer : slices.inner) *= d == axis ? 1 : x.dims[d];
  return slices;
}

/// inverse[i]: the first slice that equals slice i. `order` is left sorted.
template <typename T> void findFirst(const Slices<T> &slices, Numbers order, Numbers inverse) {
  for (int64_t i = 0; i < slices.count; ++i)
    order[i] = i;
  heapSort(order, slices.count, [&](int64_t a, int64_t b) {
    int found = slices.compare(a, b);
    return found ? found < 0 : a < b;
  });
  for (int64_t i = 0, first = 0; i < slices.count; ++i) {
    if (i == 0 || slices.compare(first, order[i]) != 0)
      first = order[i];
    inverse[order[i]] = first;
  }
}

/// A box as its corners.
struct Box {
  float x1, y1, x2, y2;
  float area() const { return (x2 - x1) * (y2 - y1); }
};

Box boxAt(const Elements<float> &boxes, int64_t place, bool centered) {
  const float at[] = {boxes[4 * place], boxes[4 * place + 1], boxes[4 * place + 2], boxes[4 * place + 3]};
  if (centered)
    return {at[0] - at[2] / 2, at[1] - at[3] / 2, at[0] + at[2] / 2, at[1] + at[3] / 2};
  auto least = [](float a, float b) { return a < b ? a : b; };
  auto most = [](float a, float b) { return a < b ? b : a; };
  return {least(at[1], at[3]), least(at[0], at[2]), most(at[1], at[3]), most(at[0], at[2])};
}

bool overlaps(const Box &a, const Box &b, float threshold) {
  float width = (a.x2 < b.x2 ? a.x2 : b.x2) - (a.x1 < b.x1 ? b.x1 : a.x1);
  float height = (a.y2 < b.y2 ? a.y2 : b.y2) - (a.y1 < b.y1 ? b.y1 : a.y1);
  if (!(width > 0) || !(height > 0))
    return false;
  float shared = width * height, all = a.area() + b.area() - shared;
  return a.area() > 0 && b.area() > 0 && all > 0 && shared / all > threshold;
}

} // namespace

/// The first elements of x, as many as y has.
LLMC_REFERENCE_KERNEL(prefix) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  int64_t size = shapeOf(y).elements();
  if (size > shapeOf(x).elements())
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, size);
  return dispatchWidth(y.dtype, [&]<typename T>() {
    Elements<T> from(x), to(y);
    for (int64_t i = 0; i < size; ++i)
      to[i] = from[i];
    return LLMC_KERNEL_OK;
  });
}

/// outputs: places (a row per dim, without gaps), count
LLMC_REFERENCE_KERNEL(non_zero) {
  const llmc_tensor &x = args->inputs[0];
  Numbers places(args->outputs[0]), count(args->outputs[1]);
  return dispatchNumber(x.dtype == LLMC_BOOL ? LLMC_U8 : x.dtype, [&]<typename T>() {
    Elements<T> elements(x);
    auto isSet = [&](int64_t i) { return load(elements[i]) != Compute<T>(0); };
    int64_t found = 0, column = 0, at = 0;
    for (int64_t i = 0; i < elements.size(); ++i)
      found += isSet(i);
    forEachIndex(shapeOf(x), [&](const int64_t *index) {
      if (!isSet(at++))
        return;
      for (int32_t d = 0; d < x.rank; ++d)
        places[d * found + column] = index[d];
      ++column;
    });
    count[0] = found;
    return LLMC_KERNEL_OK;
  });
}

/// ints: axis (-1 for elements), sorted; outputs: first, inverse, counts, count
LLMC_REFERENCE_KERNEL(unique) {
  const llmc_tensor &x = args->inputs[0];
  Numbers first(args->outputs[0]), inverse(args->outputs[1]), counts(args->outputs[2]), count(args->outputs[3]);
  int64_t axis = args->ints[0];
  bool sorted = args->ints[1] != 0;
  return dispatchNumber(x.dtype == LLMC_BOOL ? LLMC_U8 : x.dtype, [&]<typename T>() {
    Slices<T> slices = slicesOf<T>(x, axis);
    Numbers order = first, number = counts; // until they get their values: slices in order, the number of each that is a first one
    findFirst(slices, order, inverse);
    int64_t found = 0;
    for (int64_t i = 0; i < slices.count; ++i) {
      int64_t slice = sorted ? order[i] : i;
      if (inverse[slice] == slice)
        number[slice] = found++;
    }
    for (int64_t i = 0; i < slices.count; ++i)
      inverse[i] = number[inverse[i]];
    for (int64_t i = 0; i < found; ++i)
      counts[i] = 0;
    for (int64_t i = slices.count - 1; i >= 0; --i) {
      first[inverse[i]] = i;
      ++counts[inverse[i]];
    }
    count[0] = found;
    return LLMC_KERNEL_OK;
  });
}

/// inputs: boxes, scores, limit, overlap, threshold; ints: centered; outputs: chosen, order (room for a number per box), count
LLMC_REFERENCE_KERNEL(non_max_suppression) {
  if (args->inputs[0].dtype != LLMC_F32)
    return LLMC_KERNEL_UNSUPPORTED;
  const int64_t *dims = args->inputs[1].dims;
  Elements<float> boxes(args->inputs[0]), scores(args->inputs[1]);
  Numbers chosen(args->outputs[0]), order(args->outputs[1]), count(args->outputs[2]);
  int64_t batches = dims[0], classes = dims[1], size = dims[2], found = 0;
  int64_t limit = readIndex(args->inputs[2], 0);
  float overlap = *dataOf<float>(args->inputs[3]), threshold = *dataOf<float>(args->inputs[4]);
  bool centered = args->ints[0] != 0;
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t kind = 0; kind < classes; ++kind) {
      auto score = [&](int64_t i) { return scores[(batch * classes + kind) * size + i]; };
      auto box = [&](int64_t i) { return boxAt(boxes, batch * size + i, centered); };
      int64_t candidates = 0, begin = found;
      for (int64_t i = 0; i < size; ++i)
        if (score(i) > threshold)
          order[candidates++] = i;
      heapSort(order, candidates, [&](int64_t a, int64_t b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
      for (int64_t i = 0; i < candidates && found - begin < limit; ++i) {
        Box candidate = box(order[i]);
        bool isFree = true;
        for (int64_t j = begin; j < found && isFree; ++j)
          isFree = !overlaps(candidate, box(chosen[3 * j + 2]), overlap);
        if (!isFree)
          continue;
        chosen[3 * found] = batch;
        chosen[3 * found + 1] = kind;
        chosen[3 * found + 2] = order[i];
        ++found;
      }
    }
  count[0] = found;
  return LLMC_KERNEL_OK;
}
