// Typed fields -> bytes. Each element type is stored in exactly one of the fields (see onnx.proto).
#include "compiler/Import/TensorFields.h"

#include "compiler/Import/OnnxProto.h"

#include <cstring>
#include <type_traits>

namespace llmc {
namespace {

using onnx::TensorProto;
using Bytes = std::vector<std::byte>;

std::string countMismatch(const char *field, int64_t found, int64_t expected, const TensorProto &tensor) {
  return std::string(field) + " holds " + std::to_string(found) + " values, shape " + dimsText(tensor) + " of " +
         dataTypeName(tensor.data_type()) + " needs " + std::to_string(expected);
}

/// Copies values that are stored as they are.
template <typename T, typename Repeated>
std::optional<Bytes> copyValues(const Repeated &values, const char *field, int64_t expected, const TensorProto &tensor,
                                std::string &error) {
  if (values.size() != expected) {
    error = countMismatch(field, values.size(), expected, tensor);
    return std::nullopt;
  }
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Narrows each value to T; one that does not fit is an error.
template <typename T, typename Repeated>
std::optional<Bytes> narrowValues(const Repeated &values, const char *field, int64_t expected, const TensorProto &tensor,
                                  std::string &error) {
  if (values.size() != expected) {
    error = countMismatch(field, values.size(), expected, tensor);
    return std::nullopt;
  }
  Bytes bytes(values.size() * sizeof(T));
  for (int64_t i = 0; i < expected; ++i) {
    T narrow = static_cast<T>(values[i]);
    if (static_cast<std::remove_cvref_t<decltype(values[i])>>(narrow) != values[i]) {
      error = std::string(field) + "[" + std::to_string(i) + "] is " + std::to_string(values[i]) + ", out of range for " +
              dataTypeName(tensor.data_type());
      return std::nullopt;
    }
    std::memcpy(bytes.data() + i * sizeof(T), &narrow, sizeof(T));
  }
  return bytes;
}

/// Six-bit elements, one per value -> one stream of bits from the lowest on.
Bytes packSixBits(const Bytes &values) {
  Bytes packed((values.size() * 6 + 7) / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    unsigned shifted = std::to_integer<unsigned>(values[i]) << (i * 6 % 8);
    packed[i * 6 / 8] |= std::byte(shifted & 0xff);
    if (shifted > 0xff)
      packed[i * 6 / 8 + 1] |= std::byte(shifted >> 8);
  }
  return packed;
}

std::optional<Bytes> decodeSixBits(const TensorProto &tensor, int64_t count, std::string &error) {
  std::optional<Bytes> values = narrowValues<uint8_t>(tensor.int32_data(), "int32_data", count, tensor, error);
  if (!values)
    return std::nullopt;
  for (size_t i = 0; i < values->size(); ++i)
    if (std::to_integer<unsigned>((*values)[i]) > 63) {
      error = "int32_data[" + std::to_string(i) + "] is " + std::to_string(std::to_integer<unsigned>((*values)[i])) +
              ", out of range for " + dataTypeName(tensor.data_type());
      return std::nullopt;
    }
  return packSixBits(*values);
}

} // namespace

std::optional<int64_t> elementCount(const TensorProto &tensor, std::string &error) {
  int64_t count = 1;
  bool empty = false, overflow = false;
  for (int64_t dim : tensor.dims()) {
    if (dim < 0) {
      error = "shape " + dimsText(tensor) + " has a negative dim";
      return std::nullopt;
    }
    if (dim == 0)
      empty = true;
    else
      overflow |= __builtin_mul_overflow(count, dim, &count);
  }
  if (empty)
    return 0;
  if (overflow) {
    error = "shape " + dimsText(tensor) + " has too many elements";
    return std::nullopt;
  }
  return count;
}

std::optional<int64_t> packedSize(int64_t count, int bits) {
  int64_t total;
  if (__builtin_mul_overflow(count, bits, &total) || __builtin_add_overflow(total, 7, &total))
    return std::nullopt;
  return total / 8;
}

std::string dimsText(const TensorProto &tensor) {
  std::string text = "[";
  for (int i = 0; i < tensor.dims_size(); ++i)
    text += (i ? ", " : "") + std::to_string(tensor.dims(i));
  return text + "]";
}

std::optional<Bytes> decodeTypedField(const TensorProto &tensor, int64_t count, std::string &error) {
  const auto &ints = tensor.int32_data();
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return copyValues<float>(tensor.float_data(), "float_data", count, tensor, error);
  case TensorProto::DOUBLE:
    return copyValues<double>(tensor.double_data(), "double_data", count, tensor, error);
  case TensorProto::COMPLEX64:
  case TensorProto::COMPLEX128: {
    int64_t parts;
    if (__builtin_mul_overflow(count, 2, &parts)) {
      error = "shape " + dimsText(tensor) + " has too many elements";
      return std::nullopt;
    }
    return tensor.data_type() == TensorProto::COMPLEX64
               ? copyValues<float>(tensor.float_data(), "float_data", parts, tensor, error)
               : copyValues<double>(tensor.double_data(), "double_data", parts, tensor, error);
  }
  case TensorProto::INT64:
    return copyValues<int64_t>(tensor.int64_data(), "int64_data", count, tensor, error);
  case TensorProto::UINT64:
    return copyValues<uint64_t>(tensor.uint64_data(), "uint64_data", count, tensor, error);
  case TensorProto::UINT32:
    return narrowValues<uint32_t>(tensor.uint64_data(), "uint64_data", count, tensor, error);
  case TensorProto::INT32:
    return copyValues<int32_t>(ints, "int32_data", count, tensor, error);
  case TensorProto::INT16:
    return narrowValues<int16_t>(ints, "int32_data", count, tensor, error);
  case TensorProto::INT8:
    return narrowValues<int8_t>(ints, "int32_data", count, tensor, error);
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return narrowValues<uint16_t>(ints, "int32_data", count, tensor, error);
  case TensorProto::BOOL:
    return narrowValues<bool>(ints, "int32_data", count, tensor, error);
  case TensorProto::UINT8:
  case TensorProto::FLOAT8E4M3FN:
  case TensorProto::FLOAT8E4M3FNUZ:
  case TensorProto::FLOAT8E5M2:
  case TensorProto::FLOAT8E5M2FNUZ:
  case TensorProto::FLOAT8E8M0:
    return narrowValues<uint8_t>(ints, "int32_data", count, tensor, error);
  case TensorProto::UINT4:
  case TensorProto::INT4:
  case TensorProto::FLOAT4E2M1:
    return narrowValues<uint8_t>(ints, "int32_data", count / 2 + count % 2, tensor, error);
  case TensorProto::UINT2:
  case TensorProto::INT2:
    return narrowValues<uint8_t>(ints, "int32_data", count / 4 + (count % 4 != 0), tensor, error);
  case TensorProto::FLOAT6E2M3:
  case TensorProto::FLOAT6E3M2:
    return decodeSixBits(tensor, count, error);
  default:
    error = dataTypeName(tensor.data_type()) + " is no numeric element type";
    return std::nullopt;
  }
}

} // namespace llmc
