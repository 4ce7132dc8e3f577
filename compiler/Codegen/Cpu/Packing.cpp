#include "compiler/Codegen/Cpu/Packing.h"
#include "compiler/Codegen/Cpu/ContractionKernel.h"
#include "compiler/Codegen/Cpu/ConvKernel.h"
#include "compiler/Codegen/Cpu/Microkernel.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <vector>

using namespace mlir;

namespace llmc::cpu {
namespace {

int64_t productOf(ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim;
  return product;
}

/// A constant operand as `groups` matrices of depth x columns; element (group, k, n) of the source is at
/// group * groupStep + (k / inner) * outerStep + (k % inner) * innerStep + n * columnStep.
struct Matrices {
  int64_t groups, depth, columns;
  int64_t groupStep, inner, outerStep, innerStep, columnStep;

  int64_t at(int64_t group, int64_t k, int64_t n) const {
    return group * groupStep + (k / inner) * outerStep + (k % inner) * innerStep + n * columnStep;
  }
};

Matrices matricesOf(const Encoding &encoding, ArrayRef<int64_t> dims) {
  if (encoding.kind == Encoding::Kind::Convolution) {
    int64_t channels = dims[1], taps = productOf(dims.drop_front(2)), outputs = dims[0] / encoding.groups;
    return {encoding.groups, taps * channels, outputs, outputs * channels * taps, channels, 1, taps, channels * taps};
  }
  if (encoding.kind == Encoding::Kind::Depthwise) {
    int64_t taps = productOf(dims.drop_front(1));
    return {1, taps, dims[0], 0, taps, 0, 1, taps};
  }
  ArrayRef<int64_t> batch = dims.drop_back(2);
  int64_t rows = dims[dims.size() - 2], columns = dims.back();
  if (encoding.kind == Encoding::Kind::TransposedMatrix)
    return {productOf(batch), columns, rows, rows * columns, columns, 0, 1, columns};
  return {productOf(batch), rows, columns, rows * columns, rows, 0, columns, 1};
}

} // namespace

std::optional<Encoding> Encoding::parse(StringRef name) {
  if (name.empty())
    return Encoding{};
  if (name == "p32")
    return Encoding{Kind::Matrix};
  if (name == "p32.t")
    return Encoding{Kind::TransposedMatrix};
  if (name == "p32.conv")
    return Encoding{Kind::Convolution};
  if (name == "dw")
    return Encoding{Kind::Depthwise};
  Encoding encoding{Kind::Convolution};
  if (name.consume_front("p32.conv:") && !name.getAsInteger(10, encoding.groups) && encoding.groups > 1)
    return encoding;
  return std::nullopt;
}

std::string Encoding::name() const {
  switch (kind) {
  case Kind::Dense:
    return "";
  case Kind::Matrix:
    return "p32";
  case Kind::TransposedMatrix:
    return "p32.t";
  case Kind::Convolution:
    return groups == 1 ? "p32.conv" : "p32.conv:" + std::to_string(groups);
  case Kind::Depthwise:
    return "dw";
  }
  llvm_unreachable("all kinds are named");
}

int64_t packedBytes(const Encoding &encoding, ArrayRef<int64_t> dims) {
  if (encoding.kind == Encoding::Kind::Dense)
    return productOf(dims) * sizeof(float);
  Matrices matrices = matricesOf(encoding, dims);
  return matrices.groups * matrices.depth * llvm::alignTo(matrices.columns, panelColumns) * sizeof(float);
}

void pack(const Encoding &encoding, ArrayRef<char> bytes, ArrayRef<int64_t> dims,
          llvm::function_ref<void(ArrayRef<char>)> sink) {
  if (encoding.kind == Encoding::Kind::Dense)
    return sink(bytes);
  Matrices matrices = matricesOf(encoding, dims);
  // Depthwise weights are one "panel" as wide as all channels.
  bool depthwise = encoding.kind == Encoding::Kind::Depthwise;
  int64_t width = depthwise ? llvm::alignTo(matrices.columns, panelColumns) : panelColumns;
  // About 64 KiB at a time, so that a large weight streams through the caches.
  int64_t rows = std::max<int64_t>(1, (16 << 10) / std::max<int64_t>(width, 1));
  std::vector<float> piece;
  for (int64_t group = 0; group < matrices.groups; ++group)
    for (int64_t n0 = 0; n0 < matrices.columns; n0 += width)
      for (int64_t k0 = 0; k0 < matrices.depth; k0 += rows) {
        int64_t count = std::min(rows, matrices.depth - k0), columns = std::min(width, matrices.columns - n0);
        piece.assign(count * width, 0.0f);
        for (int64_t k = 0; k < count; ++k)
          for (int64_t n = 0; n < columns; ++n)
            std::memcpy(&piece[k * width + n], bytes.data() + matrices.at(group, k0 + k, n0 + n) * sizeof(float),
                        sizeof(float));
        sink(ArrayRef(reinterpret_cast<const char *>(piece.data()), piece.size() * sizeof(float)));
      }
}

Encoding chooseEncoding(func::FuncOp dispatch, unsigned argument) {
  BlockArgument value = dispatch.getArgument(argument);
  if (!value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  if (auto conv = dyn_cast<graph::ConvOp>(use.getOwner()))
    return value == conv.getWeight() ? encodingOfWeights(conv) : Encoding{};
  if (auto generic = dyn_cast<linalg::GenericOp>(use.getOwner()))
    if (isContraction(generic))
      return encodingOfOperand(generic, use.getOperandNumber());
  return {};
}

} // namespace llmc::cpu
