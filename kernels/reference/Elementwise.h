// Loops shared by the element-wise kernels. An operation is a function object on compute-type values.
#ifndef LLMC_KERNELS_REFERENCE_ELEMENTWISE_H
#define LLMC_KERNELS_REFERENCE_ELEMENTWISE_H

#include "kernels/reference/Tensor.h"

namespace llmc::reference {

/// The walk of an element-wise kernel: the output's shape, and the strides of N - 1 inputs broadcast to it, then of the
/// output.
template <int N> struct ElementwisePlan {
  Dims shape, strides[N];

  LLMC_SHARED explicit ElementwisePlan(const llmc_reference_args *args) : shape(shapeOf(args->outputs[0])) {
    for (int i = 0; i < N - 1; ++i)
      strides[i] = broadcastStrides(args->inputs[i], shape);
    strides[N - 1] = stridesOf(args->outputs[0]);
  }
};

/// outputs[0] = op(inputs[0]) with In and Out as element types.
template <typename In, typename Out, typename Op> int32_t mapUnary(const llmc_reference_args *args, Op op) {
  ElementwisePlan<2> plan(args);
  const In *from = dataOf<In>(args->inputs[0]);
  Out *to = dataOf<Out>(args->outputs[0]);
  forEachElement(plan.shape, plan.strides, [&](const int64_t *at) { to[at[1]] = store<Out>(op(load(from[at[0]]))); });
  return LLMC_KERNEL_OK;
}

/// outputs[0] = op(inputs[0], inputs[1]), broadcast to the output.
template <typename In, typename Out, typename Op> int32_t mapBinary(const llmc_reference_args *args, Op op) {
  ElementwisePlan<3> plan(args);
  const In *left = dataOf<In>(args->inputs[0]), *right = dataOf<In>(args->inputs[1]);
  Out *to = dataOf<Out>(args->outputs[0]);
  forEachElement(plan.shape, plan.strides,
                 [&](const int64_t *at) { to[at[2]] = store<Out>(op(load(left[at[0]]), load(right[at[1]]))); });
  return LLMC_KERNEL_OK;
}

/// A unary operation on all floats; the output has the type of the input.
template <typename Op> int32_t unaryFloat(const llmc_reference_args *args, Op op) {
  return dispatchFloat(args->inputs[0].dtype, [&]<typename T>() { return mapUnary<T, T>(args, op); });
}

/// A unary operation on all numbers.
template <typename Op> int32_t unaryNumber(const llmc_reference_args *args, Op op) {
  return dispatchNumber(args->inputs[0].dtype, [&]<typename T>() { return mapUnary<T, T>(args, op); });
}

/// A binary operation on all numbers, both of one type.
template <typename Op> int32_t binaryNumber(const llmc_reference_args *args, Op op) {
  return dispatchNumber(args->inputs[0].dtype, [&]<typename T>() { return mapBinary<T, T>(args, op); });
}

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_ELEMENTWISE_H
