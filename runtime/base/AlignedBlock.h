//===- AlignedBlock.h - Memory of a request -----------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BASE_ALIGNEDBLOCK_H
#define LLMC_RUNTIME_BASE_ALIGNEDBLOCK_H

#include "runtime/base/Status.h"
#include <cstddef>
#include <new>
#include <sys/mman.h>

namespace llmc::rt {

/// Uninitialised host memory, aligned for any arena; null if there is none.
struct AlignedMemory {
  static std::byte *allocate(size_t size) {
    auto *bytes = static_cast<std::byte *>(::operator new(size, std::align_val_t(alignmentFor(size)), std::nothrow));
    if (bytes && size >= kHugePage) // best effort: large arenas lose much time to TLB misses
      ::madvise(bytes, size / kHugePage * kHugePage, MADV_HUGEPAGE);
    return bytes;
  }
  static void free(std::byte *bytes, size_t size) { ::operator delete(bytes, std::align_val_t(alignmentFor(size))); }

private:
  static constexpr size_t kPage = 4096, kHugePage = size_t(1) << 21;
  static size_t alignmentFor(size_t size) { return size >= kHugePage ? kHugePage : kPage; }
};

/// Uninitialised bytes that only grow. Contents are lost when it grows.
class AlignedBlock {
public:
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

  /// Makes sure of `wanted` bytes; allocates only if there are fewer. Contents are lost when it grows.
  Status reserve(size_t wanted) {
    if (wanted <= size)
      return {};
    release();
    bytes = AlignedMemory::allocate(wanted);
    if (!bytes)
      return {Code::OutOfMemory, concat("can not allocate ", wanted, " bytes")};
    size = wanted;
    return {};
  }

private:
  void release() {
    if (bytes)
      AlignedMemory::free(bytes, size);
    bytes = nullptr;
    size = 0;
  }

  std::byte *bytes = nullptr;
  size_t size = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_ALIGNEDBLOCK_H
