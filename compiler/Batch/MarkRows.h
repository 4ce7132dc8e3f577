// Which ops can refuse the data of one row of a batch and do the others.
#ifndef LLMC_COMPILER_BATCH_MARKROWS_H
#define LLMC_COMPILER_BATCH_MARKROWS_H

#include "passes/Graph/RowFlow.h"

namespace llmc {

/// Gives ops that pick by data, and divide integers, the attribute "graph.rows" where they work row by row: the axis that is the batch dim
/// of the result, then of each operand, -1 for one that all rows share. Kernels of such ops mark rows that they refuse.
void markRows(mlir::func::FuncOp function, const RowFlow &flow);

} // namespace llmc

#endif // LLMC_COMPILER_BATCH_MARKROWS_H
