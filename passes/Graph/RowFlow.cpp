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
  } else if (auto loop = dyn_cast<graph::LoopOp>(op); loop && canFollow(loop)) {
    return visitLoop(loop); // what sizes it defines are those of all rows
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

/// All rows have the same trips, and sizes that change do so for all in the same way.
bool RowFlow::canFollow(graph::LoopOp op) const {
  auto yield = cast<graph::YieldOp>(op.getBody().front().getTerminator());
  SmallVector<graph::ExprAttr> sizes(op.getStart().getAsRange<graph::ExprAttr>());
  llvm::append_range(sizes, yield.getSizes().getAsRange<graph::ExprAttr>());
  sizes.push_back(op.getTripsAttr());
  bool decidesByRows = op.getConditional() && !of(op.getInits()[0]).isShared();
  return !decidesByRows && llvm::none_of(sizes, [&](graph::ExprAttr size) { return mentions(DimExpr(size)); });
}

/// What is carried must be the same kind of value after each trip; what is collected gets a new first dim.
void RowFlow::visitLoop(graph::LoopOp op) {
  Block &block = op.getBody().front();
  size_t numCarried = op.getInits().size();
  for (auto [argument, init] : llvm::zip_equal(block.getArguments(), op.getInits()))
    states[argument] = of(init);
  visitBlock(block);
  if (everything) // sizes of the next trip may depend on it
    return loseLoop(op, *everything);
  ValueRange yielded = block.getTerminator()->getOperands();
  for (auto [init, next] : llvm::zip_equal(op.getInits(), yielded.take_front(numCarried)))
    if (of(init) != of(next))
      return loseLoop(op, of(next).isLost() ? of(next) : lose(op, "carries rows along another axis after a trip", false));
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    RowState state = of(yielded[i]);
    states[result] = i >= numCarried && state.isRows() ? RowState::rows(state.axis + 1) : state;
  }
}

/// What was said of values inside it took for granted what the first trip starts with.
void RowFlow::loseLoop(graph::LoopOp op, RowState state) {
  op.walk([&](Operation *inner) {
    for (Value value : inner->getResults())
      states.erase(value);
  });
  for (Value result : op.getResults())
    states[result] = state;
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
