// What follows a root op in its kernel: the element-wise ops on its result, applied to vectors in registers before they
// are stored, and the stores of the kernel's results.
#ifndef LLMC_COMPILER_CODEGEN_CPU_EPILOGUE_H
#define LLMC_COMPILER_CODEGEN_CPU_EPILOGUE_H

#include "compiler/Codegen/Cpu/Nest.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace llmc::cpu {

/// A rectangle of the result: `rows` steps of one loop times `vectors` vectors of the innermost loop.
struct TileOfResult {
  llvm::SmallVector<mlir::Value> indices; // of its first element, one per loop
  unsigned rowLoop;
  int64_t rows, vectors;
  mlir::Value columns; // i64, how many columns from the first one on exist; null: all of the tile's
};

class Epilogue {
public:
  /// Reads the ops behind `root` (its result) in the dispatch function. Adds to `nest`, whose loops still are the dims
  /// of the result, an access for each tensor that they read and for each result. Fails, with an error, on what it can
  /// not apply.
  static mlir::FailureOr<Epilogue> of(KernelBuilder &kb, mlir::Value root, Nest &nest);

  /// Adds `bias`, a tensor along dim `dim` of the result, to the root's values before all else.
  mlir::LogicalResult addBias(KernelBuilder &kb, mlir::Value bias, unsigned dim, Nest &nest);

  /// Applies the ops to the root's values `sums`, row by row, and stores what comes out. Fails, with an error, on a
  /// body that has no vector form.
  mlir::LogicalResult store(KernelBuilder &kb, const Nest &nest, const TileOfResult &tile,
                            llvm::ArrayRef<mlir::Value> sums) const;
  /// The same for a tile of one vector per row, of which `lanes` take part.
  mlir::LogicalResult store(KernelBuilder &kb, const Nest &nest, const TileOfResult &tile, const Lanes &lanes,
                            llvm::ArrayRef<mlir::Value> values) const;

private:
  /// Where an operand comes from: a value computed here, a tensor in memory, or a scalar.
  struct Source {
    enum Kind { Computed, Memory, Scalar } kind;
    unsigned number = 0; // of the computed value or the access
    mlir::Value scalar;
  };
  struct Step {
    mlir::linalg::GenericOp op;
    llvm::SmallVector<Source> inputs;
  };
  struct Output {
    unsigned value, access;
  };
  class Applier;

  mlir::FailureOr<Source> sourceOf(KernelBuilder &kb, mlir::OpOperand &operand, mlir::linalg::GenericOp op, Nest &nest);
  mlir::LogicalResult addStep(KernelBuilder &kb, mlir::linalg::GenericOp op, Nest &nest);

  std::optional<unsigned> bias;                  // access
  llvm::DenseMap<mlir::Value, unsigned> numbers; // of computed values; the root's is 0
  llvm::SmallVector<Step> steps;
  llvm::SmallVector<Output> outputs;
};

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_EPILOGUE_H
