// Dispatch functions and their code images -> the executable of the plan.
#ifndef LLMC_COMPILER_EMIT_EXPORTWRITER_H
#define LLMC_COMPILER_EMIT_EXPORTWRITER_H

#include "compiler/Target/CpuTarget.h"
#include "runtime/schema/plan_generated.h"

namespace llmc {

/// One export per dispatch function of `module`, in order; one variant per image, its code being segment 1 + the image's number.
std::unique_ptr<plan::ExecutableT> writeExecutable(mlir::ModuleOp module, llvm::ArrayRef<CompiledImage> images);

} // namespace llmc

#endif // LLMC_COMPILER_EMIT_EXPORTWRITER_H
