// Walks the wire format down the paths on which tensors lie and copies everything but raw_data.
//
// Lengths of enclosing messages change when raw_data shrinks, so each is written as a varint of a fixed five bytes (which the
// format allows) and filled in when its message is complete: one pass, no temporary copies.
#include "compiler/Import/StripRawData.h"

#include "compiler/Import/onnx.pb.h"

#include <algorithm>
#include <cassert>
#include <climits>
#include <cstring>
#include <google/protobuf/io/coded_stream.h>

namespace llmc {
namespace {

using namespace onnx;

enum class Kind : uint8_t { Model, Graph, Node, Attribute, Tensor, Sparse, Function, Training, Other };

/// Fields through which a tensor can be reached.
constexpr struct {
  Kind parent;
  int field;
  Kind child;
} paths[] = {
    {Kind::Model, ModelProto::kGraphFieldNumber, Kind::Graph},
    {Kind::Model, ModelProto::kFunctionsFieldNumber, Kind::Function},
    {Kind::Model, ModelProto::kTrainingInfoFieldNumber, Kind::Training},
    {Kind::Training, TrainingInfoProto::kInitializationFieldNumber, Kind::Graph},
    {Kind::Training, TrainingInfoProto::kAlgorithmFieldNumber, Kind::Graph},
    {Kind::Function, FunctionProto::kNodeFieldNumber, Kind::Node},
    {Kind::Function, FunctionProto::kAttributeProtoFieldNumber, Kind::Attribute},
    {Kind::Graph, GraphProto::kNodeFieldNumber, Kind::Node},
    {Kind::Graph, GraphProto::kInitializerFieldNumber, Kind::Tensor},
    {Kind::Graph, GraphProto::kSparseInitializerFieldNumber, Kind::Sparse},
    {Kind::Node, NodeProto::kAttributeFieldNumber, Kind::Attribute},
    {Kind::Attribute, AttributeProto::kTFieldNumber, Kind::Tensor},
    {Kind::Attribute, AttributeProto::kTensorsFieldNumber, Kind::Tensor},
    {Kind::Attribute, AttributeProto::kGFieldNumber, Kind::Graph},
    {Kind::Attribute, AttributeProto::kGraphsFieldNumber, Kind::Graph},
    {Kind::Attribute, AttributeProto::kSparseTensorFieldNumber, Kind::Sparse},
    {Kind::Attribute, AttributeProto::kSparseTensorsFieldNumber, Kind::Sparse},
    {Kind::Sparse, SparseTensorProto::kValuesFieldNumber, Kind::Tensor},
    {Kind::Sparse, SparseTensorProto::kIndicesFieldNumber, Kind::Tensor},
};

Kind childOf(Kind parent, int field) {
  for (const auto &path : paths)
    if (path.parent == parent && path.field == field)
      return path.child;
  return Kind::Other;
}

enum WireType { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };

/// One field: [begin, body) is its tag and, with WireType Length, its length; [body, end) the rest.
struct Field {
  int number;
  int wireType;
  const uint8_t *begin, *tagEnd, *body, *end;
};

class Stripper {
public:
  Stripper(std::span<const std::byte> file, std::string &error)
      : start(reinterpret_cast<const uint8_t *>(file.data())), error(error) {}

  bool copyMessage(Kind kind, const uint8_t *begin, const uint8_t *end, int depth) {
    if (depth > maxDepth)
      return fail(begin, "messages nest deeper than " + std::to_string(maxDepth) + " levels");
    for (const uint8_t *at = begin; at != end;) {
      Field field;
      if (!readField(at, end, field) || !copyField(kind, field, depth))
        return false;
      at = field.end;
      if (out.size() > INT_MAX)
        return fail(at, "the model without its raw weights exceeds 2 GiB");
    }
    return true;
  }

  std::string out;

private:
  // protobuf's own limit when it parses.
  static constexpr int maxDepth = 100;
  static constexpr size_t lengthBytes = 5;

  bool copyField(Kind kind, const Field &field, int depth) {
    if (kind == Kind::Tensor && field.number == TensorProto::kRawDataFieldNumber && field.wireType == Length) {
      RawRange range{static_cast<uint64_t>(field.body - start), static_cast<uint64_t>(field.end - field.body)};
      append(field.begin, field.tagEnd);
      out += static_cast<char>(sizeof range);
      out.append(reinterpret_cast<const char *>(&range), sizeof range);
      return true;
    }
    Kind child = field.wireType == Length ? childOf(kind, field.number) : Kind::Other;
    if (child == Kind::Other) {
      append(field.begin, field.end);
      return true;
    }
    append(field.begin, field.tagEnd);
    size_t lengthAt = out.size();
    out.resize(lengthAt + lengthBytes);
    if (!copyMessage(child, field.body, field.end, depth + 1))
      return false;
    writeLength(lengthAt, out.size() - lengthAt - lengthBytes);
    return true;
  }

  bool readField(const uint8_t *at, const uint8_t *end, Field &field) {
    // A tag is at most five bytes and a varint ten; a window keeps positions below protobuf's limit of 2 GiB.
    google::protobuf::io::CodedInputStream head(at, static_cast<int>(std::min<ptrdiff_t>(end - at, 15)));
    uint32_t tag = head.ReadTag();
    field = {static_cast<int>(tag >> 3), static_cast<int>(tag & 7), at, at + head.CurrentPosition(), nullptr, nullptr};
    uint64_t value = 0, size = 0;
    bool complete = tag != 0;
    if (complete && (field.wireType == Varint || field.wireType == Length))
      complete = head.ReadVarint64(&value);
    if (!complete && end - at < 15)
      return fail(at, "the file ends within a field");
    field.body = at + head.CurrentPosition();
    switch (field.wireType) {
    case Varint:
      break;
    case Fixed64:
      size = 8;
      break;
    case Length:
      size = value;
      break;
    case Fixed32:
      size = 4;
      break;
    default:
      complete = false;
    }
    if (!complete || field.number == 0)
      return fail(at, "these bytes are no field of an ONNX model");
    if (size > static_cast<uint64_t>(end - field.body))
      return fail(at, "field " + std::to_string(field.number) + " needs " + std::to_string(size) + " bytes, " +
                          std::to_string(end - field.body) + " are left");
    field.end = field.body + size;
    return true;
  }

  void append(const uint8_t *begin, const uint8_t *end) { out.append(begin, end); }

  void writeLength(size_t at, size_t length) {
    for (size_t i = 0; i < lengthBytes; ++i, length >>= 7)
      out[at + i] = static_cast<char>((length & 0x7f) | (i + 1 < lengthBytes ? 0x80 : 0));
  }

  bool fail(const uint8_t *at, const std::string &reason) {
    error = "damaged or truncated at byte " + std::to_string(at - start) + ": " + reason;
    return false;
  }

  const uint8_t *start;
  std::string &error;
};

/// Whether the file starts as a model does: with a known field of its type. Most files of other formats do not.
bool startsLikeModel(std::span<const std::byte> file) {
  google::protobuf::io::CodedInputStream head(reinterpret_cast<const uint8_t *>(file.data()),
                                              static_cast<int>(std::min<size_t>(file.size(), 15)));
  uint32_t tag = head.ReadTag();
  switch (tag >> 3) {
  case ModelProto::kIrVersionFieldNumber:
  case ModelProto::kModelVersionFieldNumber:
    return (tag & 7) == Varint;
  case ModelProto::kProducerNameFieldNumber:
  case ModelProto::kProducerVersionFieldNumber:
  case ModelProto::kDomainFieldNumber:
  case ModelProto::kDocStringFieldNumber:
  case ModelProto::kGraphFieldNumber:
  case ModelProto::kOpsetImportFieldNumber:
  case ModelProto::kMetadataPropsFieldNumber:
  case ModelProto::kTrainingInfoFieldNumber:
  case ModelProto::kFunctionsFieldNumber:
  case ModelProto::kConfigurationFieldNumber:
    return (tag & 7) == Length;
  default:
    return false;
  }
}

} // namespace

std::optional<std::string> stripRawData(std::span<const std::byte> file, std::string &error) {
  if (!startsLikeModel(file)) {
    error = "not an ONNX model";
    return std::nullopt;
  }
  Stripper stripper(file, error);
  const uint8_t *begin = reinterpret_cast<const uint8_t *>(file.data());
  if (!stripper.copyMessage(Kind::Model, begin, begin + file.size(), 1))
    return std::nullopt;
  return std::move(stripper.out);
}

RawRange decodeRawRange(std::string_view rawData) {
  assert(rawData.size() == sizeof(RawRange) && "raw_data was not made by stripRawData");
  RawRange range;
  std::memcpy(&range, rawData.data(), sizeof range);
  return range;
}

} // namespace llmc
