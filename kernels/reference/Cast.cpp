// cast, bit_cast and where. The dtypes of input and output decide; Convert.h states the rules.
#include "kernels/reference/Elementwise.h"

using namespace llmc::reference;

/// Through the widest type of the input's kind, so that each pair of types needs no loop of its own.
template <typename To> static int32_t castTo(const llmc_reference_args *args) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  Dims shape = shapeOf(y);
  const Dims strides[] = {broadcastStrides(x, shape), stridesOf(y)};
  To *to = dataOf<To>(y);
  auto loop = [&](auto read) {
    forEachElement(shape, strides, [&](const int64_t *at) { to[at[1]] = convert<To>(read(x, at[0])); });
    return LLMC_KERNEL_OK;
  };
  if (isFloatType(x.dtype))
    return loop(readFloat);
  if (x.dtype == LLMC_U64)
    return loop([](const llmc_tensor &tensor, int64_t at) { return uint64_t(readInteger(tensor, at)); });
  return sizeOf(x.dtype) ? loop(readInteger) : LLMC_KERNEL_UNSUPPORTED;
}

LLMC_REFERENCE_KERNEL(cast) {
  return dispatchAny(args->outputs[0].dtype, [&]<typename To>() { return castTo<To>(args); });
}

/// The bits of x in an element type of the same width; those of a bool are its byte.
LLMC_REFERENCE_KERNEL(bit_cast) {
  const llmc_tensor &x = args->inputs[0], &y = args->outputs[0];
  if (sizeOf(x.dtype) != sizeOf(y.dtype))
    return LLMC_KERNEL_UNSUPPORTED;
  Dims shape = shapeOf(y);
  const Dims strides[] = {stridesOf(x), stridesOf(y)};
  return dispatchWidth(y.dtype, [&]<typename T>() {
    forEachElement(shape, strides, [&](const int64_t *at) { dataOf<T>(y)[at[1]] = dataOf<T>(x)[at[0]]; });
    return LLMC_KERNEL_OK;
  });
}

/// condition ? x : y, all broadcast to the output.
LLMC_REFERENCE_KERNEL(where) {
  const llmc_tensor &condition = args->inputs[0], &x = args->inputs[1], &y = args->inputs[2];
  const llmc_tensor &result = args->outputs[0];
  if (condition.dtype != LLMC_BOOL)
    return LLMC_KERNEL_UNSUPPORTED;
  Dims shape = shapeOf(result);
  const Dims strides[] = {broadcastStrides(condition, shape), broadcastStrides(x, shape), broadcastStrides(y, shape),
                          stridesOf(result)};
  return dispatchWidth(result.dtype, [&]<typename T>() {
    const T *yes = dataOf<T>(x), *no = dataOf<T>(y);
    T *to = dataOf<T>(result);
    forEachElement(shape, strides, [&](const int64_t *at) {
      to[at[3]] = load(dataOf<Bool>(condition)[at[0]]) ? yes[at[1]] : no[at[2]];
    });
    return LLMC_KERNEL_OK;
  });
}
