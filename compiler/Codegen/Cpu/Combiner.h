// The op that joins the elements of a reduction: a sum, a product, a maximum.
#ifndef LLMC_COMPILER_CODEGEN_CPU_COMBINER_H
#define LLMC_COMPILER_CODEGEN_CPU_COMBINER_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace llmc::cpu {

class Combiner {
public:
  /// Nothing if the body of `op` does not end by joining its accumulator with something.
  static std::optional<Combiner> of(mlir::linalg::GenericOp op);

  mlir::Value neutral(KernelBuilder &kb, unsigned lanes) const;
  mlir::Value join(KernelBuilder &kb, mlir::Value lhs, mlir::Value rhs) const;
  /// A power of two of values, in pairs: neighbours first.
  mlir::Value joinAll(KernelBuilder &kb, llvm::SmallVector<mlir::Value> values) const;
  /// The lanes of a vector, halves first; a vector of one lane.
  mlir::Value joinLanes(KernelBuilder &kb, mlir::Value vector) const;

private:
  explicit Combiner(mlir::Operation *op) : op(op) {}
  mlir::Operation *op;
};

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_COMBINER_H
