// A file that appears whole or not at all.
#ifndef LLMC_COMPILER_EMIT_ARTIFACTFILE_H
#define LLMC_COMPILER_EMIT_ARTIFACTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llmc {

/// Writes to a temporary file beside `path`, which commit() renames. Without commit nothing is left behind, not even by a signal
/// that ends the process.
class ArtifactFile {
public:
  /// Fails if what `path` names now must not be replaced: a folder, a device, a pipe.
  static llvm::Error checkReplaceable(const std::string &path);

  static llvm::Expected<std::unique_ptr<ArtifactFile>> create(const std::string &path);
  ~ArtifactFile();

  /// Any order, any place; gaps read as zeros.
  llvm::Error writeAt(uint64_t offset, llvm::ArrayRef<char> bytes);
  /// Makes the file exactly `size` bytes, flushes it and gives it its name.
  llvm::Error commit(uint64_t size);

private:
  explicit ArtifactFile(const std::string &path);
  std::error_code open();
  llvm::Error failure(const char *what) const;

  std::string path;                 // as given, for messages
  std::string target;               // with links followed
  llvm::SmallString<128> temporary; // empty: there is no such file
  int descriptor = -1;
};

} // namespace llmc

#endif // LLMC_COMPILER_EMIT_ARTIFACTFILE_H
