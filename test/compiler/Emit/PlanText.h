// Artifacts from IR text: dispatch functions and entries.
#ifndef LLMC_TEST_COMPILER_EMIT_PLANTEXT_H
#define LLMC_TEST_COMPILER_EMIT_PLANTEXT_H

#include "compiler/Emit/PlanWriter.h"

namespace llmc::test {

/// Compiles the dispatch functions of `text`, if there are any, for one CPU level and writes its entries to `path`. Fails with diagnostics.
mlir::FailureOr<ArtifactInfo> writePlanText(llvm::StringRef text, llvm::StringRef level, const std::string &path,
                                            mlir::MLIRContext &context);

/// Loads all that such text may hold.
void loadPlanTextDialects(mlir::MLIRContext &context);

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_EMIT_PLANTEXT_H
