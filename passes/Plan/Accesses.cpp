// See Accesses.h.
#include "passes/Plan/Accesses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmc {

/// By its own step.
static bool isWritten(OpOperand &operand) {
  return llvm::TypeSwitch<Operation *, bool>(operand.getOwner())
      .Case([&](plan::DispatchOp op) { return operand.getOperandNumber() >= op.getBuffers().size() - op.getWritten(); })
      .Case([&](plan::CopyOp op) { return &operand == &op.getTargetMutable(); })
      .Case([&](plan::FillOp) { return true; })
      .Case([&](plan::IfOp op) { return operand.get() != op.getCondition(); })
      .Case([&](plan::LoopOp op) {
        return llvm::is_contained(op.getCarried(), operand.get()) || llvm::is_contained(op.getCollected(), operand.get());
      })
      .Default([](Operation *) { return false; });
}

void forEachAccess(Operation *step, llvm::function_ref<void(OpOperand &, bool)> visit) {
  SmallVector<OpOperand *> reads, writes;
  step->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<plan::StepOpInterface, plan::YieldOp>(op))
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (!step->isProperAncestor(plan::rootOf(operand.get()).getDefiningOp()))
        (isWritten(operand) ? writes : reads).push_back(&operand);
  });
  for (OpOperand *operand : reads)
    visit(*operand, false);
  for (OpOperand *operand : writes)
    visit(*operand, true);
}

bool joins(Operation *step) {
  auto isElsewhere = [](plan::StepOpInterface inside) { return queueOf(inside) == 0 ? WalkResult::advance() : WalkResult::interrupt(); };
  return step->getNumRegions() > 0 && step->walk(isElsewhere).wasInterrupted();
}

int64_t queueOf(plan::StepOpInterface step) { return step.getScheduleAttr() ? step.getScheduleAttr().getQueue() : 0; }

} // namespace llmc
