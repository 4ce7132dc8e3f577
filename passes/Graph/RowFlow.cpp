// Forward propagation; RowRules.cpp has what single ops do.
#include "passes/Graph/RowFlow.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace llmc {

using graph::DimExpr;

RowFlow::RowFlow(func::FuncOp function, const ShapeAnalysis &shapes, StringRef dim) : shapes(shapes), dim(dim) {
  for (BlockArgument argument : function.getArguments()) {
    RowState &state = states[argument];
    for (auto [axis, size] : llvm::enumerate(dims(argument)))
      if (mentions(size))
        state = state.isShared() && factorOf(size) ? RowState::rows(axis) : lose(function, "an input has it in more than one way", false);
  }
  visitBlock(function.getBody().front());
}

bool RowFlow::mentions(DimExpr expr) const {
  bool found = false;
  expr.forEachSymbol([&](StringRef name) { found |= name == dim; });
  return found;
}

std::optional<DimExpr> RowFlow::factorOf(DimExpr expr) const {
  if (!mentions(expr))
    return std::nullopt;
  DimExpr symbol = DimExpr::symbol(expr.context(), dim), factor = expr.floorDiv(symbol);
  return !mentions(factor) && factor * symbol == expr ? std::optional(factor) : std::nullopt;
}

RowState RowFlow::lose(Operation *op, const Twine &reason, bool mixes) {
  obstacles.push_back({op, reason.str(), mixes});
  return {RowState::Kind::Lost, 0, obstacles.size() - 1};
}

void RowFlow::visitBlock(Block &block) {
  for (Operation &op : block)
    visit(op);
}

static bool namesSymbols(Operation &op) { return !graph::definedSymbols(&op).empty(); }

void RowFlow::visit(Operation &op) {
  llvm::SetVector<Value> read(op.getOperands().begin(), op.getOperands().end());
  getUsedValuesDefinedAbove(op.getRegions(), read);
  auto lost = llvm::find_if(read, [&](Value value) { return of(value).isLost(); });
  auto setAll = [&](RowState state) {
    for (Value result : op.getResults())
      states[result] = state;
  };
  bool isShared = llvm::all_of(read, [&](Value value) { return of(value).isShared(); });
  if (everything || lost != read.end()) {
    setAll(everything ? *everything : of(*lost));
  } else if (auto branch = dyn_cast<graph::IfOp>(op); branch && of(branch.getCondition()).isShared()) {
    visitIf(branch);
  } else if (auto results = rowRule(*this, &op)) {
    for (auto [result, state] : llvm::zip_equal(op.getResults(), *results))
      states[result] = state;
  } else {
    setAll(opaque(op));
  }
  // Sizes of other rows' data may be in any dim that comes later.
  if (!everything && namesSymbols(op) && (!isShared || hasRowSymbols(op)))
    everything = lose(&op, "makes sizes of the data of rows", false);
}

/// The blocks are walked like those around them; a result must be the same kind of value from both.
void RowFlow::visitIf(graph::IfOp op) {
  for (Region &region : op->getRegions())
    visitBlock(region.front());
  auto yielded = [](Region &region) { return region.front().getTerminator()->getOperands(); };
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    states[result] = joined(op, of(yielded(op.getThenBlock())[i]), of(yielded(op.getElseBlock())[i]));
}

RowState RowFlow::joined(Operation *op, RowState lhs, RowState rhs) {
  if (lhs.isLost() || lhs == rhs)
    return lhs;
  return rhs.isLost() ? rhs : lose(op, "has rows along different axes in its branches", false);
}

/// Whether the dim is in an attribute of the op or of one inside it, or in the dims of a result.
bool RowFlow::hasRowSymbols(Operation &op) const {
  bool found = false;
  op.walk([&](Operation *inner) {
    inner->getAttrDictionary().walk([&](graph::ExprAttr expr) { found |= mentions(DimExpr(expr)); });
    for (Value result : inner->getResults())
      if (isa<RankedTensorType>(result.getType()))
        found |= llvm::any_of(dims(result), [&](DimExpr size) { return mentions(size); });
  });
  return found;
}

/// An op without a rule makes the same of what is the same for all rows.
RowState RowFlow::opaque(Operation &op) {
  bool isShared = llvm::all_of(op.getOperands(), [&](Value value) { return of(value).isShared(); });
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  isShared &= llvm::all_of(captured, [&](Value value) { return of(value).isShared(); });
  if (isShared && !hasRowSymbols(op))
    return RowState::shared();
  StringRef name = op.getName().stripDialect();
  return isShared ? lose(&op, name + " computes with the number " + dim, false) : lose(&op, "nothing is known of the rows of " + name, false);
}

} // namespace llmc
