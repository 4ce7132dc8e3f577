// A file that appears whole or not at all.
#ifndef LLMC_COMPILER_EMIT_ARTIFACTFILE_H
#define LLMC_COMPILER_EMIT_ARTIFACTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llmc {

/// Writes to a temporary file beside `path`, which commit() renames. Without commit nothing is left behind, not even by a signal
/// that ends the process.
class ArtifactFile {
public:
  static llvm::Expected<std::unique_ptr<ArtifactFile>> create(const std::string &path);
  ~ArtifactFile();

  /// Any order, any place; gaps read as zeros.
  llvm::Error writeAt(uint64_t offset, llvm::ArrayRef<char> bytes);
  /// Makes the file exactly `size` bytes, flushes it and gives it its name.
  llvm::Error commit(uint64_t size);

private:
  ArtifactFile(std::string path, std::string temporary, int descriptor)
      : path(std::move(path)), temporary(std::move(temporary)), descriptor(descriptor) {}
  llvm::Error failure(const char *what) const;

  std::string path, temporary;
  int descriptor;
};

} // namespace llmc

#endif // LLMC_COMPILER_EMIT_ARTIFACTFILE_H
