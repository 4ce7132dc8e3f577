// Why an op runs on its reference kernel, for people who want it faster.
#ifndef LLMC_COMPILER_CODEGEN_CPU_FALLBACKREASON_H
#define LLMC_COMPILER_CODEGEN_CPU_FALLBACKREASON_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace llmc::cpu {

/// What keeps the op of `dispatch`, which the template "reference" takes, from having generated code: "graph.pad: mode reflect ...".
std::string fallbackReason(mlir::func::FuncOp dispatch);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_FALLBACKREASON_H
