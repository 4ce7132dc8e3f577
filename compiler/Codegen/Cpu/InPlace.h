// Which results of a kernel may be written over one of its arguments.
#ifndef LLMC_COMPILER_CODEGEN_CPU_INPLACE_H
#define LLMC_COMPILER_CODEGEN_CPU_INPLACE_H

#include "mlir/IR/BuiltinOps.h"

namespace llmc::cpu {

/// Sets `graph.may_replace` on each result of the dispatch functions of `module`: the numbers of the arguments that the kernel, for any
/// level, reads only where, and before, it writes the same bytes of the result. No attribute: there is none.
void markInPlace(mlir::ModuleOp module);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_INPLACE_H
