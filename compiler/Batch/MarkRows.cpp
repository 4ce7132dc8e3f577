// The axes that RowFlow found, written down for code generation.
#include "compiler/Batch/MarkRows.h"

using namespace mlir;

namespace llmc {

static bool refusesData(Operation *op) {
  if (isa<graph::GatherOp, graph::GatherElementsOp, graph::GatherNDOp, graph::ScatterElementsOp>(op))
    return true;
  return isa<graph::DivOp, graph::ModOp>(op) && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType()));
}

/// The axis that is the dim itself; -1 for what all rows share, nothing for all else.
static std::optional<int64_t> axisOf(const RowFlow &flow, Value value) {
  const RowState &state = flow.of(value);
  if (state.isShared())
    return -1;
  if (state.isLost())
    return std::nullopt;
  std::optional<graph::DimExpr> factor = flow.factorOf(flow.dims(value)[state.axis]);
  return factor && factor->isConstant(1) ? std::optional(state.axis) : std::nullopt;
}

void markRows(func::FuncOp function, const RowFlow &flow) {
  function.walk([&](Operation *op) {
    if (!refusesData(op) || !flow.isFollowed(op->getResult(0)))
      return;
    SmallVector<int64_t> axes;
    SmallVector<Value> values = {op->getResult(0)};
    llvm::append_range(values, op->getOperands());
    for (Value value : values) {
      std::optional<int64_t> axis = axisOf(flow, value);
      if (!axis)
        return;
      axes.push_back(*axis);
    }
    if (axes.front() >= 0)
      op->setAttr("graph.rows", DenseI64ArrayAttr::get(op->getContext(), axes));
  });
}

} // namespace llmc
