//===- Tensor.h - Tensors of the tools: in memory and in files ----------------------------------------------------===//
#ifndef LLMC_TOOLS_COMMON_TENSOR_H
#define LLMC_TOOLS_COMMON_TENSOR_H

#include "llmc/llmc.hpp"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace llmc::tools {

/// Row-major elements, aligned for any type.
struct Tensor {
  llmc_type type = LLMC_TYPE_INVALID;
  std::vector<int64_t> dims;
  std::vector<std::byte> data;

  Tensor() = default;
  /// With room for its elements; refuses sizes that do not exist.
  Tensor(llmc_type type, std::vector<int64_t> dims);
  int64_t numElements() const;
};

/// As in `f32[1,3,224,224]`.
std::string describeType(llmc_type type, std::span<const int64_t> dims);

/// Element `i` as a number. Integers above 2^53 are rounded.
double elementAt(llmc_type type, const std::byte *data, int64_t i);
/// Sets element `i`, rounded to the type.
void setElement(Tensor &tensor, int64_t i, double value);

/// The smallest that can be passed there.
Tensor anyTensor(const TensorInfo &place);

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Files. Errors are ToolErrors that name the file.
std::vector<std::byte> readFile(const std::string &path);
void writeFile(const std::string &path, std::span<const std::byte> bytes);

/// numpy's format; `origin` is for messages.
Tensor parseNpy(std::span<const std::byte> bytes, const std::string &origin);
/// False for types that numpy lacks.
bool npyHolds(llmc_type type);
std::vector<std::byte> formatNpy(llmc_type type, std::span<const int64_t> dims, std::span<const std::byte> data);
/// All arrays of an .npz file.
std::vector<NamedTensor> parseNpz(std::span<const std::byte> bytes, const std::string &origin);

// ONNX's messages.
NamedTensor parseTensorProto(std::span<const std::byte> bytes, const std::string &origin);
/// The tensors of a SequenceProto.
std::vector<Tensor> parseSequenceProto(std::span<const std::byte> bytes, const std::string &origin);
/// The message that an OptionalProto holds, a TensorProto or a SequenceProto; nothing if it holds none.
std::optional<std::span<const std::byte>> parseOptionalProto(std::span<const std::byte> bytes, const std::string &origin);
/// One of these messages as the tensors by which an artifact takes or gives it, the first of `places`. Those of what an optional does
/// not hold have no type.
std::vector<NamedTensor> parseValueProto(std::span<const std::byte> bytes, const std::string &origin, std::span<const TensorInfo> places);
std::vector<std::byte> formatTensorProto(const std::string &name, llmc_type type, std::span<const int64_t> dims,
                                         std::span<const std::byte> data);

} // namespace llmc::tools

#endif // LLMC_TOOLS_COMMON_TENSOR_H
