// The scalar body of a linalg.generic as code on native vectors.
#ifndef LLMC_COMPILER_CODEGEN_CPU_BODYEMITTER_H
#define LLMC_COMPILER_CODEGEN_CPU_BODYEMITTER_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace llmc::cpu {

/// Emits the body of `op` for `count` positions at once and gives the yielded vectors. `arguments` has a vector of `count` lanes
/// per block argument, null where the argument is not used; `indexOf(d)` gives the i64 vector of linalg.index of dim d.
/// Fails, with an error, on ops that have no vector form.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitBody(KernelBuilder &kb, mlir::linalg::GenericOp op,
                                                         llvm::ArrayRef<mlir::Value> arguments, unsigned count,
                                                         llvm::function_ref<mlir::Value(int64_t)> indexOf);

/// The type of `count` lanes of a scalar of a body: index becomes i64.
mlir::VectorType lanesOf(mlir::Type scalar, unsigned count);

/// Bytes of the widest scalar that the body computes with; i1 counts as nothing.
unsigned widestBytes(mlir::linalg::GenericOp op);

/// Rough cost of the body for one native vector, in cycles.
unsigned bodyCycles(mlir::linalg::GenericOp op);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_BODYEMITTER_H
