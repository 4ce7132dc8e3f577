//===- AlignedBlock.h - Memory of a request -----------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BASE_ALIGNEDBLOCK_H
#define LLMC_RUNTIME_BASE_ALIGNEDBLOCK_H

#include "runtime/base/Status.h"
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace llmc::rt {

/// Uninitialised bytes that only grow.
class AlignedBlock {
public:
  /// At least the alignment of a cache line and of any arena; never less than `kAlignment`.
  static constexpr size_t kAlignment = 4096;

  AlignedBlock() = default;
  AlignedBlock(AlignedBlock &&other) noexcept
      : bytes(std::exchange(other.bytes, nullptr)), size(std::exchange(other.size, 0)) {}
  AlignedBlock &operator=(AlignedBlock &&other) noexcept {
    std::swap(bytes, other.bytes);
    std::swap(size, other.size);
    return *this;
  }
  ~AlignedBlock() { release(); }

  std::byte *data() const { return bytes; }
  size_t capacity() const { return size; }

  /// Makes sure of `wanted` bytes and keeps the first `kept`; takes twice what it had, so that growing step by step is cheap.
  Status grow(size_t kept, size_t wanted) {
    if (wanted <= size)
      return {};
    AlignedBlock larger;
    LLMC_TRY(larger.reserve(std::max(wanted, 2 * size)));
    if (kept)
      std::memcpy(larger.bytes, bytes, kept);
    std::swap(bytes, larger.bytes);
    std::swap(size, larger.size);
    return {};
  }

  /// Makes sure of `wanted` bytes; allocates only if there are fewer. Contents are lost when it grows.
  Status reserve(size_t wanted) {
    if (wanted <= size)
      return {};
    release();
    bytes = static_cast<std::byte *>(::operator new(wanted, std::align_val_t(alignmentFor(wanted)), std::nothrow));
    if (!bytes)
      return {Code::OutOfMemory, concat("can not allocate ", wanted, " bytes")};
    size = wanted;
    if (wanted >= kHugePage) // best effort: large arenas lose much time to TLB misses
      ::madvise(bytes, wanted / kHugePage * kHugePage, MADV_HUGEPAGE);
    return {};
  }

private:
  static constexpr size_t kHugePage = size_t(1) << 21;
  static size_t alignmentFor(size_t wanted) { return wanted >= kHugePage ? kHugePage : kAlignment; }
  void release() {
    if (bytes)
      ::operator delete(bytes, std::align_val_t(alignmentFor(size)));
    bytes = nullptr;
    size = 0;
  }

  std::byte *bytes = nullptr;
  size_t size = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_ALIGNEDBLOCK_H
