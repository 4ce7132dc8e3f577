// concat(inputs...): joined along an axis. ints: axis
#include "kernels/reference/Indexing.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

LLMC_REFERENCE_KERNEL(concat) {
  const llmc_tensor &y = args->outputs[0];
  int64_t axis = args->ints[0];
  if (!normalizeIndex(axis, y.rank))
    return fail(args, LLMC_KERNEL_BAD_SHAPE, 0, axis);
  Dims yStrides = stridesOf(y);
  return dispatchWidth(y.dtype, [&]<typename T>() {
    T *to = dataOf<T>(y);
    for (int32_t i = 0; i < args->num_inputs; ++i) {
      const llmc_tensor &x = args->inputs[i];
      const T *from = dataOf<T>(x);
      const Dims strides[] = {stridesOf(x), yStrides};
      forEachElement(shapeOf(x), strides, [&](const int64_t *at) { to[at[1]] = from[at[0]]; });
      to += x.dims[axis] * yStrides[int32_t(axis)];
    }
    return LLMC_KERNEL_OK;
  });
}
