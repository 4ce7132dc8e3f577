//===- MappedFile.h - A file's bytes, read-only -------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BASE_MAPPEDFILE_H
#define LLMC_RUNTIME_BASE_MAPPEDFILE_H

#include "runtime/base/Status.h"
#include <cstddef>
#include <span>

namespace llmc::rt {

/// Owns the mapping and the descriptor. Movable; the bytes stay where they are.
class MappedFile {
public:
  static Result<MappedFile> open(const char *path);
  /// A private copy of `bytes`, page-aligned, without a descriptor.
  static Result<MappedFile> copyOf(std::span<const std::byte> bytes);
  /// No copy: the caller keeps `bytes` alive.
  static MappedFile borrow(std::span<const std::byte> bytes);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return view; }
  /// The open file, or -1.
  int descriptor() const { return fd; }

private:
  MappedFile(std::span<const std::byte> view, int fd, bool owned) : view(view), fd(fd), owned(owned) {}
  std::span<const std::byte> view;
  int fd = -1;
  bool owned = false;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_MAPPEDFILE_H
