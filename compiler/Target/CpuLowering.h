// From the kernels' vector, arith, math and scf ops to the LLVM dialect.
#ifndef LLMC_COMPILER_TARGET_CPULOWERING_H
#define LLMC_COMPILER_TARGET_CPULOWERING_H

#include "compiler/Target/CpuLevel.h"
#include "mlir/IR/BuiltinOps.h"

namespace llmc::cpu {

/// Lowers all kernels of `module` in place.
llvm::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module, const CpuLevel &level);

/// Loads what the kernels and their lowering use, so that several threads may then work in one context.
void loadCodegenDialects(mlir::MLIRContext &context);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_TARGET_CPULOWERING_H
