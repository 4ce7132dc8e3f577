// See Accesses.h.
#include "passes/Plan/Accesses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmc {

/// Of the step itself.
static bool isWritten(OpOperand &operand) {
  return llvm::TypeSwitch<Operation *, bool>(operand.getOwner())
      .Case([&](plan::DispatchOp op) { return operand.getOperandNumber() >= op.getBuffers().size() - op.getWritten(); })
      .Case([&](plan::CopyOp op) { return &operand == &op.getTargetMutable(); })
      .Case([&](plan::FillOp) { return true; })
      .Case([&](plan::LoopOp op) { return llvm::is_contained(op.getCarried(), operand.get()); })
      .Default([](Operation *) { return false; });
}

void forEachAccess(Operation *step, llvm::function_ref<void(OpOperand &, bool)> visit) {
  SmallVector<OpOperand *> reads, writes;
  step->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (operand.get().getParentBlock() != step->getBlock())
        continue;
      bool isInside = op != step; // and may write through a view of its own
      if (isInside || !isWritten(operand))
        reads.push_back(&operand);
      if (isInside ? plan::isWritable(operand.get()) : isWritten(operand))
        writes.push_back(&operand);
    }
  });
  for (OpOperand *operand : reads)
    visit(*operand, false);
  for (OpOperand *operand : writes)
    visit(*operand, true);
}

int64_t queueOf(plan::StepOpInterface step) { return step.getScheduleAttr() ? step.getScheduleAttr().getQueue() : 0; }

} // namespace llmc
