// Packs one panel of a right operand that is not a constant, at run time.
#ifndef LLMC_COMPILER_CODEGEN_CPU_PANELPACKER_H
#define LLMC_COMPILER_CODEGEN_CPU_PANELPACKER_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"

namespace llmc::cpu {

/// A matrix whose element (segment, k, column) lies at pointer[segment * segmentStep + k * depthStep + column *
/// columnStep].
struct StridedMatrix {
  mlir::Value pointer; // to the panel's first column
  graph::DimExpr segments, depth;
  graph::DimExpr segmentStep, depthStep, columnStep;
  graph::DimExpr columns; // of the whole matrix
};

/// Writes the columns from `firstColumn` on as [segments * depth][32] to `panel`, zeros beyond the matrix's last
/// column.
void packPanel(KernelBuilder &kb, const StridedMatrix &matrix, mlir::Value firstColumn, mlir::Value panel);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_PANELPACKER_H
