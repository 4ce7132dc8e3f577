// matmul. Order of a sum: k ascending, one accumulator starting at 0, one fused multiply-add per step; small floats
// accumulate in float and round once at the end; integers wrap. The generated kernels keep this order.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Tensor.h"

using namespace llmc::reference;

/// Strides of one operand over [batch..., rows, columns] of the result, and along the summed dim.
struct MatMulOperand {
  Dims strides;
  int64_t sumStride = 0;
};

/// `isLeft`: [..., rows, k] or [k]; otherwise [..., k, columns] or [k].
static MatMulOperand matMulOperand(const llmc_tensor &tensor, const Dims &result, bool isLeft) {
  Dims own = stridesOf(tensor);
  MatMulOperand operand{Dims{result.rank}};
  if (tensor.rank == 1) {
    operand.sumStride = own[0];
    return operand;
  }
  int32_t rows = tensor.rank - 2, columns = tensor.rank - 1;
  operand.sumStride = own[isLeft ? columns : rows];
  operand.strides[result.rank - (isLeft ? 2 : 1)] = own[isLeft ? rows : columns];
  for (int32_t d = 0; d < rows; ++d)
    operand.strides[result.rank - tensor.rank + d] = tensor.dims[d] == 1 ? 0 : own[d];
  return operand;
}

/// numpy.matmul: 1-D operands get a dim of 1 that the output does not show; batch dims broadcast.
LLMC_REFERENCE_KERNEL(matmul) {
  const llmc_tensor &a = args->inputs[0], &b = args->inputs[1], &y = args->outputs[0];
  // The result's shape and strides with both matrix dims shown.
  Dims shape{}, yStrides{}, own = stridesOf(y);
  int32_t batchDims = y.rank - (a.rank > 1) - (b.rank > 1);
  auto append = [&](int64_t size, int64_t stride) {
    shape[shape.rank++] = size;
    yStrides[yStrides.rank++] = stride;
  };
  for (int32_t d = 0; d < batchDims; ++d)
    append(y.dims[d], own[d]);
  append(a.rank > 1 ? y.dims[batchDims] : 1, a.rank > 1 ? own[batchDims] : 0);
  append(b.rank > 1 ? y.dims[y.rank - 1] : 1, b.rank > 1 ? own[y.rank - 1] : 0);

  MatMulOperand left = matMulOperand(a, shape, true), right = matMulOperand(b, shape, false);
  const Dims strides[] = {left.strides, right.strides, yStrides};
  int64_t depth = a.dims[a.rank - 1];
  return dispatchNumber(y.dtype, [&]<typename T>() {
    const T *leftData = dataOf<T>(a), *rightData = dataOf<T>(b);
    T *to = dataOf<T>(y);
    forEachElement(shape, strides, [&](const int64_t *at) {
      Compute<T> total = 0;
      for (int64_t k = 0; k < depth; ++k)
        total = multiplyAdd(load(leftData[at[0] + k * left.sumStride]), load(rightData[at[1] + k * right.sumStride]),
                            total);
      to[at[2]] = store<T>(total);
    });
    return LLMC_KERNEL_OK;
  });
}
