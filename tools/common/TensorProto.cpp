//===- TensorProto.cpp - ONNX tensors, sequences and optionals in files of their own ------------------------------===//
//
// A reader of protobuf's wire format for these messages, so that the tools of the runtime need no protobuf.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "tools/common/Tensor.h"
#include "tools/common/Tool.h"
#include <algorithm>
#include <cstring>
#include <optional>

namespace llmc::tools {
namespace {

/// TensorProto.DataType, by llmc_type.
constexpr struct {
  int onnx;
  llmc_type type;
} kTypes[] = {{1, LLMC_TYPE_F32},  {2, LLMC_TYPE_U8},   {3, LLMC_TYPE_I8},   {4, LLMC_TYPE_U16},  {5, LLMC_TYPE_I16},
              {6, LLMC_TYPE_I32},  {7, LLMC_TYPE_I64},  {9, LLMC_TYPE_BOOL}, {10, LLMC_TYPE_F16}, {11, LLMC_TYPE_F64},
              {12, LLMC_TYPE_U32}, {13, LLMC_TYPE_U64}, {16, LLMC_TYPE_BF16}};

/// Fields of TensorProto.
enum Field {
  kDims = 1,
  kDataType = 2,
  kFloats = 4,
  kInt32s = 5,
  kStrings = 6,
  kInt64s = 7,
  kName = 8,
  kRaw = 9,
  kDoubles = 10,
  kUint64s = 11,
  kLocation = 14
};

class WireReader {
public:
  WireReader(std::span<const std::byte> bytes, const std::string &origin) : bytes(bytes), origin(origin) {}

  struct Value {
    uint32_t field, wire;
    uint64_t number;                  // of wire types 0, 1 and 5
    std::span<const std::byte> piece; // of wire type 2
  };

  [[noreturn]] void damaged() const { badData("'" + origin + "' is not an ONNX tensor"); }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t byte = uint8_t(take(1)[0]);
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return value;
    }
    damaged();
  }

  std::optional<Value> next() {
    if (bytes.empty())
      return std::nullopt;
    uint64_t tag = varint();
    Value value = {uint32_t(tag >> 3), uint32_t(tag & 7), 0, {}};
    switch (value.wire) {
    case 0:
      value.number = varint();
      break;
    case 1:
      value.number = fixed(8);
      break;
    case 2:
      value.piece = take(varint());
      break;
    case 5:
      value.number = fixed(4);
      break;
    default:
      damaged();
    }
    return value;
  }

  uint64_t fixed(size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, take(size).data(), size);
    return value;
  }

  bool done() const { return bytes.empty(); }

private:
  std::span<const std::byte> take(uint64_t size) {
    if (size > bytes.size())
      damaged();
    std::span<const std::byte> result = bytes.first(size);
    bytes = bytes.subspan(size);
    return result;
  }

  std::span<const std::byte> bytes;
  const std::string &origin;
};

/// A repeated number field, packed or one by one; `size` 0: varints, else fixed.
void collect(const WireReader::Value &value, size_t size, const std::string &origin, std::vector<uint64_t> &out) {
  if (value.wire != 2)
    return out.push_back(value.number);
  for (WireReader list(value.piece, origin); !list.done();)
    out.push_back(size == 0 ? list.varint() : list.fixed(size));
}

/// The typed fields hold one number an element; the low bytes of each are the element's.
void fromNumbers(Tensor &tensor, const std::vector<uint64_t> &numbers, const std::string &origin) {
  if (int64_t(numbers.size()) != tensor.numElements())
    badData("'" + origin + "' has " + std::to_string(numbers.size()) + " elements for " +
            describeType(tensor.type, tensor.dims));
  size_t size = llmc_type_size(tensor.type);
  for (size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(tensor.data.data() + i * size, &numbers[i], size);
}

void putVarint(std::string &out, uint64_t value) {
  for (; value >= 128; value >>= 7)
    out += char((value & 127) | 128);
  out += char(value);
}

void putBytes(std::string &out, uint32_t field, std::string_view bytes) {
  putVarint(out, field << 3 | 2);
  putVarint(out, bytes.size());
  out += bytes;
}

/// A TensorProto of strings: their bytes one after the other, and where each ends.
std::vector<NamedTensor> strings(std::span<const std::byte> bytes, std::span<const TensorInfo> places, const std::string &origin) {
  std::vector<uint64_t> dims;
  std::vector<std::byte> all;
  std::vector<int64_t> ends;
  WireReader reader(bytes, origin);
  while (auto value = reader.next()) {
    if (value->field == kDims)
      collect(*value, 0, origin, dims);
    if (value->field != kStrings)
      continue;
    all.insert(all.end(), value->piece.begin(), value->piece.end());
    ends.push_back(int64_t(all.size()));
  }
  Tensor text(LLMC_TYPE_U8, {int64_t(all.size())}), at(LLMC_TYPE_I64, {dims.begin(), dims.end()});
  if (at.numElements() != int64_t(ends.size()))
    badData("'" + origin + "' has " + std::to_string(ends.size()) + " strings for " + describeType(at.type, at.dims));
  text.data = std::move(all);
  std::memcpy(at.data.data(), ends.data(), ends.size() * sizeof(int64_t));
  return {{places[0].name, std::move(text)}, {places[1].name, std::move(at)}};
}

/// The messages in field 3, tensors, or 5, sequences, of a SequenceProto or OptionalProto.
std::vector<std::span<const std::byte>> innerMessages(std::span<const std::byte> bytes, const std::string &origin) {
  std::vector<std::span<const std::byte>> messages;
  WireReader reader(bytes, origin);
  while (auto value = reader.next())
    if (value->wire == 2 && (value->field == 3 || value->field == 5))
      messages.push_back(value->piece);
    else if (value->wire == 2 && value->field != 1) // the name
      badData("'" + origin + "' holds neither tensors nor sequences, which is not supported");
  return messages;
}

/// The tensors one after the other, and their dims in rows filled up with -1.
std::vector<NamedTensor> packed(const std::vector<Tensor> &elements, std::span<const TensorInfo> places, const std::string &origin) {
  constexpr int64_t width = 8;
  Tensor shapes(LLMC_TYPE_I64, {int64_t(elements.size()), width});
  std::vector<std::byte> bytes;
  int64_t count = 0, row = 0;
  for (const Tensor &element : elements) {
    if (element.type != places[0].type || element.dims.size() > size_t(width))
      badData("'" + origin + "' holds " + describeType(element.type, element.dims) + ", which is not supported here");
    bytes.insert(bytes.end(), element.data.begin(), element.data.end());
    count += element.numElements();
    int64_t dims[width] = {-1, -1, -1, -1, -1, -1, -1, -1};
    std::copy(element.dims.begin(), element.dims.end(), dims);
    std::memcpy(shapes.data.data() + sizeof(dims) * row++, dims, sizeof(dims));
  }
  Tensor values(places[0].type, {count});
  values.data = std::move(bytes);
  return {{places[0].name, std::move(values)}, {places[1].name, std::move(shapes)}};
}

bool endsWith(std::span<const TensorInfo> places, size_t i, std::string_view suffix) {
  return i < places.size() && std::string_view(places[i].name).ends_with(suffix);
}

} // namespace

std::vector<Tensor> parseSequenceProto(std::span<const std::byte> bytes, const std::string &origin) {
  std::vector<Tensor> tensors;
  for (std::span<const std::byte> message : innerMessages(bytes, origin))
    tensors.push_back(parseTensorProto(message, origin).tensor);
  return tensors;
}

std::optional<std::span<const std::byte>> parseOptionalProto(std::span<const std::byte> bytes, const std::string &origin) {
  std::vector<std::span<const std::byte>> messages = innerMessages(bytes, origin);
  return messages.empty() ? std::nullopt : std::optional(messages[0]);
}

std::vector<NamedTensor> parseValueProto(std::span<const std::byte> bytes, const std::string &origin, std::span<const TensorInfo> places) {
  if (endsWith(places, 0, ".values") && endsWith(places, 1, ".shapes"))
    return packed(parseSequenceProto(bytes, origin), places, origin);
  if (endsWith(places, 0, ".bytes") && endsWith(places, 1, ".ends"))
    return strings(bytes, places, origin);
  if (!endsWith(places, 0, ".has"))
    return {parseTensorProto(bytes, origin)};
  std::optional<std::span<const std::byte>> held = parseOptionalProto(bytes, origin);
  Tensor has(LLMC_TYPE_BOOL, {});
  has.data[0] = std::byte(held.has_value());
  std::vector<NamedTensor> tensors = {{places[0].name, std::move(has)}};
  std::vector<NamedTensor> inner;
  if (held)
    inner = parseValueProto(*held, origin, places.subspan(1));
  else
    inner.resize(endsWith(places, 1, ".values") ? 2 : 1);
  for (size_t i = 0; i < inner.size(); ++i)
    tensors.push_back({places[i + 1].name, std::move(inner[i].tensor)});
  return tensors;
}

NamedTensor parseTensorProto(std::span<const std::byte> bytes, const std::string &origin) {
  std::vector<uint64_t> dims, numbers;
  std::optional<std::span<const std::byte>> raw;
  std::string name;
  uint64_t dataType = 0;
  WireReader reader(bytes, origin);
  while (auto value = reader.next()) {
    switch (value->field) {
    case kDims:
      collect(*value, 0, origin, dims);
      break;
    case kDataType:
      dataType = value->number;
      break;
    case kFloats:
      collect(*value, 4, origin, numbers);
      break;
    case kInt32s:
    case kInt64s:
    case kUint64s:
      collect(*value, 0, origin, numbers);
      break;
    case kDoubles:
      collect(*value, 8, origin, numbers);
      break;
    case kName:
      name.assign(reinterpret_cast<const char *>(value->piece.data()), value->piece.size());
      break;
    case kRaw:
      raw = value->piece;
      break;
    case kLocation:
      if (value->number != 0)
        badData("'" + origin + "' has its data in another file, which is not supported here");
      break;
    default:
      break;
    }
  }
  llmc_type type = LLMC_TYPE_INVALID;
  for (auto &known : kTypes)
    if (uint64_t(known.onnx) == dataType)
      type = known.type;
  if (type == LLMC_TYPE_INVALID)
    badData("'" + origin + "' has ONNX element type " + std::to_string(dataType) + ", which is not supported");
  Tensor tensor(type, {dims.begin(), dims.end()});
  if (!raw)
    fromNumbers(tensor, numbers, origin);
  else if (raw->size() != tensor.data.size())
    badData("'" + origin + "' has " + std::to_string(raw->size()) + " bytes for " + describeType(type, tensor.dims));
  else
    tensor.data.assign(raw->begin(), raw->end());
  return {name, std::move(tensor)};
}

std::vector<std::byte> formatTensorProto(const std::string &name, llmc_type type, std::span<const int64_t> dims,
                                         std::span<const std::byte> data) {
  std::string out;
  for (int64_t dim : dims) {
    putVarint(out, kDims << 3);
    putVarint(out, uint64_t(dim));
  }
  for (auto &known : kTypes)
    if (known.type == type) {
      putVarint(out, kDataType << 3);
      putVarint(out, uint64_t(known.onnx));
    }
  putBytes(out, kName, name);
  putBytes(out, kRaw, {reinterpret_cast<const char *>(data.data()), data.size()});
  auto result = std::as_bytes(std::span(out));
  return {result.begin(), result.end()};
}

} // namespace llmc::tools
