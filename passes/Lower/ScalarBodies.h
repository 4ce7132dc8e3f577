// What an element-wise graph op computes for one element, as arith and math ops.
#ifndef LLMC_PASSES_LOWER_SCALARBODIES_H
#define LLMC_PASSES_LOWER_SCALARBODIES_H

#include "dialects/Graph/Graph.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace llmc {

/// Whether emitScalar knows `op` for its element types. All else runs on its reference kernel.
bool hasScalarBody(mlir::Operation *op);

/// The value of `op` for scalar operands.
mlir::Value emitScalarBody(mlir::Operation *op, mlir::ValueRange operands, mlir::ImplicitLocOpBuilder &b);

/// Element types that generated code handles.
bool isGeneratedType(mlir::Type elementType);

} // namespace llmc

#endif // LLMC_PASSES_LOWER_SCALARBODIES_H
