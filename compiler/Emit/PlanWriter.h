// Plan dialect and code images -> one artifact.
#ifndef LLMC_COMPILER_EMIT_PLANWRITER_H
#define LLMC_COMPILER_EMIT_PLANWRITER_H

#include "compiler/Target/CpuTarget.h"
#include "dialects/Plan/Plan.h"
#include "runtime/schema/plan_generated.h"

namespace llmc {

struct ArtifactInfo {
  uint64_t fileBytes = 0;
  uint64_t planBytes = 0; // of the structure
  uint64_t constantBytes = 0;
  uint64_t codeBytes = 0;
  size_t steps = 0;
};

/// What the artifact says of its making. No time, no path: the same input gives the same bytes.
struct ArtifactOrigin {
  std::string producerVersion;
  std::vector<std::pair<std::string, std::string>> options;
};

/// Writes the entries of `module`, with the kernels of `images`, to `path`. Constants are packed as they are written. `batching`, if not
/// null, is what the entry says of requests that share a run. Reports problems as diagnostics; no file is left behind then.
mlir::FailureOr<ArtifactInfo> writeArtifact(mlir::ModuleOp module, llvm::ArrayRef<CompiledImage> images, const ArtifactOrigin &origin,
                                            const std::string &path, const plan::BatchingT *batching = nullptr);

} // namespace llmc

#endif // LLMC_COMPILER_EMIT_PLANWRITER_H
