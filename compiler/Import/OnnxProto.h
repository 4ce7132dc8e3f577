// A model file in memory: its protobuf message without the weights, and the elements of each tensor on request.
//
// The weights stay where they are: raw_data is a view into the mapped file, external data into its own mapped file. Only elements
// kept in protobuf's typed fields are decoded into memory of their own.
#pragma once

#include "compiler/Import/MappedFile.h"
#include "compiler/Import/onnx.pb.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

/// What is read. Newer files may mean something that is not known here.
inline constexpr int64_t minIrVersion = 3, maxIrVersion = 14, maxDefaultOpset = 28;

/// The elements of a tensor as ONNX's raw_data stores them: little endian, row-major, elements below 8 bits packed. The bytes have
/// no alignment and live as long as `owner` does.
struct TensorBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  /// Whether they lie in a file that the model maps, and so live at least as long as the model.
  bool isMapped;
};

/// "FLOAT16" and so on; "type 99" for what is not in the specification.
std::string dataTypeName(int32_t dataType);

/// Bits of one element; 0 for strings and unknown types.
int elementBits(int32_t dataType);

/// "" and "ai.onnx" are one domain; this is its name here.
std::string_view canonicalDomain(std::string_view domain);

class OnnxModel {
public:
  /// Reads and checks a model file: its format, its IR version, the versions of its operator sets. Tensors are checked when they are
  /// asked for. Null on failure, and `error` says why, naming the path.
  static std::unique_ptr<OnnxModel> load(const std::string &path, std::string &error);

  /// The model. In its tensors raw_data is not the elements: use elements() and strings().
  const onnx::ModelProto &proto() const { return message; }

  /// The version of a domain's operators that the model's own graph uses; 0 if it does not import the domain.
  int64_t opset(std::string_view domain) const;

  /// Elements of a tensor of this model, exactly as many as its dims say. Nothing on failure, and `error` says why, naming the
  /// tensor. Not for strings.
  std::optional<TensorBytes> elements(const onnx::TensorProto &tensor, std::string &error) const;

  /// As elements(), for a tensor of strings. The views live as long as the model.
  std::optional<std::vector<std::string_view>> strings(const onnx::TensorProto &tensor, std::string &error) const;

private:
  OnnxModel() = default;
  std::optional<TensorBytes> externalElements(const onnx::TensorProto &tensor, uint64_t size, std::string &error) const;

  onnx::ModelProto message;
  std::shared_ptr<const MappedFile> file;
  std::string folder;
  // Each external file is mapped once.
  mutable std::vector<std::pair<std::string, std::shared_ptr<const MappedFile>>> externalFiles;
};

} // namespace llmc
