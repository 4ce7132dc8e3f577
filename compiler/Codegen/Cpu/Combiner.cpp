// See Combiner.h.
#include "compiler/Codegen/Cpu/Combiner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmc::cpu {

std::optional<Combiner> Combiner::of(linalg::GenericOp op) {
  Operation *last = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument accumulator = op.getRegionOutputArgs().front();
  bool joins = last && last->getNumOperands() == 2 && llvm::is_contained(last->getOperands(), accumulator) &&
               accumulator.hasOneUse() && arith::getNeutralElement(last).has_value();
  return joins ? std::optional(Combiner(last)) : std::nullopt;
}

Value Combiner::neutral(KernelBuilder &kb, unsigned lanes) const {
  return kb.constantVector(*arith::getNeutralElement(op), lanes);
}

Value Combiner::join(KernelBuilder &kb, Value lhs, Value rhs) const {
  IRMapping mapping;
  mapping.map(op->getOperand(0), lhs);
  mapping.map(op->getOperand(1), rhs);
  Operation *clone = kb.b.clone(*op, mapping);
  clone->getResult(0).setType(lhs.getType());
  return clone->getResult(0);
}

Value Combiner::joinAll(KernelBuilder &kb, SmallVector<Value> values) const {
  while (values.size() > 1) {
    for (size_t i = 0; i < values.size() / 2; ++i)
      values[i] = join(kb, values[2 * i], values[2 * i + 1]);
    values.resize(values.size() / 2);
  }
  return values[0];
}

Value Combiner::joinLanes(KernelBuilder &kb, Value vector) const {
  for (int64_t half = cast<VectorType>(vector.getType()).getNumElements() / 2; half >= 1; half /= 2) {
    auto lower = llvm::to_vector(llvm::seq<int64_t>(0, half)), upper = llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
    Value low = vector::ShuffleOp::create(kb.b, vector, vector, lower);
    Value high = vector::ShuffleOp::create(kb.b, vector, vector, upper);
    vector = join(kb, low, high);
  }
  return vector;
}

} // namespace llmc::cpu
