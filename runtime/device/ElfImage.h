//===- ElfImage.h - Maps the code of a plan -----------------------------------------------------------------------===//
//
// The images are ELF files without dynamic relocations, imports or needed libraries, so loading is mapping:
// read-execute from the plan's file, or from an anonymous copy where the file may not be mapped so. Nothing is both
// writable and executable. The few writable bytes that the math library brings are mapped copy-on-write.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_ELFIMAGE_H
#define LLMC_RUNTIME_DEVICE_ELFIMAGE_H

#include "runtime/base/Status.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace llmc::rt {

/// One part of an image, as it lies in the file and in memory.
struct ElfSegment {
  uint64_t fileOffset, fileSize, address, memorySize;
  bool readable, writable, executable;
};

/// The loadable segments of an ELF64 x86-64 shared object, by rising address. Refuses, naming a rule, whatever the
/// loader below would have to do more for than map them.
Result<std::vector<ElfSegment>> checkElfImage(std::span<const std::byte> image);

/// A mapped image; unmaps on destruction. Movable.
class ElfImage {
public:
  /// `image` are bytes of a mapping of `descriptor` from `fileOffset` on, a multiple of the page size; they are copied
  /// if `descriptor` is -1 or may not be mapped executable.
  static Result<ElfImage> map(std::span<const std::byte> image, int descriptor, uint64_t fileOffset);

  ElfImage(ElfImage &&other) noexcept;
  ElfImage &operator=(ElfImage &&other) noexcept;
  ~ElfImage();

  /// The code at address `entry` of the image; refused unless it lies in an executable segment.
  Result<const void *> at(uint64_t entry) const;

private:
  ElfImage(std::byte *base, size_t size, std::vector<ElfSegment> segments)
      : base(base), size(size), segments(std::move(segments)) {}
  Status mapSegment(const ElfSegment &segment, std::span<const std::byte> image, int descriptor, uint64_t fileOffset);
  Status copySegment(const ElfSegment &segment, std::span<const std::byte> image);

  std::byte *base = nullptr; // of address 0
  size_t size = 0;
  std::vector<ElfSegment> segments;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_ELFIMAGE_H
