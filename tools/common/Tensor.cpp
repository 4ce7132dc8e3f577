//===- Tensor.cpp - Tensors in memory, and whole files ------------------------------------------------------------===//

#include "tools/common/Tensor.h"
#include "tools/common/Tool.h"
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace llmc::tools {

Tensor::Tensor(llmc_type type, std::vector<int64_t> shape) : type(type), dims(std::move(shape)) {
  size_t bytes = llmc_type_size(type);
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(bytes, size_t(dim), &bytes) || bytes > (size_t(1) << 46))
      badData("a tensor " + describeType(type, dims) + " can not exist");
  data.resize(bytes);
}

int64_t Tensor::numElements() const { return int64_t(data.size() / llmc_type_size(type)); }

std::string describeType(llmc_type type, std::span<const int64_t> dims) {
  std::string result = std::string(llmc_type_name(type)) + "[";
  for (size_t i = 0; i < dims.size(); ++i)
    result += (i ? "," : "") + std::to_string(dims[i]);
  return result + "]";
}

namespace {

float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half >> 15) << 31, exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  float magnitude =
      exponent == 0 ? std::ldexp(float(fraction), -24) : std::ldexp(float(1024 + fraction), int(exponent) - 25);
  return sign ? -magnitude : magnitude;
}

/// To the nearest, ties to even.
uint16_t floatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000;
  if (std::isnan(value))
    return uint16_t(sign | 0x7e00);
  float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f)
    return uint16_t(sign | 0x7c00);
  int exponent;
  std::frexp(magnitude, &exponent);
  int scale = std::max(exponent - 11, -24); // of the last place
  auto units = uint32_t(std::nearbyint(std::ldexp(magnitude, -scale)));
  return uint16_t(sign | (units + uint32_t(scale + 24) * 1024)); // a carry moves on to the next exponent
}

uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename T> T loadAs(const std::byte *data, int64_t i) {
  T value;
  std::memcpy(&value, data + size_t(i) * sizeof(T), sizeof value);
  return value;
}

template <typename T> void storeAs(Tensor &tensor, int64_t i, T value) {
  std::memcpy(tensor.data.data() + size_t(i) * sizeof(T), &value, sizeof value);
}

} // namespace

double elementAt(llmc_type type, const std::byte *data, int64_t i) {
  switch (type) {
  case LLMC_TYPE_F32:
    return loadAs<float>(data, i);
  case LLMC_TYPE_F64:
    return loadAs<double>(data, i);
  case LLMC_TYPE_F16:
    return halfToFloat(loadAs<uint16_t>(data, i));
  case LLMC_TYPE_BF16:
    return std::bit_cast<float>(uint32_t(loadAs<uint16_t>(data, i)) << 16);
  case LLMC_TYPE_I8:
    return loadAs<int8_t>(data, i);
  case LLMC_TYPE_U8:
  case LLMC_TYPE_BOOL:
    return loadAs<uint8_t>(data, i);
  case LLMC_TYPE_I16:
    return loadAs<int16_t>(data, i);
  case LLMC_TYPE_U16:
    return loadAs<uint16_t>(data, i);
  case LLMC_TYPE_I32:
    return loadAs<int32_t>(data, i);
  case LLMC_TYPE_U32:
    return loadAs<uint32_t>(data, i);
  case LLMC_TYPE_I64:
    return double(loadAs<int64_t>(data, i));
  case LLMC_TYPE_U64:
    return double(loadAs<uint64_t>(data, i));
  case LLMC_TYPE_INVALID:
    break;
  }
  return 0;
}

void setElement(Tensor &tensor, int64_t i, double value) {
  switch (tensor.type) {
  case LLMC_TYPE_F32:
    return storeAs(tensor, i, float(value));
  case LLMC_TYPE_F64:
    return storeAs(tensor, i, value);
  case LLMC_TYPE_F16:
    return storeAs(tensor, i, floatToHalf(float(value)));
  case LLMC_TYPE_BF16:
    return storeAs(tensor, i, floatToBfloat(float(value)));
  case LLMC_TYPE_I8:
    return storeAs(tensor, i, int8_t(value));
  case LLMC_TYPE_U8:
    return storeAs(tensor, i, uint8_t(value));
  case LLMC_TYPE_BOOL:
    return storeAs(tensor, i, uint8_t(value != 0));
  case LLMC_TYPE_I16:
    return storeAs(tensor, i, int16_t(value));
  case LLMC_TYPE_U16:
    return storeAs(tensor, i, uint16_t(value));
  case LLMC_TYPE_I32:
    return storeAs(tensor, i, int32_t(value));
  case LLMC_TYPE_U32:
    return storeAs(tensor, i, uint32_t(value));
  case LLMC_TYPE_I64:
    return storeAs(tensor, i, int64_t(value));
  case LLMC_TYPE_U64:
    return storeAs(tensor, i, uint64_t(value));
  case LLMC_TYPE_INVALID:
    return;
  }
}

std::vector<std::byte> readFile(const std::string &path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    badData("can not read '" + path + "': it is a directory");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    badData("can not open '" + path + "': " + std::strerror(errno));
  std::vector<std::byte> bytes(size_t(file.tellg()));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(bytes.data()), std::streamsize(bytes.size())))
    badData("can not read '" + path + "'");
  return bytes;
}

void writeFile(const std::string &path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
  file.close();
  if (file)
    return;
  std::string reason = std::strerror(errno);
  std::error_code ignored;
  std::filesystem::remove(path, ignored); // no half file is left behind
  badData("can not write '" + path + "': " + reason);
}

Tensor anyTensor(const TensorInfo &place) {
  std::vector<int64_t> dims;
  for (const llmc_dim &dim : place.dims)
    dims.push_back(dim.lo);
  return Tensor(place.type, dims);
}

} // namespace llmc::tools
