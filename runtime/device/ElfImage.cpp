//===- ElfImage.cpp - Maps the code of a plan ---------------------------------------------------------------------===//

#include "runtime/device/ElfImage.h"
#include "runtime/base/CheckedMath.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace llmc::rt {

static constexpr uint64_t kPageSize = 4096;
static uint64_t pageDown(uint64_t value) { return value / kPageSize * kPageSize; }
static uint64_t pageUp(uint64_t value) { return pageDown(value + kPageSize - 1); }

static Status systemError(const char *what) {
  return {Code::Io, concat("can not ", what, " the plan's code: ", std::strerror(errno))};
}

static int protectionOf(const ElfSegment &segment) {
  return (segment.readable ? PROT_READ : 0) | (segment.writable ? PROT_WRITE : 0) |
         (segment.executable ? PROT_EXEC : 0);
}

Result<ElfImage> ElfImage::map(std::span<const std::byte> image, int descriptor, uint64_t fileOffset) {
  LLMC_TRY_ASSIGN(std::vector<ElfSegment> segments, checkElfImage(image));
  uint64_t size = pageUp(segments.back().address + segments.back().memorySize);
  void *base = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return systemError("reserve addresses for");
  ElfImage result(static_cast<std::byte *>(base), size, std::move(segments));
  for (const ElfSegment &segment : result.segments)
    LLMC_TRY(result.mapSegment(segment, image, descriptor, fileOffset));
  return result;
}

Status ElfImage::mapSegment(const ElfSegment &segment, std::span<const std::byte> image, int descriptor,
                            uint64_t fileOffset) {
  // Zeros after the file's bytes of a writable segment are easier in a copy, and there are few bytes of them.
  if (descriptor < 0 || segment.writable)
    return copySegment(segment, image);
  uint64_t begin = pageDown(segment.address), skipped = segment.address - begin;
  void *address = ::mmap(base + begin, segment.memorySize + skipped, protectionOf(segment), MAP_PRIVATE | MAP_FIXED,
                         descriptor, off_t(fileOffset + segment.fileOffset - skipped));
  if (address != MAP_FAILED)
    return {};
  if (errno != EPERM && errno != EACCES) // the file lies where nothing may be executed
    return systemError("map");
  return copySegment(segment, image);
}

Status ElfImage::copySegment(const ElfSegment &segment, std::span<const std::byte> image) {
  uint64_t begin = pageDown(segment.address), length = pageUp(segment.address + segment.memorySize) - begin;
  void *address = ::mmap(base + begin, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (address == MAP_FAILED)
    return systemError("allocate memory for");
  std::memcpy(base + segment.address, image.data() + segment.fileOffset, segment.fileSize);
  if (::mprotect(base + begin, length, protectionOf(segment)) != 0)
    return systemError("protect");
  return {};
}

ElfImage::ElfImage(ElfImage &&other) noexcept
    : base(std::exchange(other.base, nullptr)), size(std::exchange(other.size, 0)),
      segments(std::move(other.segments)) {}

ElfImage &ElfImage::operator=(ElfImage &&other) noexcept {
  std::swap(base, other.base);
  std::swap(size, other.size);
  std::swap(segments, other.segments);
  return *this;
}

ElfImage::~ElfImage() {
  if (base)
    ::munmap(base, size);
}

Result<const void *> ElfImage::at(uint64_t entry) const {
  for (const ElfSegment &segment : segments)
    if (segment.executable && entry >= segment.address && entry - segment.address < segment.fileSize)
      return static_cast<const void *>(base + entry);
  return Status(Code::InvalidPlan, "entry-address",
                concat("[entry-address] address ", entry, " is not in executable code"));
}

} // namespace llmc::rt
