// Pieces of dispatch functions as text, and tensors with random contents, for the tests of kernel templates.
#ifndef LLMC_TEST_COMPILER_CODEGEN_TENSORTEXT_H
#define LLMC_TEST_COMPILER_CODEGEN_TENSORTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace llmc::test {

/// A dim of a dispatch function: static, or the index argument number `symbol` with this value at run time.
struct TestDim {
  int64_t size;
  int symbol = -1;
};

inline std::string tensorType(llvm::ArrayRef<TestDim> dims) {
  std::string text = "tensor<";
  for (TestDim dim : dims)
    text += (dim.symbol < 0 ? std::to_string(dim.size) : "?") + "x";
  return text + "f32>";
}

/// The type with its graph.* attributes.
inline std::string tensorArgument(llvm::ArrayRef<TestDim> dims, const std::string &encoding = "") {
  std::string text = tensorType(dims) + " {graph.sizes = array<i64: ";
  for (size_t d = 0; d < dims.size(); ++d)
    text += (d ? ", " : "") + std::to_string(dims[d].symbol < 0 ? dims[d].size : -1 - dims[d].symbol);
  text += ">";
  return text + (encoding.empty() ? "}" : ", graph.encoding = \"" + encoding + "\"}");
}

/// `count` values in [-1, 1), the same in each run. Their products are not exact, so that a sum tells fused multiply-adds
/// from others.
inline std::vector<float> randomFloats(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(generator() >> 8) / 8388608.0f - 1.0f;
  return values;
}

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CODEGEN_TENSORTEXT_H
