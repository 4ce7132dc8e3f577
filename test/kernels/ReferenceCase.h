// Runs a reference kernel on small literal tensors and compares with literal results.
#ifndef LLMC_TEST_KERNELS_REFERENCECASE_H
#define LLMC_TEST_KERNELS_REFERENCECASE_H

#include "kernels/abi/kernel_abi.h"
#include "kernels/reference/Convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace llmc::test {

using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;

template <typename T> constexpr int32_t dtypeOf() {
  using namespace reference;
  if constexpr (isSame<T, float>)
    return LLMC_F32;
  else if constexpr (isSame<T, double>)
    return LLMC_F64;
  else if constexpr (isSame<T, Half>)
    return LLMC_F16;
  else if constexpr (isSame<T, BFloat16>)
    return LLMC_BF16;
  else if constexpr (isSame<T, Bool>)
    return LLMC_BOOL;
  else // LLMC_I8, LLMC_U8, LLMC_I16 ... in this order
    return LLMC_I8 + (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 4 : 6) + (isSigned<T> ? 0 : 1);
}

/// A tensor with its memory; strided ones have gaps that a kernel must leave alone.
struct Tensor {
  int32_t dtype = LLMC_DTYPE_INVALID;
  Ints dims, strides; // no strides: dense
  std::vector<char> bytes;

  int64_t elements() const;
  /// Byte offset of the element with this row-major index.
  int64_t offset(int64_t element) const;
  template <typename T> T at(int64_t element) const {
    T value;
    std::memcpy(&value, bytes.data() + offset(element), sizeof(T));
    return value;
  }
  std::string str() const;
};

inline const Tensor absent;

/// A tensor of element type T; values are converted to it as by cast.
template <typename T> Tensor make(const Ints &dims, const std::vector<double> &values) {
  Tensor tensor{dtypeOf<T>(), dims, {}, std::vector<char>(values.size() * sizeof(T))};
  for (size_t i = 0; i < values.size(); ++i) {
    T value = reference::convert<T>(values[i]);
    std::memcpy(tensor.bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return tensor;
}
inline Tensor f32(const Ints &dims, const std::vector<double> &values) { return make<float>(dims, values); }
inline Tensor f64(const Ints &dims, const std::vector<double> &values) { return make<double>(dims, values); }
inline Tensor i64(const Ints &dims, const std::vector<double> &values) { return make<int64_t>(dims, values); }
inline Tensor i32(const Ints &dims, const std::vector<double> &values) { return make<int32_t>(dims, values); }
inline Tensor boolean(const Ints &dims, const std::vector<double> &values) {
  return make<reference::Bool>(dims, values);
}
/// 64-bit integers that a double can not hold.
Tensor exact(const Ints &dims, const std::vector<int64_t> &values);

/// The same elements in a layout with gaps and the dims in reverse order.
Tensor strided(const Tensor &tensor);

/// Calls the native kernel; outputs have their shapes and memory. Fails the test if there is no such kernel.
int32_t call(const char *mnemonic, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs, const Ints &ints,
             const Floats &floats, llmc_error *error = nullptr);

/// Expects the kernel to give `expected` (its type and shape say what the output is), with dense tensors and with
/// strided ones. Bits must agree, but for the payloads of NaNs; with a tolerance, |difference| <= tolerance * max(1,
/// |expected|).
void expectKernel(const char *mnemonic, const std::vector<Tensor> &inputs, const Tensor &expected,
                  const Ints &ints = {}, const Floats &floats = {}, double tolerance = 0);

/// The same for a kernel of several outputs, whose values must agree to the bit.
void expectKernels(const char *mnemonic, const std::vector<Tensor> &inputs, const std::vector<Tensor> &expected,
                   const Ints &ints = {}, const Floats &floats = {});

/// Expects a fault, with this operand and value in the error record.
void expectFault(const char *mnemonic, const std::vector<Tensor> &inputs, const Tensor &outputLike, const Ints &ints,
                 int32_t status, int32_t operand, int64_t value);

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

} // namespace llmc::test

#endif // LLMC_TEST_KERNELS_REFERENCECASE_H
