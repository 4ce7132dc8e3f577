// Weights in the layouts that kernels read.
#ifndef LLMC_COMPILER_ENCODECONSTANTS_H
#define LLMC_COMPILER_ENCODECONSTANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace llmc {

/// For each dispatch function and each argument that is a constant at every call, asks the code generator for the layout it wants and
/// records it: `graph.encoding` on the argument and on the constant. Constants wanted in two layouts become two. The bytes are packed
/// when the artifact is written.
void encodeConstants(mlir::ModuleOp module);

} // namespace llmc

#endif // LLMC_COMPILER_ENCODECONSTANTS_H
