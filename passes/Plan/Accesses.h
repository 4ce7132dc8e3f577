// What steps read and write.
#ifndef LLMC_PASSES_PLAN_ACCESSES_H
#define LLMC_PASSES_PLAN_ACCESSES_H

#include "dialects/Plan/Plan.h"

namespace llmc {

/// Calls visit(operand, writes) for each buffer that `step` or a step inside of it touches and that does not lie in a block of `step`;
/// reads come before writes.
void forEachAccess(mlir::Operation *step, llvm::function_ref<void(mlir::OpOperand &, bool writes)> visit);

/// The queue of a step.
int64_t queueOf(plan::StepOpInterface step);

/// Whether steps of other queues are inside of `step`: then it is alone while it runs.
bool joins(mlir::Operation *step);

} // namespace llmc

#endif // LLMC_PASSES_PLAN_ACCESSES_H
