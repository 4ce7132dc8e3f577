// Opening and mapping of model files and of the files that hold their external data.
#include "compiler/Import/MappedFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace llmc {
namespace {

/// A file descriptor that closes itself.
struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  int fd;
};

std::string inQuotes(const std::string &path) { return "\"" + path + "\""; }

std::string reason(int code) {
  switch (code) {
  case ENOENT:
    return "no such file";
  case EXDEV:
    return "the path leads out of the model's folder";
  case ELOOP:
    return "the path goes through a symbolic link";
  default:
    return std::strerror(code);
  }
}

/// openBeneath without the system call: one component at a time, no symbolic link followed at all.
int openByComponents(int folder, const std::string &relative) {
  int current = ::dup(folder);
  for (size_t begin = 0; current >= 0 && begin <= relative.size();) {
    size_t end = std::min(relative.find('/', begin), relative.size());
    std::string name = relative.substr(begin, end - begin);
    bool last = end == relative.size();
    begin = end + 1;
    if (name.empty() || name == ".")
      continue;
    int next = -1, code = EXDEV;
    if (name != "..") {
      next = ::openat(current, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
      code = errno;
    }
    ::close(current);
    errno = code;
    current = next;
  }
  return current;
}

int openFileBeneath(int folder, const std::string &relative) {
  if (relative.starts_with('/')) {
    errno = EXDEV;
    return -1;
  }
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = ::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof how);
  // Old kernels do not know the call, and sandboxes forbid what they do not know.
  if (fd < 0 && (errno == ENOSYS || errno == EPERM))
    return openByComponents(folder, relative);
  return static_cast<int>(fd);
}

/// True for a regular file; else `error` says what it is.
bool checkRegular(int fd, const std::string &path, struct stat &status, std::string &error) {
  if (::fstat(fd, &status) != 0) {
    error = "can not read " + inQuotes(path) + ": " + reason(errno);
    return false;
  }
  if (S_ISREG(status.st_mode))
    return true;
  error = inQuotes(path) + (S_ISDIR(status.st_mode) ? " is a folder, expected a file" : " is not a regular file");
  return false;
}

} // namespace

std::shared_ptr<const MappedFile> MappedFile::map(int fd, size_t size, const std::string &path, std::string &error) {
  void *data = nullptr; // an empty file has nothing to map
  if (size != 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      error = "can not map " + inQuotes(path) + ": " + reason(errno);
      return nullptr;
    }
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte *>(data), size));
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string &path, std::string &error) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.fd < 0) {
    error = "can not open " + inQuotes(path) + ": " + reason(errno);
    return nullptr;
  }
  if (!checkRegular(file.fd, path, status, error))
    return nullptr;
  if (status.st_size == 0) {
    error = inQuotes(path) + " is empty";
    return nullptr;
  }
  return map(file.fd, status.st_size, path, error);
}

std::shared_ptr<const MappedFile> MappedFile::openBeneath(const std::string &folder, const std::string &relative,
                                                          std::string &error) {
  Descriptor top(::open(folder.c_str(), O_PATH | O_CLOEXEC | O_DIRECTORY));
  if (top.fd < 0) {
    error = "can not open " + inQuotes(folder) + ": " + reason(errno);
    return nullptr;
  }
  Descriptor file(openFileBeneath(top.fd, relative));
  struct stat status{};
  if (file.fd < 0) {
    error = "can not open " + inQuotes(relative) + ": " + reason(errno);
    return nullptr;
  }
  if (!checkRegular(file.fd, relative, status, error))
    return nullptr;
  if (status.st_nlink > 1) {
    error = inQuotes(relative) + " has " + std::to_string(status.st_nlink) + " hard links, expected one";
    return nullptr;
  }
  return map(file.fd, status.st_size, relative, error);
}

MappedFile::~MappedFile() {
  if (size != 0)
    ::munmap(const_cast<std::byte *>(data), size);
}

} // namespace llmc
