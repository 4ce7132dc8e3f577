// Dispatches on tensors -> steps on buffers.
#include "passes/Graph/Device.h"
#include "passes/Plan/Passes.h"
#include "passes/Plan/Planner.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_GRAPHTOPLANPASS
#include "passes/Plan/Passes.h.inc"

StringAttr Planner::boundaryName(ArrayAttr attributes, size_t index, StringRef fallback) {
  if (attributes)
    if (auto name = cast<DictionaryAttr>(attributes[index]).getAs<StringAttr>("graph.name"))
      return name;
  return b.getStringAttr(fallback + Twine(index));
}

Value Planner::viewOf(Value parent, Value tensor, Location loc) {
  return plan::ViewOp::create(b, loc, parent, graph::DimExpr::constant(b.getContext(), 0).attribute(), element(tensor), dims(tensor));
}

bool Planner::isOpen(ArrayRef<graph::DimExpr> exprs) const {
  bool open = false;
  for (graph::DimExpr expr : exprs)
    expr.forEachSymbol([&](StringRef name) { open |= unread.contains(name); });
  return open;
}

/// Tensors that a step makes and that are outputs, perhaps viewed, are made in the caller's buffer. An output whose size is not
/// read yet waits for that.
void Planner::bindOutputs() {
  Operation *terminator = function.getBody().front().getTerminator();
  outputBuffers.resize(terminator->getNumOperands());
  for (auto [index, tensor] : llvm::enumerate(terminator->getOperands())) {
    Value source = tensor;
    while (auto view = source.getDefiningOp<graph::ViewOp>())
      source = view.getX();
    if (outputBuffers[index] || isOpen(tensor) || isOpen(source))
      continue;
    auto output = plan::OutputOp::create(b, function.getLoc(), index, boundaryName(function.getResAttrsAttr(), index, "output"),
                                         element(tensor), dims(tensor));
    outputBuffers[index] = output;
    if (!isa_and_present<graph::DispatchOp, graph::IfOp, graph::LoopOp>(source.getDefiningOp()) || buffers.contains(source))
      continue;
    buffers[source] = source == tensor ? Value(output) : viewOf(output, source, source.getLoc());
    buffers.try_emplace(tensor, output);
  }
}

/// Outputs that are inputs, constants or the same tensor as another output.
void Planner::copyUnboundOutputs() {
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [output, tensor] : llvm::zip_equal(outputBuffers, terminator->getOperands()))
    if (plan::rootOf(buffers[tensor]) != output)
      plan::CopyOp::create(b, terminator->getLoc(), buffers[tensor], output);
}

/// The buffer that a step writes a tensor to.
Value Planner::placeOf(Value tensor, Location loc) {
  Value &place = buffers[tensor];
  if (!place)
    place = plan::ArenaOp::create(b, loc, element(tensor), dims(tensor));
  return place;
}

LogicalResult Planner::bindResults(graph::DispatchOp dispatch) {
  SmallVector<Value> bindings = llvm::map_to_vector(dispatch.getInputs(), [&](Value input) { return buffers.lookup(input); });
  for (Value result : dispatch.getResults())
    bindings.push_back(placeOf(result, dispatch.getLoc()));
  auto step = plan::DispatchOp::create(b, dispatch.getLoc(), dispatch.getCalleeAttr(), bindings,
                                       b.getI64IntegerAttr(dispatch.getNumResults()), dispatch.getSizes(), plan::ScheduleAttr());
  inheritDevice(dispatch, step);
  return success();
}

LogicalResult Planner::convertBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(convert(&op)))
      return failure();
  return success();
}

LogicalResult Planner::convert(Operation *op) {
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    // The encoding is that of the dispatch functions that read it; constants used in two encodings are two ops by then.
    auto encoding = constant->getAttrOfType<StringAttr>("graph.encoding");
    buffers[constant] = plan::ConstantOp::create(b, op->getLoc(), constant.getValue(), encoding ? encoding : b.getStringAttr("dense"));
    return success();
  }
  if (auto view = dyn_cast<graph::ViewOp>(op)) {
    buffers.try_emplace(view.getY(), viewOf(buffers.lookup(view.getX()), view.getY(), op->getLoc()));
    return success();
  }
  if (auto prefix = dyn_cast<graph::PrefixOp>(op)) {
    buffers[prefix.getY()] = viewOf(buffers.lookup(prefix.getX()), prefix.getY(), op->getLoc());
    return success();
  }
  if (auto read = dyn_cast<graph::ReadNumbersOp>(op)) {
    readNumbers(read);
    return success();
  }
  if (auto dispatch = dyn_cast<graph::DispatchOp>(op))
    return bindResults(dispatch);
  if (auto branch = dyn_cast<graph::IfOp>(op))
    return convertIf(branch);
  if (auto loop = dyn_cast<graph::LoopOp>(op))
    return convertLoop(loop);
  return op->emitError() << op->getName() << " can not run: it is neither a dispatch nor a view";
}

void Planner::readNumbers(graph::ReadNumbersOp op) {
  Value source = buffers.lookup(op.getX());
  int64_t size = element(op.getX()).getIntOrFloatBitWidth() / 8;
  for (auto [i, symbol] : llvm::enumerate(op.getSymbols().getAsRange<StringAttr>())) {
    graph::DimRange range = analysis.ranges().of(symbol.getValue());
    auto offset = graph::DimExpr::constant(b.getContext(), static_cast<int64_t>(i) * size).attribute();
    plan::ReadScalarOp::create(b, op.getLoc(), source, offset, symbol, b.getDenseI64ArrayAttr({range.lo, range.hi}), plan::ScheduleAttr());
  }
  buffers[op.getY()] = source;
  knowSymbols(op);
}

void Planner::knowSymbols(Operation *op) {
  for (StringRef symbol : graph::definedSymbols(op))
    unread.erase(symbol);
  addChecks();
  if (op->getParentOp() == function)
    bindOutputs();
}

/// What shape inference could not prove: pairs of sizes that must be equal. Each is checked as soon as its numbers are read.
void Planner::addChecks() {
  SmallVector<Attribute> later;
  for (Attribute check : std::exchange(checks, {})) {
    auto parts = cast<ArrayAttr>(check);
    if (isOpen({graph::DimExpr(parts[0]), graph::DimExpr(parts[1])})) {
      later.push_back(check);
      continue;
    }
    graph::DimExpr difference = graph::DimExpr(parts[0]) - graph::DimExpr(parts[1]);
    auto guard = plan::GuardAttr::get(b.getContext(), difference.attribute(), plan::CmpEnum::Eq, 0);
    plan::CheckOp::create(b, function.getLoc(), guard, cast<StringAttr>(parts[2]), plan::ScheduleAttr());
  }
  checks = std::move(later);
}

LogicalResult Planner::run() {
  if (analysis.failed())
    return failure();
  b.setInsertionPoint(function);
  auto symbols = function->getAttrOfType<DictionaryAttr>(symbolsAttrName);
  auto entry = plan::EntryOp::create(b, function.getLoc(), function.getNameAttr(), symbols ? symbols : b.getDictionaryAttr({}));
  b.setInsertionPointToStart(&entry.getBodies().emplaceBlock());
  auto host = function->getAttrOfType<plan::DeviceAttr>(deviceAttrName);
  if (!host)
    host = plan::DeviceAttr::get(b.getContext(), "cpu", plan::DeviceKindEnum::Cpu, 0, 0);
  b.setInsertionPointToStart(&plan::BodyOp::create(b, function.getLoc(), host.getName(), host).getSteps().front());
  for (auto [index, argument] : llvm::enumerate(function.getArguments()))
    buffers[argument] = plan::InputOp::create(b, argument.getLoc(), index, boundaryName(function.getArgAttrsAttr(), index, "input"),
                                              element(argument), dims(argument));
  if (auto all = function->getAttrOfType<ArrayAttr>(checksAttrName))
    checks = llvm::to_vector(all);
  function.walk([&](Operation *op) {
    for (StringRef symbol : graph::definedSymbols(op))
      unread.insert(symbol);
  });
  addChecks();
  bindOutputs();
  if (failed(convertBlock(function.getBody().front())))
    return failure();
  copyUnboundOutputs();
  function.erase();
  return success();
}

namespace {

struct GraphToPlanPass : impl::GraphToPlanPassBase<GraphToPlanPass> {
  using Base::Base;
  void runOnOperation() override {
    for (func::FuncOp function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function.isDeclaration() && !function->hasAttr("graph.dispatch") && failed(Planner(function).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace llmc
