// From the LLVM dialect to object code of one level.
#ifndef LLMC_COMPILER_TARGET_LLVMBACKEND_H
#define LLMC_COMPILER_TARGET_LLVMBACKEND_H

#include "compiler/Target/CpuLevel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace llmc::cpu {

struct ObjectCode {
  llvm::SmallVector<char, 0> object; // ELF relocatable
  std::string llvmIr;                // optimised, as text; if asked for
  std::string assembly;              // if asked for
};

struct BackendOptions {
  /// Bitcode of the reference kernels for the level; only what the kernels call is taken. Empty if they call none.
  llvm::MemoryBufferRef referenceBitcode;
  int optimisation = 2; // up to 1 LLVM's quick pipeline, at 3 its longest; results have the same bits at all levels
  bool keepLlvmIr = false;
  bool keepAssembly = false;
};

/// Compiles `module`, in the LLVM dialect, whose functions are the exported kernels.
llvm::Expected<ObjectCode> emitObject(mlir::ModuleOp module, const CpuLevel &level, const BackendOptions &options);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_TARGET_LLVMBACKEND_H
