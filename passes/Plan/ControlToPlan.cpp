// Branches and loops -> steps with blocks.
#include "passes/Plan/Planner.h"

using namespace mlir;

namespace llmc {

using graph::DimExpr;

static bool names(ArrayRef<DimExpr> exprs, ArrayAttr symbols) {
  bool found = false;
  for (DimExpr expr : exprs)
    expr.forEachSymbol([&](StringRef name) { found |= llvm::is_contained(symbols.getAsValueRange<StringAttr>(), name); });
  return found;
}

/// Symbols that the blocks of `op` define.
static llvm::StringSet<> innerSymbols(Operation *op) {
  llvm::StringSet<> inner;
  op->walk([&](Operation *other) {
    if (other != op)
      for (StringRef symbol : graph::definedSymbols(other))
        inner.insert(symbol);
    if (auto loop = dyn_cast<graph::LoopOp>(other)) {
      inner.insert(loop.getIteration());
      for (StringRef symbol : loop.getSymbols().getAsValueRange<StringAttr>())
        inner.insert(symbol);
    }
  });
  return inner;
}

/// Symbols of the blocks around `op` that its blocks use, each under its own name.
DictionaryAttr Planner::frameOf(Operation *op) {
  llvm::StringSet<> inner = innerSymbols(op);
  NamedAttrList frame;
  auto use = [&](DimExpr expr) {
    expr.forEachSymbol([&](StringRef name) {
      if (!inner.contains(name))
        frame.set(name, DimExpr::symbol(b.getContext(), name).attribute());
    });
  };
  for (Region &region : op->getRegions()) {
    for (Value argument : region.getArguments())
      llvm::for_each(analysis.dims(argument), use);
    region.walk([&](Operation *other) {
      other->getAttrDictionary().walk<WalkOrder::PreOrder>([&](graph::ExprAttr expr) {
        use(DimExpr(expr));
        return WalkResult::skip();
      });
      if (isa<graph::YieldOp>(other))
        for (Value value : other->getOperands())
          llvm::for_each(analysis.dims(value), use);
    });
  }
  return frame.getDictionary(b.getContext());
}

/// The steps of a block, at the builder's place.
LogicalResult Planner::convertInner(Block &from) {
  SmallVector<Attribute> outer;
  if (auto own = from.getTerminator()->getAttrOfType<ArrayAttr>(checksAttrName))
    outer.append(own.begin(), own.end());
  std::swap(outer, checks);
  addChecks();
  LogicalResult converted = convertBlock(from);
  std::swap(outer, checks);
  return converted;
}

/// A result whose dims do not depend on the branch is made where it belongs, if a dispatch of the branch makes it.
void Planner::bindBranchResult(Value yielded, Value result) {
  Value source = yielded;
  while (auto view = source.getDefiningOp<graph::ViewOp>())
    source = view.getX();
  auto dispatch = source.getDefiningOp<graph::DispatchOp>();
  bool sameDims = llvm::equal(analysis.dims(yielded), analysis.dims(result));
  if (!dispatch || dispatch->getBlock() != yielded.getParentBlock() || buffers.contains(source) || !sameDims || isOpen(source))
    return;
  Value place = buffers[result];
  buffers[source] = source == yielded ? place : viewOf(place, source, source.getLoc());
  buffers.try_emplace(yielded, place);
}

/// Copies the result unless it has been made there.
void Planner::writeBranchResult(Value yielded, Value result, Location loc) {
  for (auto [here, there] : llvm::zip_equal(analysis.dims(yielded), analysis.dims(result)))
    if (here != there) {
      auto guard = plan::GuardAttr::get(b.getContext(), (here - there).attribute(), plan::CmpEnum::Eq, 0);
      plan::CheckOp::create(b, loc, guard, b.getStringAttr("a branch gives a result of the dims that are expected"), plan::ScheduleAttr());
    }
  if (plan::rootOf(buffers[yielded]) != plan::rootOf(buffers[result]))
    plan::CopyOp::create(b, loc, buffers[yielded], buffers[result]);
}

LogicalResult Planner::convertBranch(graph::IfOp op, Block &from, Block &to) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&to);
  auto yield = cast<graph::YieldOp>(from.getTerminator());
  for (auto [yielded, result] : llvm::zip_equal(yield.getValues(), op.getResults()))
    if (!names(analysis.dims(result), op.getSymbols()))
      bindBranchResult(yielded, result);
  if (failed(convertInner(from)))
    return failure();
  SmallVector<Value> given;
  for (auto [yielded, result] : llvm::zip_equal(yield.getValues(), op.getResults())) {
    if (names(analysis.dims(result), op.getSymbols()))
      given.push_back(buffers[yielded]);
    else
      writeBranchResult(yielded, result, op.getLoc());
  }
  plan::YieldOp::create(b, op.getLoc(), given, yield.getSizes());
  return success();
}

LogicalResult Planner::convertIf(graph::IfOp op) {
  SmallVector<Value> given;
  for (Value result : op.getResults()) {
    Value place = placeOf(result, op.getLoc());
    if (names(analysis.dims(result), op.getSymbols()))
      given.push_back(place);
  }
  auto branch = plan::IfOp::create(b, op.getLoc(), buffers.lookup(op.getCondition()), given, op.getSymbols(), frameOf(op), plan::ScheduleAttr());
  if (failed(convertBranch(op, op.getThenBlock().front(), branch.getThenBlock().emplaceBlock())) ||
      failed(convertBranch(op, op.getElseBlock().front(), branch.getElseBlock().emplaceBlock())))
    return failure();
  knowSymbols(op);
  return success();
}

/// A buffer with the value that shares no bytes with `places`, which will be written before it is read.
Value Planner::apart(Value yielded, const llvm::SmallDenseSet<Value> &places, Location loc) {
  Value buffer = buffers[yielded];
  if (!places.contains(plan::rootOf(buffer)))
    return buffer;
  Value copy = plan::ArenaOp::create(b, loc, element(yielded), dims(yielded));
  plan::CopyOp::create(b, loc, buffer, copy);
  return copy;
}

LogicalResult Planner::convertLoop(graph::LoopOp op) {
  size_t numCarried = op.getInits().size();
  Block &from = op.getBody().front();
  SmallVector<Value> inits = llvm::map_to_vector(op.getInits(), [&](Value init) { return buffers.lookup(init); });
  SmallVector<Value> places = llvm::map_to_vector(op.getResults(), [&](Value result) { return placeOf(result, op.getLoc()); });
  ArrayRef<Value> carried = ArrayRef(places).take_front(numCarried), collected = ArrayRef(places).drop_front(numCarried);
  auto loop = plan::LoopOp::create(b, op.getLoc(), op.getTrips(), op.getLimit(), op.getConditional() ? carried[0] : Value(), inits,
                                   carried, collected, op.getIterationAttr(), frameOf(op), op.getSymbols(), op.getStart(),
                                   op.getResultSymbols(), plan::ScheduleAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&loop.getBlock().emplaceBlock());
  llvm::SmallDenseSet<Value> written;
  for (auto [i, argument] : llvm::enumerate(from.getArguments())) {
    bool ownPlace = names(analysis.dims(argument), op.getSymbols());
    buffers[argument] = ownPlace ? plan::ArgumentOp::create(b, op.getLoc(), i, element(argument), dims(argument)) : carried[i];
    written.insert(plan::rootOf(buffers[argument]));
  }
  if (failed(convertInner(from)))
    return failure();
  auto yield = cast<graph::YieldOp>(from.getTerminator());
  SmallVector<Value> yielded;
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    bool unchanged = i < numCarried && value == from.getArgument(i);
    bool isCarried = i < numCarried && !unchanged;
    yielded.push_back(isCarried ? apart(value, written, op.getLoc()) : buffers[value]);
  }
  plan::YieldOp::create(b, op.getLoc(), yielded, yield.getSizes());
  b.setInsertionPointAfter(loop);
  knowSymbols(op);
  return success();
}

} // namespace llmc
