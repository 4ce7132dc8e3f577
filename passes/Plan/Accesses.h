// What steps read and write.
#ifndef LLMC_PASSES_PLAN_ACCESSES_H
#define LLMC_PASSES_PLAN_ACCESSES_H

#include "dialects/Plan/Plan.h"

namespace llmc {

/// Calls visit(operand, writes) for each buffer of the block around `step` that the step touches; reads come before writes. What is
/// used inside the step's own blocks counts as read and written.
void forEachAccess(mlir::Operation *step, llvm::function_ref<void(mlir::OpOperand &, bool writes)> visit);

/// The queue of a step.
int64_t queueOf(plan::StepOpInterface step);

} // namespace llmc

#endif // LLMC_PASSES_PLAN_ACCESSES_H
