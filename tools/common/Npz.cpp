//===- Npz.cpp - numpy's .npz format: a zip archive of .npy files -------------------------------------------------===//
//
// Read by the central directory, with zip64 sizes; members are stored or deflated.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "tools/common/Tensor.h"
#include "tools/common/Tool.h"
#include <cstring>
#include <zlib.h>

namespace llmc::tools {
namespace {

class ZipReader {
public:
  ZipReader(std::span<const std::byte> bytes, const std::string &origin) : bytes(bytes), origin(origin) {}
  std::vector<NamedTensor> read();

private:
  struct Member {
    std::string name;
    uint16_t method;
    uint64_t packed, size, headerOffset;
  };

  template <typename T> T at(uint64_t offset) const {
    T value;
    if (offset > bytes.size() || sizeof value > bytes.size() - offset)
      damaged();
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  [[noreturn]] void damaged() const { badData("'" + origin + "' is not a sound .npz file"); }
  std::span<const std::byte> range(uint64_t offset, uint64_t size) const {
    if (offset > bytes.size() || size > bytes.size() - offset)
      damaged();
    return bytes.subspan(offset, size);
  }
  uint64_t findDirectory() const;
  Member readMember(uint64_t &offset) const;
  std::vector<std::byte> unpack(const Member &member) const;

  std::span<const std::byte> bytes;
  const std::string &origin;
};

constexpr uint64_t kEndSize = 22;

/// Offset of the end record, which a comment may follow.
uint64_t ZipReader::findDirectory() const {
  for (uint64_t back = kEndSize; back <= bytes.size() && back <= kEndSize + 65535; ++back)
    if (at<uint32_t>(bytes.size() - back) == 0x06054b50)
      return bytes.size() - back;
  damaged();
}

ZipReader::Member ZipReader::readMember(uint64_t &offset) const {
  if (at<uint32_t>(offset) != 0x02014b50)
    damaged();
  Member member = {"", at<uint16_t>(offset + 10), at<uint32_t>(offset + 20), at<uint32_t>(offset + 24),
                   at<uint32_t>(offset + 42)};
  uint16_t nameSize = at<uint16_t>(offset + 28), extraSize = at<uint16_t>(offset + 30);
  std::span<const std::byte> name = range(offset + 46, nameSize);
  member.name.assign(reinterpret_cast<const char *>(name.data()), name.size());
  uint64_t extra = offset + 46 + nameSize, extraEnd = extra + extraSize;
  for (; extra + 4 <= extraEnd; extra += 4 + at<uint16_t>(extra + 2)) {
    if (at<uint16_t>(extra) != 1) // zip64: 64-bit values of those fields that are full
      continue;
    uint64_t field = extra + 4;
    for (uint64_t *value : {&member.size, &member.packed, &member.headerOffset})
      if (*value == 0xffffffff) {
        *value = at<uint64_t>(field);
        field += 8;
      }
  }
  offset = extraEnd + at<uint16_t>(offset + 32);
  return member;
}

std::vector<std::byte> ZipReader::unpack(const Member &member) const {
  uint64_t header = member.headerOffset;
  uint64_t data = header + 30 + at<uint16_t>(header + 26) + at<uint16_t>(header + 28);
  std::span<const std::byte> packed = range(data, member.packed);
  if (member.method == 0)
    return {packed.begin(), packed.end()};
  if (member.method != 8 || member.size / 1100 > member.packed) // deflate packs at most 1032 to 1
    damaged();
  std::vector<std::byte> result(member.size);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    damaged();
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(packed.data()));
  stream.next_out = reinterpret_cast<Bytef *>(result.data());
  // Sizes are 32 bits in zlib: several calls for large members.
  int code = Z_OK;
  uint64_t inLeft = packed.size(), outLeft = result.size();
  while (code == Z_OK) {
    uInt in = uInt(std::min<uint64_t>(inLeft, 1u << 30)), out = uInt(std::min<uint64_t>(outLeft, 1u << 30));
    stream.avail_in = in;
    stream.avail_out = out;
    code = inflate(&stream, Z_NO_FLUSH);
    inLeft -= in - stream.avail_in;
    outLeft -= out - stream.avail_out;
    if (code == Z_OK && in == stream.avail_in && out == stream.avail_out)
      break;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || outLeft != 0)
    damaged();
  return result;
}

std::vector<NamedTensor> ZipReader::read() {
  uint64_t end = findDirectory();
  uint64_t number = at<uint16_t>(end + 10), offset = at<uint32_t>(end + 16);
  std::vector<NamedTensor> result;
  for (uint64_t i = 0; i < number; ++i) {
    Member member = readMember(offset);
    std::string name = member.name.ends_with(".npy") ? member.name.substr(0, member.name.size() - 4) : member.name;
    result.push_back({name, parseNpy(unpack(member), origin + ":" + member.name)});
  }
  return result;
}

} // namespace

std::vector<NamedTensor> parseNpz(std::span<const std::byte> bytes, const std::string &origin) {
  return ZipReader(bytes, origin).read();
}

} // namespace llmc::tools
