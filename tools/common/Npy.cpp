//===- Npy.cpp - numpy's .npy format ------------------------------------------------------------------------------===//
//
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html: a magic, a version, and a Python dictionary
// in text with the keys descr, fortran_order and shape.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "tools/common/Tensor.h"
#include "tools/common/Tool.h"
#include <cstring>

namespace llmc::tools {
namespace {

struct TypeName {
  const char *npy;
  llmc_type type;
};

constexpr TypeName kTypes[] = {{"<f4", LLMC_TYPE_F32}, {"<f8", LLMC_TYPE_F64}, {"<f2", LLMC_TYPE_F16},
                               {"|i1", LLMC_TYPE_I8},  {"|u1", LLMC_TYPE_U8},  {"<i2", LLMC_TYPE_I16},
                               {"<u2", LLMC_TYPE_U16}, {"<i4", LLMC_TYPE_I32}, {"<u4", LLMC_TYPE_U32},
                               {"<i8", LLMC_TYPE_I64}, {"<u8", LLMC_TYPE_U64}, {"|b1", LLMC_TYPE_BOOL}};

const char *npyName(llmc_type type) {
  for (const TypeName &known : kTypes)
    if (known.type == type)
      return known.npy;
  return nullptr;
}

/// The dictionary's text, and where the elements start.
struct Header {
  std::string text;
  size_t dataOffset;
};

Header splitHeader(std::span<const std::byte> bytes, const std::string &origin) {
  const char magic[] = "\x93NUMPY";
  if (bytes.size() < 12 || std::memcmp(bytes.data(), magic, 6) != 0)
    badData("'" + origin + "' is not a .npy file");
  size_t lengthSize = bytes[6] == std::byte(1) ? 2 : 4, length = 0;
  std::memcpy(&length, bytes.data() + 8, lengthSize);
  size_t begin = 8 + lengthSize;
  if (length > bytes.size() - begin)
    badData("'" + origin + "' is truncated");
  return {std::string(reinterpret_cast<const char *>(bytes.data()) + begin, length), begin + length};
}

/// What follows 'key': in the dictionary.
std::string_view valueOf(const std::string &text, const char *key, const std::string &origin) {
  size_t at = text.find(std::string("'") + key + "'");
  size_t colon = at == std::string::npos ? at : text.find(':', at);
  if (colon == std::string::npos)
    badData("'" + origin + "' has no '" + key + "' in its header");
  size_t begin = text.find_first_not_of(' ', colon + 1);
  return begin == std::string::npos ? std::string_view() : std::string_view(text).substr(begin);
}

llmc_type parseType(std::string_view value, const std::string &origin) {
  for (const TypeName &known : kTypes)
    if (value.size() > 5 && value.substr(1, 3) == known.npy)
      return known.type;
  badData("'" + origin + "' has an element type that is not supported: " + std::string(value.substr(0, 8)));
}

std::vector<int64_t> parseShape(std::string_view value, const std::string &origin) {
  std::vector<int64_t> dims;
  size_t end = value.find(')');
  if (value.empty() || value[0] != '(' || end == std::string_view::npos)
    badData("'" + origin + "' has no shape in its header");
  std::string list(value.substr(1, end - 1));
  for (const char *at = list.c_str(); *at;) {
    char *after;
    long long dim = std::strtoll(at, &after, 10);
    if (after == at || dim < 0)
      badData("'" + origin + "' has a shape that is not a list of sizes: (" + list + ")");
    dims.push_back(dim);
    at = after + std::strspn(after, ", ");
  }
  return dims;
}

/// Column-major elements -> row-major.
void transpose(Tensor &tensor) {
  size_t size = llmc_type_size(tensor.type);
  std::vector<std::byte> source = tensor.data;
  std::vector<int64_t> index(tensor.dims.size(), 0);
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    size_t from = 0, stride = 1;
    for (size_t d = 0; d < index.size(); ++d) {
      from += size_t(index[d]) * stride;
      stride *= size_t(tensor.dims[d]);
    }
    std::memcpy(tensor.data.data() + size_t(i) * size, source.data() + from * size, size);
    for (size_t d = index.size(); d-- > 0 && ++index[d] == tensor.dims[d];)
      index[d] = 0;
  }
}

} // namespace

bool npyHolds(llmc_type type) { return npyName(type) != nullptr; }

Tensor parseNpy(std::span<const std::byte> bytes, const std::string &origin) {
  Header header = splitHeader(bytes, origin);
  Tensor tensor(parseType(valueOf(header.text, "descr", origin), origin),
                parseShape(valueOf(header.text, "shape", origin), origin));
  if (bytes.size() - header.dataOffset < tensor.data.size())
    badData("'" + origin + "' is truncated: " + describeType(tensor.type, tensor.dims) + " needs " +
            std::to_string(tensor.data.size()) + " bytes, there are " +
            std::to_string(bytes.size() - header.dataOffset));
  std::copy_n(bytes.begin() + ptrdiff_t(header.dataOffset), tensor.data.size(), tensor.data.begin());
  if (valueOf(header.text, "fortran_order", origin).starts_with("True"))
    transpose(tensor);
  return tensor;
}

std::vector<std::byte> formatNpy(llmc_type type, std::span<const int64_t> dims, std::span<const std::byte> data) {
  std::string shape;
  for (int64_t dim : dims)
    shape += std::to_string(dim) + (dims.size() == 1 ? "," : ", ");
  if (dims.size() > 1)
    shape.resize(shape.size() - 2);
  std::string text =
      std::string("{'descr': '") + npyName(type) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 10 - 1, ' '); // elements start at a multiple of 64
  text += '\n';
  std::string head = std::string("\x93NUMPY\x01\x00", 8) + char(text.size() & 255) + char(text.size() >> 8) + text;
  auto headBytes = std::as_bytes(std::span(head));
  std::vector<std::byte> result(headBytes.begin(), headBytes.end());
  result.insert(result.end(), data.begin(), data.end());
  return result;
}

} // namespace llmc::tools
