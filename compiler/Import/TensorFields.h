// The elements of a tensor that protobuf's typed fields hold, and the arithmetic of tensor sizes.
#pragma once

#include "compiler/Import/onnx.pb.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmc {

/// The product of the dims. Nothing for a negative dim or a product above int64, and `error` says why.
std::optional<int64_t> elementCount(const onnx::TensorProto &tensor, std::string &error);

/// Bytes of `count` elements of `bits` bits each, packed; nothing above int64.
std::optional<int64_t> packedSize(int64_t count, int bits);

/// "[2, 3]"
std::string dimsText(const onnx::TensorProto &tensor);

/// Elements from float_data, int32_data, int64_data, double_data or uint64_data, in the form of raw_data. `count`: elements that the
/// dims say. Nothing, and `error` says why, if the field of the tensor's type holds another number of them or a value out of range.
std::optional<std::vector<std::byte>> decodeTypedField(const onnx::TensorProto &tensor, int64_t count, std::string &error);

} // namespace llmc
