// How kernels see and walk tensors: resolved shapes and strides, numpy broadcasting, one odometer for all.
//
// Shapes are trusted as far as the op's verifier checks them (ranks, matching dims); data is not.
#ifndef LLMC_KERNELS_REFERENCE_TENSOR_H
#define LLMC_KERNELS_REFERENCE_TENSOR_H

#include "kernels/reference/Convert.h"

/// Defines the kernel of one op.
#define LLMC_REFERENCE_KERNEL(mnemonic) extern "C" int32_t llmc_ref_##mnemonic(const llmc_reference_args *args)

#define LLMC_KERNEL(mnemonic) LLMC_REFERENCE_KERNEL(mnemonic);
#include "kernels/Kernels.def"
#undef LLMC_KERNEL

namespace llmc::reference {

/// Sizes or strides, one per dimension.
struct Dims {
  int32_t rank = 0;
  int64_t at[LLMC_MAX_RANK] = {};

  int64_t &operator[](int32_t d) { return at[d]; }
  int64_t operator[](int32_t d) const { return at[d]; }
  int64_t elements() const {
    int64_t count = 1;
    for (int32_t d = 0; d < rank; ++d)
      count *= at[d];
    return count;
  }
};

LLMC_SHARED inline Dims shapeOf(const llmc_tensor &tensor) {
  Dims shape{tensor.rank};
  for (int32_t d = 0; d < tensor.rank; ++d)
    shape[d] = tensor.dims[d];
  return shape;
}

LLMC_SHARED inline Dims denseStrides(const Dims &shape) {
  Dims strides{shape.rank};
  int64_t stride = 1;
  for (int32_t d = shape.rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

LLMC_SHARED inline Dims stridesOf(const llmc_tensor &tensor) {
  if (!tensor.strides)
    return denseStrides(shapeOf(tensor));
  Dims strides{tensor.rank};
  for (int32_t d = 0; d < tensor.rank; ++d)
    strides[d] = tensor.strides[d];
  return strides;
}

/// Strides that read `tensor` as if it had `shape`: trailing dims are aligned; a missing dim or one of size 1 repeats.
LLMC_SHARED inline Dims broadcastStrides(const llmc_tensor &tensor, const Dims &shape) {
  Dims own = stridesOf(tensor), strides{shape.rank};
  for (int32_t d = 0; d < tensor.rank; ++d)
    strides[shape.rank - tensor.rank + d] = tensor.dims[d] == 1 ? 0 : own[d];
  return strides;
}

template <typename T> inline T *dataOf(const llmc_tensor &tensor) { return static_cast<T *>(tensor.data); }

inline bool isPresent(const llmc_reference_args *args, int32_t input) {
  return input < args->num_inputs && args->inputs[input].dtype != LLMC_DTYPE_INVALID;
}

/// A walk over `shape` in row-major order, row by row of the last dim, with N offsets: offsets[i] moves by strides[i].
template <int N> class RowWalk {
public:
  LLMC_SHARED RowWalk(const Dims &shape, const Dims (&strides)[N])
      : strides(strides), shape(shape), rest(shape.rank - 1) {
    length = shape.rank ? shape[rest] : 1;
    rows = length == 0 ? 0 : shape.elements() / length;
    for (int i = 0; i < N; ++i)
      step[i] = shape.rank ? strides[i][rest] : 0;
  }
  LLMC_SHARED void advance() {
    --rows;
    for (int32_t d = rest - 1; d >= 0; --d) {
      bool wraps = ++index[d] == shape[d];
      for (int i = 0; i < N; ++i)
        start[i] += wraps ? strides[i][d] * (1 - shape[d]) : strides[i][d];
      if (!wraps)
        break;
      index[d] = 0;
    }
  }

  int64_t start[N] = {}, step[N]; // offsets of the row's first element, and from one element to the next
  int64_t rows, length;

private:
  const Dims (&strides)[N];
  const Dims &shape;
  int64_t index[LLMC_MAX_RANK] = {};
  int32_t rest; // the last dim
};

/// Calls `body(offsets)` for each element of `shape` in row-major order; offsets[i] moves by strides[i].
template <int N, typename Body> void forEachElement(const Dims &shape, const Dims (&strides)[N], Body body) {
  for (RowWalk<N> walk(shape, strides); walk.rows > 0; walk.advance()) {
    int64_t offsets[N];
    for (int i = 0; i < N; ++i)
      offsets[i] = walk.start[i];
    for (int64_t left = walk.length; left > 0; --left) {
      body(static_cast<const int64_t *>(offsets));
      for (int i = 0; i < N; ++i)
        offsets[i] += walk.step[i];
    }
  }
}

/// Calls `body(index)` for each element of `shape` in row-major order.
template <typename Body> void forEachIndex(const Dims &shape, Body body) {
  int64_t index[LLMC_MAX_RANK] = {};
  for (int64_t left = shape.elements(); left > 0; --left) {
    body(static_cast<const int64_t *>(index));
    for (int32_t d = shape.rank - 1; d >= 0 && ++index[d] == shape[d]; --d)
      index[d] = 0;
  }
}

/// Records a fault of the data and returns its code. `operand` is an input's index, or -1.
inline int32_t fail(const llmc_reference_args *args, int32_t code, int32_t operand, int64_t value) {
  *args->error = {code, operand, -1, value};
  return code;
}

/// One walk over a tensor's elements in row-major order, for two walks over different shapes side by side.
class Odometer {
public:
  Odometer(const Dims &shape, const Dims &strides) : shape(shape), strides(strides) {}
  int64_t offset() const { return at; }
  void advance() {
    for (int32_t d = shape.rank - 1; d >= 0; --d) {
      at += strides[d];
      if (++index[d] < shape[d])
        return;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }

private:
  Dims shape, strides;
  int64_t index[LLMC_MAX_RANK] = {};
  int64_t at = 0;
};

/// Reads an element of an i32 or i64 tensor: sizes and indices.
LLMC_SHARED inline int64_t readIndex(const llmc_tensor &tensor, int64_t offset) {
  return tensor.dtype == LLMC_I32 ? dataOf<int32_t>(tensor)[offset] : dataOf<int64_t>(tensor)[offset];
}

/// Reads an element of any integer or bool tensor; a u64 keeps its bits.
LLMC_SHARED inline int64_t readInteger(const llmc_tensor &tensor, int64_t offset) {
  int64_t value = 0;
  dispatchInteger(tensor.dtype == LLMC_BOOL ? LLMC_U8 : tensor.dtype, [&]<typename T>() {
    value = int64_t(dataOf<T>(tensor)[offset]);
    return 0;
  });
  return tensor.dtype == LLMC_BOOL ? value != 0 : value;
}

/// Reads an element of any float tensor.
LLMC_SHARED inline double readFloat(const llmc_tensor &tensor, int64_t offset) {
  switch (tensor.dtype) {
  case LLMC_F32:
    return dataOf<float>(tensor)[offset];
  case LLMC_F16:
    return decode(dataOf<Half>(tensor)[offset]);
  case LLMC_BF16:
    return decode(dataOf<BFloat16>(tensor)[offset]);
  default:
    return dataOf<double>(tensor)[offset];
  }
}

/// Sets the true shape of an output whose size depends on data. Its dims hold the bound, which the memory fits.
inline int32_t resize(const llmc_reference_args *args, const llmc_tensor &output, const Dims &shape) {
  if (shape.elements() > shapeOf(output).elements())
    return fail(args, LLMC_KERNEL_OUT_OF_SPACE, -1, shape.elements());
  for (int32_t d = 0; d < shape.rank; ++d)
    output.dims[d] = shape[d];
  return LLMC_KERNEL_OK;
}

/// The attributes in `ints`, read in order.
class IntReader {
public:
  explicit IntReader(const llmc_reference_args *args) : next(args->ints) {}
  int64_t integer() { return *next++; }
  bool flag() { return integer() != 0; }
  /// A list of at most LLMC_MAX_RANK elements.
  Dims list() {
    Dims values{int32_t(integer())};
    for (int32_t i = 0; i < values.rank; ++i)
      values[i] = integer();
    return values;
  }
  /// A list of any length, in place.
  const int64_t *longList(int64_t &length) {
    length = integer();
    const int64_t *first = next;
    next += length;
    return first;
  }

private:
  const int64_t *next;
};

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_TENSOR_H
