// The pre-pass over a model file that keeps weights out of protobuf: no copy of them, no 2 GiB limit on the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace llmc {

/// Where the bytes of a tensor lie in the model file. Both numbers are within the file.
struct RawRange {
  uint64_t offset;
  uint64_t size;
};

/// The model's message with every TensorProto.raw_data replaced by an encoded RawRange. Nothing, and `error` says why, when the
/// bytes are not an ONNX model or end too early.
std::optional<std::string> stripRawData(std::span<const std::byte> file, std::string &error);

/// Decodes a raw_data field of a message that stripRawData() made.
RawRange decodeRawRange(std::string_view rawData);

} // namespace llmc
