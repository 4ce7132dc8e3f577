//===- MappedFile.cpp - A file's bytes, read-only -----------------------------------------------------------------===//

#include "runtime/base/MappedFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc::rt {

static Status ioError(const char *what, const char *path) {
  return {Code::Io, concat("can not ", what, " '", path, "': ", std::strerror(errno))};
}

Result<MappedFile> MappedFile::open(const char *path) {
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return ioError("open", path);
  MappedFile file({}, fd, false); // closes the descriptor on the ways out below
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return ioError("inspect", path);
  if (!S_ISREG(info.st_mode))
    return Status(Code::Io, concat("'", path, "' is not a regular file"));
  if (info.st_size == 0)
    return file; // an empty file can not be mapped; its reader says what is missing
  void *address = ::mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED)
    return ioError("map", path);
  file.view = {static_cast<const std::byte *>(address), size_t(info.st_size)};
  file.owned = true;
  return file;
}

Result<MappedFile> MappedFile::copyOf(std::span<const std::byte> bytes) {
  if (bytes.empty())
    return borrow(bytes);
  void *address = ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    return Status(Code::OutOfMemory, concat("can not allocate ", bytes.size(), " bytes"));
  std::memcpy(address, bytes.data(), bytes.size());
  return MappedFile({static_cast<const std::byte *>(address), bytes.size()}, -1, true);
}

MappedFile MappedFile::borrow(std::span<const std::byte> bytes) { return MappedFile(bytes, -1, false); }

MappedFile::MappedFile(MappedFile &&other) noexcept
    : view(std::exchange(other.view, {})), fd(std::exchange(other.fd, -1)), owned(std::exchange(other.owned, false)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(view, other.view);
  std::swap(fd, other.fd);
  std::swap(owned, other.owned);
  return *this;
}

MappedFile::~MappedFile() {
  if (owned)
    ::munmap(const_cast<std::byte *>(view.data()), view.size());
  if (fd >= 0)
    ::close(fd);
}

} // namespace llmc::rt
