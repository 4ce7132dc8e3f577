// Sizes as data: a tensor whose elements are the kernel's scalars and arithmetic on them.
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace llmc::cpu {

static tensor::FromElementsOp elementsOf(func::FuncOp dispatch) {
  auto ops = dispatch.getBody().getOps<tensor::FromElementsOp>();
  return ops.empty() ? tensor::FromElementsOp() : *ops.begin();
}

bool isSizes(func::FuncOp dispatch) { return static_cast<bool>(elementsOf(dispatch)); }

LogicalResult emitSizes(KernelBuilder &kb) {
  View result = kb.resultView(0);
  for (auto [i, element] : llvm::enumerate(elementsOf(kb.dispatch).getElements())) {
    Value value = kb.scalar(element);
    if (!value)
      return failure();
    kb.storeScalar(value, kb.advance(result.base, result.elementType, static_cast<int64_t>(i)));
  }
  kb.finish();
  return success();
}

} // namespace llmc::cpu
