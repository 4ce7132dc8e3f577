// Atomic output.
#include "compiler/Emit/ArtifactFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = llvm::sys::fs;

namespace llmc {

llvm::Error ArtifactFile::checkReplaceable(const std::string &path) {
  struct stat present;
  if (stat(path.c_str(), &present) != 0 || S_ISREG(present.st_mode))
    return llvm::Error::success();
  return llvm::createStringError("%s: is a %s, expected a file or nothing there", path.c_str(),
                                 S_ISDIR(present.st_mode) ? "folder" : "device, pipe or socket");
}

llvm::Expected<std::unique_ptr<ArtifactFile>> ArtifactFile::create(const std::string &path) {
  if (llvm::Error error = checkReplaceable(path))
    return error;
  std::unique_ptr<ArtifactFile> file(new ArtifactFile(path));
  if (std::error_code code = file->open())
    return llvm::createStringError(code, path + ": can not create the file: " + code.message());
  return file;
}

/// What a link leads to is replaced, not the link.
ArtifactFile::ArtifactFile(const std::string &path) : path(path), target(path) {
  llvm::SmallString<128> real;
  if (!fs::real_path(path, real))
    target = real.str().str();
}

/// The name is marked for removal before there is a file, so that no signal can come between.
std::error_code ArtifactFile::open() {
  for (;;) {
    fs::createUniquePath(target + ".%%%%%%", temporary, /*MakeAbsolute=*/false);
    llvm::sys::RemoveFileOnSignal(temporary);
    std::error_code code = fs::openFileForWrite(temporary, descriptor, fs::CD_CreateNew, fs::OF_None, fs::owner_read | fs::owner_write);
    if (!code)
      return code;
    llvm::sys::DontRemoveFileOnSignal(temporary);
    temporary.clear();
    if (code != std::errc::file_exists)
      return code;
  }
}

ArtifactFile::~ArtifactFile() {
  if (descriptor >= 0)
    close(descriptor);
  if (temporary.empty())
    return;
  unlink(temporary.c_str());
  llvm::sys::DontRemoveFileOnSignal(temporary);
}

llvm::Error ArtifactFile::failure(const char *what) const {
  return llvm::createStringError("%s: can not %s: %s", path.c_str(), what, std::strerror(errno));
}

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
  // A fixed mode: that of a temporary file is for its owner alone.
  mode_t mask = umask(0);
  umask(mask);
  if (ftruncate(descriptor, size) != 0 || fchmod(descriptor, 0666 & ~mask) != 0)
    return failure("write the file");
  int closed = close(descriptor);
  descriptor = -1;
  if (closed != 0)
    return failure("write the file");
  if (rename(temporary.c_str(), target.c_str()) != 0)
    return failure("rename the finished file");
  llvm::sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return llvm::Error::success();
}

} // namespace llmc
