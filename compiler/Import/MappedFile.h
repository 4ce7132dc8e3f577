// Files mapped read-only. A file that shrinks while it is mapped faults its reader, so models are not edited during a compile.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace llmc {

class MappedFile {
public:
  /// Maps a regular file that is not empty. Null on failure, and `error` says why, naming the path.
  static std::shared_ptr<const MappedFile> open(const std::string &path, std::string &error);

  /// As open(), for the file `relative` beneath `folder`: neither "..", an absolute path nor a symbolic link leads out of it, and
  /// the file has one name (a second hard link could be a way to read what lies elsewhere). It may be empty.
  static std::shared_ptr<const MappedFile> openBeneath(const std::string &folder, const std::string &relative,
                                                       std::string &error);

  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data, size}; }

private:
  MappedFile(const std::byte *data, size_t size) : data(data), size(size) {}
  static std::shared_ptr<const MappedFile> map(int fd, size_t size, const std::string &path, std::string &error);

  const std::byte *data;
  size_t size;
};

} // namespace llmc
