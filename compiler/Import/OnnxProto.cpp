// Loading, version checks, and finding the elements of a tensor.
#include "compiler/Import/OnnxProto.h"

#include "compiler/Import/StripRawData.h"
#include "compiler/Import/TensorFields.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

namespace llmc {
namespace {

using namespace onnx;

std::string inQuotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string domainName(std::string_view domain) {
  return domain.empty() ? "the default domain" : "domain " + inQuotes(domain);
}

/// Imports of a model or a function. One domain may stand there twice, as some exporters write it, but not with two versions.
template <typename Imports> bool checkOpsets(const Imports &imports, const std::string &where, std::string &error) {
  std::map<std::string_view, int64_t> versions;
  for (const OperatorSetIdProto &import : imports) {
    std::string_view domain = canonicalDomain(import.domain());
    auto [known, isNew] = versions.emplace(domain, import.version());
    if (!isNew && known->second != import.version()) {
      error = where + " imports versions " + std::to_string(known->second) + " and " + std::to_string(import.version()) +
              " of " + domainName(domain);
      return false;
    }
    if (domain.empty() && (import.version() < 1 || import.version() > maxDefaultOpset)) {
      error = where + " imports opset " + std::to_string(import.version()) + ", expected 1 to " +
              std::to_string(maxDefaultOpset);
      return false;
    }
  }
  return true;
}

bool checkModel(const ModelProto &model, std::string &error) {
  if (!model.has_ir_version()) {
    error = "not an ONNX model: it has no IR version";
    return false;
  }
  if (model.ir_version() < minIrVersion || model.ir_version() > maxIrVersion) {
    error = "IR version " + std::to_string(model.ir_version()) + " is not supported, expected " +
            std::to_string(minIrVersion) + " to " + std::to_string(maxIrVersion);
    return false;
  }
  if (!model.has_graph()) {
    error = "the model has no graph";
    return false;
  }
  if (model.opset_import().empty()) {
    error = "the model imports no operator set";
    return false;
  }
  if (!checkOpsets(model.opset_import(), "the model", error))
    return false;
  for (const FunctionProto &function : model.functions())
    if (!checkOpsets(function.opset_import(), "function " + inQuotes(function.name()), error))
      return false;
  return true;
}

/// A decimal number of external_data.
bool parseNumber(const std::string &key, const std::string &text, uint64_t &number, std::string &error) {
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc() && end == text.data() + text.size() && number <= INT64_MAX)
    return true;
  error = "external data has " + key + " " + inQuotes(text) + ", expected a number";
  return false;
}

struct ExternalRange {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

std::optional<ExternalRange> parseExternal(const TensorProto &tensor, std::string &error) {
  ExternalRange range;
  for (const StringStringEntryProto &entry : tensor.external_data()) {
    uint64_t number = 0;
    if (entry.key() == "location") {
      range.location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!parseNumber(entry.key(), entry.value(), number, error))
        return std::nullopt;
      if (entry.key() == "offset")
        range.offset = number;
      else
        range.length = number;
    } else if (entry.key() != "checksum" && entry.key() != "basepath") { // notes of tools, which say nothing about the bytes
      error = "external data has the unknown key " + inQuotes(entry.key());
      return std::nullopt;
    }
  }
  if (!range.location.empty() && range.location.find('\0') == std::string::npos)
    return range;
  error = "external data has no location";
  return std::nullopt;
}

/// How many of the places that can hold elements do.
int filledPlaces(const TensorProto &tensor) {
  return tensor.has_raw_data() + !tensor.float_data().empty() + !tensor.int32_data().empty() +
         !tensor.string_data().empty() + !tensor.int64_data().empty() + !tensor.double_data().empty() +
         !tensor.uint64_data().empty() + (tensor.data_location() == TensorProto::EXTERNAL);
}

/// Puts the tensor's name before the reason.
std::nullopt_t fail(const TensorProto &tensor, std::string &error, const std::string &reason) {
  error = "tensor " + inQuotes(tensor.name()) + ": " + reason;
  return std::nullopt;
}

} // namespace

std::string_view canonicalDomain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

std::string dataTypeName(int32_t dataType) {
  return TensorProto::DataType_IsValid(dataType) ? TensorProto::DataType_Name(TensorProto::DataType(dataType))
                                                 : "type " + std::to_string(dataType);
}

int elementBits(int32_t dataType) {
  switch (dataType) {
  case TensorProto::COMPLEX128:
    return 128;
  case TensorProto::INT64:
  case TensorProto::UINT64:
  case TensorProto::DOUBLE:
  case TensorProto::COMPLEX64:
    return 64;
  case TensorProto::FLOAT:
  case TensorProto::INT32:
  case TensorProto::UINT32:
    return 32;
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 16;
  case TensorProto::INT8:
  case TensorProto::UINT8:
  case TensorProto::BOOL:
  case TensorProto::FLOAT8E4M3FN:
  case TensorProto::FLOAT8E4M3FNUZ:
  case TensorProto::FLOAT8E5M2:
  case TensorProto::FLOAT8E5M2FNUZ:
  case TensorProto::FLOAT8E8M0:
    return 8;
  case TensorProto::FLOAT6E2M3:
  case TensorProto::FLOAT6E3M2:
    return 6;
  case TensorProto::INT4:
  case TensorProto::UINT4:
  case TensorProto::FLOAT4E2M1:
    return 4;
  case TensorProto::INT2:
  case TensorProto::UINT2:
    return 2;
  default:
    return 0;
  }
}

std::unique_ptr<OnnxModel> OnnxModel::load(const std::string &path, std::string &error) {
  std::unique_ptr<OnnxModel> model(new OnnxModel);
  model->file = MappedFile::open(path, error);
  if (!model->file)
    return nullptr;
  model->folder = std::filesystem::path(path).parent_path().string();
  if (model->folder.empty())
    model->folder = ".";
  std::optional<std::string> skeleton = stripRawData(model->file->bytes(), error);
  if (skeleton && !model->message.ParseFromString(*skeleton)) {
    error = "not an ONNX model: its structure is damaged";
    skeleton.reset();
  }
  if (!skeleton || !checkModel(model->message, error)) {
    error = "can not read " + inQuotes(path) + ": " + error;
    return nullptr;
  }
  return model;
}

int64_t OnnxModel::opset(std::string_view domain) const {
  for (const OperatorSetIdProto &import : message.opset_import())
    if (canonicalDomain(import.domain()) == canonicalDomain(domain))
      return import.version();
  return 0;
}

std::optional<TensorBytes> OnnxModel::elements(const TensorProto &tensor, std::string &error) const {
  int bits = elementBits(tensor.data_type());
  if (bits == 0)
    return fail(tensor, error, dataTypeName(tensor.data_type()) + " is no numeric element type");
  if (tensor.has_segment())
    return fail(tensor, error, "its elements lie in segments, which are not supported");
  std::optional<int64_t> count = elementCount(tensor, error);
  if (!count)
    return fail(tensor, error, std::string(error));
  std::optional<int64_t> size = packedSize(*count, bits);
  if (!size)
    return fail(tensor, error, "shape " + dimsText(tensor) + " has too many elements");
  if (filledPlaces(tensor) > 1)
    return fail(tensor, error, "its elements lie in " + std::to_string(filledPlaces(tensor)) + " places, expected one");
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    std::optional<TensorBytes> elements = externalElements(tensor, *size, error);
    return elements ? std::move(elements) : fail(tensor, error, std::string(error));
  }
  if (tensor.has_raw_data()) {
    RawRange range = decodeRawRange(tensor.raw_data());
    if (range.size != static_cast<uint64_t>(*size))
      return fail(tensor, error, "raw_data holds " + std::to_string(range.size) + " bytes, shape " + dimsText(tensor) + " of " +
                                     dataTypeName(tensor.data_type()) + " needs " + std::to_string(*size));
    return TensorBytes{file->bytes().subspan(range.offset, range.size), file, true};
  }
  std::optional<std::vector<std::byte>> decoded = decodeTypedField(tensor, *count, error);
  if (!decoded)
    return fail(tensor, error, std::string(error));
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(*decoded));
  return TensorBytes{*owner, owner, false};
}

std::optional<std::vector<std::string_view>> OnnxModel::strings(const TensorProto &tensor, std::string &error) const {
  if (tensor.data_type() != TensorProto::STRING)
    return fail(tensor, error, "holds " + dataTypeName(tensor.data_type()) + ", expected STRING");
  if (filledPlaces(tensor) > 1 || filledPlaces(tensor) != !tensor.string_data().empty())
    return fail(tensor, error, "strings lie outside string_data");
  std::optional<int64_t> count = elementCount(tensor, error);
  if (!count)
    return fail(tensor, error, std::string(error));
  if (*count != tensor.string_data_size())
    return fail(tensor, error, "string_data holds " + std::to_string(tensor.string_data_size()) + " values, shape " +
                                   dimsText(tensor) + " needs " + std::to_string(*count));
  return std::vector<std::string_view>(tensor.string_data().begin(), tensor.string_data().end());
}

std::optional<TensorBytes> OnnxModel::externalElements(const TensorProto &tensor, uint64_t size, std::string &error) const {
  std::optional<ExternalRange> range = parseExternal(tensor, error);
  if (!range)
    return std::nullopt;
  if (range->length && *range->length != size) {
    error = "external data has length " + std::to_string(*range->length) + ", shape " + dimsText(tensor) + " of " +
            dataTypeName(tensor.data_type()) + " needs " + std::to_string(size);
    return std::nullopt;
  }
  auto known = std::ranges::find(externalFiles, range->location, &decltype(externalFiles)::value_type::first);
  if (known == externalFiles.end()) {
    std::shared_ptr<const MappedFile> opened = MappedFile::openBeneath(folder, range->location, error);
    if (!opened)
      return std::nullopt;
    known = externalFiles.emplace(externalFiles.end(), range->location, std::move(opened));
  }
  std::span<const std::byte> bytes = known->second->bytes();
  if (range->offset > bytes.size() || size > bytes.size() - range->offset) {
    error = inQuotes(range->location) + " has " + std::to_string(bytes.size()) + " bytes, the tensor lies at " +
            std::to_string(range->offset) + " and needs " + std::to_string(size);
    return std::nullopt;
  }
  return TensorBytes{bytes.subspan(range->offset, size), known->second, true};
}

} // namespace llmc
