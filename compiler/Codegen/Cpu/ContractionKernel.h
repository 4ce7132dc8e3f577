// Matrix products written as linalg.generic: any number of batch dims, any dim order of the operands.
#ifndef LLMC_COMPILER_CODEGEN_CPU_CONTRACTIONKERNEL_H
#define LLMC_COMPILER_CODEGEN_CPU_CONTRACTIONKERNEL_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"
#include "compiler/Codegen/Cpu/Packing.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace llmc::cpu {

/// Whether `op` is a product that the template compiles: f32, one multiply-add per step, maps that are projected
/// permutations.
bool isContraction(mlir::linalg::GenericOp op);

/// The packed layout that suits `operand` (0 or 1) of `op`; dense if it is not the right operand or has an unusual dim
/// order.
Encoding encodingOfOperand(mlir::linalg::GenericOp op, unsigned operand);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_CONTRACTIONKERNEL_H
