// The microkernel generator: from a spec to the IR of a register tile of a matrix product.
//
// Every accumulator is its own SSA value of the native 1-D vector type, carried through the loops as an iter_arg: wider
// or odd vector types make LLVM shuffle and spill. Sums start at 0 and run over segments, then over k ascending, one
// fused multiply-add each (which levels without FMA lower to a multiplication and an addition), so that an element's
// bits depend on neither the tile that holds it nor the way the work is split.
// math.fma, not vector.fma: that one becomes llvm.fmuladd, which is two instructions where contraction is off.
#ifndef LLMC_COMPILER_CODEGEN_CPU_MICROKERNEL_H
#define LLMC_COMPILER_CODEGEN_CPU_MICROKERNEL_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llmc::cpu {

/// Columns of one panel of the packed right operand, at every level: panels are [k][32], zero padded.
constexpr int64_t panelColumns = 32;

struct MicrokernelSpec {
  int64_t lanes = 8;   // of the native vector
  int64_t rows = 6;    // of the left operand in the tile
  int64_t vectors = 2; // of columns in the tile
};

/// Where a tile's operands lie. Pointers are !llvm.ptr to f32, counts and steps i64 elements.
struct MicrokernelOperands {
  /// Number of runs of k, each with its own row pointers: the taps of a convolution. Null: one.
  mlir::Value segments;
  /// Number of consecutive k in each segment.
  mlir::Value depth;
  /// Pointers to k = 0 of each row; called once, inside the loop over segments, with the segment's number (null if
  /// one).
  llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value segment)> rowPointers;
  /// From one k to the next within a row.
  mlir::Value rowStep;
  /// The tile's first column in the panel; segments and k follow each other at steps of panelColumns.
  mlir::Value panel;
  /// Where to begin to fetch ahead into the L2 cache, and how many bytes (i64) to go on by for each k. Null: nowhere.
  mlir::Value ahead, aheadStep;
};

/// Emits the loops and returns the sums, row by row: rows * vectors values of vector<lanes x f32>.
llvm::SmallVector<mlir::Value> emitMicrokernel(mlir::ImplicitLocOpBuilder &b, const MicrokernelSpec &spec,
                                               const MicrokernelOperands &operands);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_MICROKERNEL_H
