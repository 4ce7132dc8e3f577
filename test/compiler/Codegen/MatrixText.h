// Dispatch functions with a matrix product or a convolution, as text.
#ifndef LLMC_TEST_COMPILER_CODEGEN_MATRIXTEXT_H
#define LLMC_TEST_COMPILER_CODEGEN_MATRIXTEXT_H

#include "compiler/Codegen/Cpu/Packing.h"
#include "test/compiler/Codegen/TensorText.h"

namespace llmc::test {

/// `values` packed as `encoding` says; unchanged if it is empty.
inline std::vector<float> packed(const std::string &encoding, const std::vector<float> &values,
                                 llvm::ArrayRef<int64_t> dims) {
  std::vector<float> result;
  cpu::pack(*cpu::Encoding::parse(encoding),
            llvm::ArrayRef(reinterpret_cast<const char *>(values.data()), values.size() * 4), dims,
            [&](llvm::ArrayRef<char> piece) {
              auto *floats = reinterpret_cast<const float *>(piece.data());
              result.insert(result.end(), floats, floats + piece.size() / 4);
            });
  return result;
}

struct MatMul {
  int64_t batch = 1, rows, depth, columns;
  bool dynamicRows = false;  // rows are index argument 0
  bool transposed = false;   // the right operand is [columns, depth]
  bool batchedRight = false; // the right operand has the batch dim too
  std::string encoding = ""; // of the right operand
  bool epilogue = false;     // + bias, relu, + residual
  bool gelu = false;         // the exact one, without the others
};

inline std::vector<int64_t> rightDims(const MatMul &c) {
  std::vector<int64_t> dims = c.transposed ? std::vector{c.columns, c.depth} : std::vector{c.depth, c.columns};
  if (c.batchedRight)
    dims.insert(dims.begin(), c.batch);
  return dims;
}

inline std::string textOf(const MatMul &c) {
  TestDim b{c.batch}, m{c.rows, c.dynamicRows ? 0 : -1}, k{c.depth}, n{c.columns};
  std::vector<TestDim> right = c.transposed ? std::vector<TestDim>{n, k} : std::vector<TestDim>{k, n};
  std::string rightMap = c.transposed ? "d2, d3" : "d3, d2";
  if (c.batchedRight) {
    right.insert(right.begin(), b);
    rightMap = "d0, " + rightMap;
  }
  std::vector<TestDim> result = {b, m, n};
  std::string type = tensorType(result);
  std::string text =
      "func.func private @k(%a: " + tensorArgument({b, m, k}) + ", %b: " + tensorArgument(right, c.encoding);
  if (c.epilogue)
    text += ", %bias: " + tensorArgument({n}) + ", %residual: " + tensorArgument(result);
  text += std::string(c.dynamicRows ? ", %s0: index" : "") + ") -> (" + tensorArgument(result) +
          ") attributes {graph.dispatch} {\n";
  text += "%zero = arith.constant 0.0 : f32\n%empty = tensor.empty(" + std::string(c.dynamicRows ? "%s0" : "") +
          ") : " + type + "\n";
  text += "%init = linalg.fill ins(%zero : f32) outs(%empty : " + type + ") -> " + type + "\n";
  text += "%c = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, "
          "d3) -> (" +
          rightMap +
          ")>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], "
          "iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b : " +
          tensorType({b, m, k}) + ", " + tensorType(right) + ") outs(%init : " + type + ") {\n" +
          "^bb0(%x: f32, %y: f32, %sum: f32):\n %p = arith.mulf %x, %y : f32\n %q = arith.addf %sum, %p : f32\n"
          " linalg.yield %q : f32 } -> " +
          type + "\n";
  if (c.gelu)
    return text +
           "%half = arith.constant 0.5 : f32\n%one = arith.constant 1.0 : f32\n%root = arith.constant 0.70710677 : f32\n"
           "%g = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> "
           "(d0, d1, d2)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%c : " +
           type + ") outs(%empty : " + type +
           ") {\n^bb0(%x: f32, %o: f32):\n %s = arith.mulf %x, %root : f32\n %e = math.erf %s : f32\n"
           " %p = arith.addf %e, %one : f32\n %h = arith.mulf %x, %half : f32\n %y = arith.mulf %h, %p : f32\n"
           " linalg.yield %y : f32 } -> " +
           type + "\nreturn %g : " + type + "\n}\n";
  if (!c.epilogue)
    return text + "return %c : " + type + "\n}\n";
  text +=
      "%r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> "
      "(d2)>, "
      "affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], "
      "iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%c, %bias, %residual : " +
      type + ", " + tensorType({n}) + ", " + type + ") outs(%empty : " + type + ") {\n" +
      "^bb0(%x: f32, %y: f32, %z: f32, %o: f32):\n %p = arith.addf %x, %y : f32\n %q = arith.maximumf %p, %zero : f32\n"
      " %s = arith.addf %q, %z : f32\n linalg.yield %s : f32 } -> " +
      type + "\n";
  return text + "return %r : " + type + "\n}\n";
}

struct Conv {
  int64_t batch = 1, height = 5, width = 6, channels = 3, outputs = 8;
  int64_t kernel = 3, stride = 1, pad = 0, dilation = 1, groups = 1;
  bool packed = true;
  bool dynamicSizes = false; // batch, height, width, and those of the result, are index arguments
  bool bias = true;
  bool residual = false; // relu(y + residual)

  int64_t outputSize(int64_t size) const { return (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; }
  int64_t outputHeight() const { return outputSize(height); }
  int64_t outputWidth() const { return outputSize(width); }
  int64_t resultSize() const { return batch * outputHeight() * outputWidth() * outputs; }
  std::string encoding() const {
    if (!packed)
      return "";
    if (groups > 1 && groups == channels && outputs == channels)
      return "dw";
    return groups == 1 ? "p32.conv" : "p32.conv:" + std::to_string(groups);
  }
  std::vector<int64_t> weightDims() const { return {outputs, channels / groups, kernel, kernel}; }
};

inline std::string textOf(const Conv &c) {
  auto symbol = [&](int k) { return c.dynamicSizes ? k : -1; };
  std::vector<TestDim> input = {{c.batch, symbol(0)}, {c.height, symbol(1)}, {c.width, symbol(2)}, {c.channels}};
  std::vector<TestDim> result = {
      {c.batch, symbol(0)}, {c.outputHeight(), symbol(3)}, {c.outputWidth(), symbol(4)}, {c.outputs}};
  std::vector<TestDim> weight;
  for (int64_t dim : c.weightDims())
    weight.push_back({dim});
  auto list = [](std::initializer_list<int64_t> values) {
    std::string text = "array<i64: ";
    for (int64_t value : values)
      text += (text.back() == ' ' ? "" : ", ") + std::to_string(value);
    return text + ">";
  };
  std::string type = tensorType(result);
  std::string text =
      "func.func private @k(%x: " + tensorArgument(input) + ", %w: " + tensorArgument(weight, c.encoding());
  if (c.bias)
    text += ", %bias: " + tensorArgument({{c.outputs}});
  if (c.residual)
    text += ", %residual: " + tensorArgument(result);
  if (c.dynamicSizes)
    text += ", %s0: index, %s1: index, %s2: index, %s3: index, %s4: index";
  text += ") -> (" + tensorArgument(result) + ") attributes {graph.dispatch} {\n";
  text += "%y = graph.conv %x, %w" + std::string(c.bias ? ", %bias" : "") +
          " {strides = " + list({c.stride, c.stride}) + ", pads = " + list({c.pad, c.pad, c.pad, c.pad}) +
          ", dilations = " + list({c.dilation, c.dilation}) + ", group = " + std::to_string(c.groups) +
          " : i64, channels_last} : (" + tensorType(input) + ", " + tensorType(weight) +
          (c.bias ? ", " + tensorType({{c.outputs}}) : "") + ") -> " + type + "\n";
  if (!c.residual)
    return text + "return %y : " + type + "\n}\n";
  text += "%zero = arith.constant 0.0 : f32\n%empty = tensor.empty(" +
          std::string(c.dynamicSizes ? "%s0, %s3, %s4" : "") + ") : " + type + "\n";
  std::string map = "affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>";
  text += "%r = linalg.generic {indexing_maps = [" + map + ", " + map + ", " + map +
          "], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\"]} ins(%y, %residual : " + type +
          ", " + type + ") outs(%empty : " + type +
          ") {\n^bb0(%a: f32, %b: f32, %o: f32):\n %p = arith.addf %a, %b : f32\n"
          " %q = arith.maximumf %p, %zero : f32\n linalg.yield %q : f32 } -> " +
          type + "\n";
  return text + "return %r : " + type + "\n}\n";
}

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CODEGEN_MATRIXTEXT_H
