// Atomic output.
#include "compiler/Emit/ArtifactFile.h"
#include "llvm/Support/Signals.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc {

static llvm::Error systemError(const std::string &path, const char *what) {
  return llvm::createStringError("%s: can not %s: %s", path.c_str(), what, std::strerror(errno));
}

llvm::Expected<std::unique_ptr<ArtifactFile>> ArtifactFile::create(const std::string &path) {
  std::string temporary = path + ".XXXXXX";
  int descriptor = mkstemp(temporary.data());
  if (descriptor < 0)
    return systemError(path, "create the file");
  llvm::sys::RemoveFileOnSignal(temporary);
  return std::unique_ptr<ArtifactFile>(new ArtifactFile(path, temporary, descriptor));
}

ArtifactFile::~ArtifactFile() {
  if (descriptor >= 0)
    close(descriptor);
  if (temporary.empty())
    return;
  unlink(temporary.c_str());
  llvm::sys::DontRemoveFileOnSignal(temporary);
}

llvm::Error ArtifactFile::failure(const char *what) const { return systemError(path, what); }

llvm::Error ArtifactFile::writeAt(uint64_t offset, llvm::ArrayRef<char> bytes) {
  while (!bytes.empty()) {
    ssize_t written = pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return failure("write the file");
    offset += written;
    bytes = bytes.drop_front(written);
  }
  return llvm::Error::success();
}

llvm::Error ArtifactFile::commit(uint64_t size) {
  // A fixed mode: what mkstemp gives is for temporary files.
  mode_t mask = umask(0);
  umask(mask);
  if (ftruncate(descriptor, size) != 0 || fchmod(descriptor, 0666 & ~mask) != 0)
    return failure("write the file");
  int closed = close(descriptor);
  descriptor = -1;
  if (closed != 0)
    return failure("write the file");
  if (rename(temporary.c_str(), path.c_str()) != 0)
    return failure("rename the finished file");
  llvm::sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return llvm::Error::success();
}

} // namespace llmc
