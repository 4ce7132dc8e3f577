// What the recurrent layers share: activations as attributes name them, rows of states and weights.
#ifndef LLMC_KERNELS_REFERENCE_RECURRENT_H
#define LLMC_KERNELS_REFERENCE_RECURRENT_H

#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Tensor.h"

namespace llmc::reference {

enum Function : int64_t { relu, tanh, sigmoid, affine, leakyRelu, thresholdedRelu, scaledTanh, hardSigmoid, elu, softsign,
                         softplus };

template <typename C> struct Activation {
  int64_t function = tanh;
  C alpha = 0, beta = 0, clip = 0;
  bool clips = false;

  C operator()(C x) const { return unclipped(clips ? maximum(-clip, minimum(clip, x)) : x); }
  C unclipped(C x) const {
    switch (function) {
    case relu:
      return maximum(x, C(0));
    case sigmoid: {
      C e = math::exp(-magnitude(x));
      return (x < C(0) ? e : C(1)) / (C(1) + e);
    }
    case affine:
      return alpha * x + beta;
    case leakyRelu:
      return x < C(0) ? alpha * x : x;
    case thresholdedRelu:
      return x < alpha ? C(0) : x;
    case scaledTanh:
      return alpha * math::tanh(beta * x);
    case hardSigmoid:
      return maximum(C(0), minimum(C(1), alpha * x + beta));
    case elu:
      return x < C(0) ? alpha * math::expm1(x) : x;
    case softsign:
      return x / (C(1) + magnitude(x));
    case softplus:
      return maximum(x, C(0)) + math::log1p(math::exp(-magnitude(x)));
    default:
      return math::tanh(x);
    }
  }
};

/// A row of a tensor: elements `step` apart.
template <typename T> struct Row {
  T *data = nullptr;
  int64_t step = 0;

  explicit operator bool() const { return data; }
  Compute<T> operator[](int64_t i) const { return load(data[i * step]); }
  void set(int64_t i, Compute<T> value) const { data[i * step] = store<T>(value); }
};

/// Rows `rowStep` apart: what a tensor has at one place of its first dim.
template <typename T> struct Matrix {
  T *data = nullptr;
  int64_t rowStep = 0, step = 0;

  Matrix() = default;
  Matrix(const llmc_tensor &tensor, int64_t place) {
    Dims strides = stridesOf(tensor);
    data = dataOf<T>(tensor) + place * strides[0];
    rowStep = tensor.rank == 3 ? strides[1] : 0, step = strides[tensor.rank - 1];
  }
  Row<T> row(int64_t i) const { return {data ? data + i * rowStep : nullptr, step}; }
};

template <typename T> Matrix<T> optionalMatrix(const llmc_reference_args *args, int32_t input, int64_t place) {
  return isPresent(args, input) ? Matrix<T>(args->inputs[input], place) : Matrix<T>();
}

/// The activations of all directions, from attributes.
template <typename C, int perDirection> struct Activations {
  Activation<C> functions[2 * perDirection];

  explicit Activations(const llmc_reference_args *args) {
    IntReader ints(args);
    ints.integer();
    bool clips = ints.flag();
    Dims list = ints.list();
    for (int32_t i = 0; i < list.rank; ++i)
      functions[i] = {list[i], C(args->floats[1 + i]), C(args->floats[1 + list.rank + i]), C(args->floats[0]), clips};
  }
  const Activation<C> *of(int64_t direction) const { return functions + direction * perDirection; }
};

/// The int behind the list of activations.
inline int64_t lastInt(const llmc_reference_args *args) { return args->ints[args->num_ints - 1]; }

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_RECURRENT_H
