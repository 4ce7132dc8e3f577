// Entries and bodies: boundaries, resources, and whether each symbol is known where it is used.
#include "dialects/Plan/Plan.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/Plan/BodyOps.cpp.inc"

namespace llmc::plan {

void PlanDialect::registerBodyOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/BodyOps.cpp.inc"
      >();
}

/// Inputs, outputs or states of a body, by index: an output stands behind what makes its dims known.
template <typename Boundary> static SmallVector<Boundary> boundary(BodyOp body) {
  auto all = llvm::to_vector(body.getSteps().front().getOps<Boundary>());
  llvm::sort(all, [](Boundary a, Boundary b) { return a.getIndex() < b.getIndex(); });
  return all;
}

template <typename Boundary> static LogicalResult verifySameBoundary(BodyOp first, BodyOp body, StringRef what) {
  SmallVector<Boundary> expected = boundary<Boundary>(first), found = boundary<Boundary>(body);
  if (expected.size() != found.size())
    return body.emitOpError() << "has " << found.size() << " " << what << ", the first body has " << expected.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(expected, found))) {
    auto [one, other] = pair;
    if (static_cast<size_t>(other.getIndex()) != i)
      return other.emitOpError() << "has index " << other.getIndex() << ", but is number " << i << " of the " << what;
    if (one->getPropertiesAsAttribute() != other->getPropertiesAsAttribute())
      return (other.emitOpError() << "differs from that of the first body").attachNote(one.getLoc()) << "which is here";
  }
  return success();
}

LogicalResult EntryOp::verifyRegions() {
  for (NamedAttribute symbol : getSymbols()) {
    auto range = dyn_cast<DenseI64ArrayAttr>(symbol.getValue());
    if (!range || range.size() != 2 || range[0] > range[1])
      return emitOpError() << "expects a range, array<i64: low, high>, for symbol " << symbol.getName();
  }
  auto bodies = getBodies().front().getOps<BodyOp>();
  if (bodies.empty())
    return emitOpError() << "has no body";
  for (Operation &op : getBodies().front())
    if (!isa<BodyOp>(op))
      return op.emitOpError() << "stands in an entry, which holds bodies only";
  for (BodyOp body : bodies)
    if (failed(verifySameBoundary<InputOp>(*bodies.begin(), body, "inputs")) ||
        failed(verifySameBoundary<OutputOp>(*bodies.begin(), body, "outputs")) ||
        failed(verifySameBoundary<StateOp>(*bodies.begin(), body, "states")))
      return failure();
  return success();
}

void BodyOp::build(OpBuilder &builder, OperationState &state, StringRef name, DeviceAttr device) {
  build(builder, state, builder.getStringAttr(name), builder.getArrayAttr(device), ArrayAttr(), builder.getI64IntegerAttr(0),
        builder.getDenseI64ArrayAttr(0), builder.getI64IntegerAttr(0), ArrayAttr(), IntegerAttr(), IntegerAttr());
  state.regions.front()->emplaceBlock();
}

SmallVector<ArenaAttr> BodyOp::arenaList() {
  if (std::optional<ArrayAttr> arenas = getArenas())
    return llvm::to_vector(arenas->getAsRange<ArenaAttr>());
  return {ArenaAttr::get(getContext(), 0, SpaceEnum::Host, 64)};
}

int64_t BodyOp::deviceOf(Value buffer) {
  Operation *root = rootOf(buffer).getDefiningOp();
  if (auto arena = dyn_cast<ArenaOp>(root))
    return arenaList()[arena.getArena()].getDevice();
  auto constant = dyn_cast<ConstantOp>(root);
  return constant ? constant.getDevice() : getQueues()[0];
}

LogicalResult BodyOp::verify() {
  int64_t devices = getDevices().size();
  if (devices == 0 || getQueues().empty())
    return emitOpError() << "has " << devices << " devices and " << getQueues().size() << " queues, expects some of both";
  for (int64_t device : getQueues())
    if (device < 0 || device >= devices)
      return emitOpError() << "has a queue on device " << device << " of " << devices;
  for (ArenaAttr arena : arenaList())
    if (arena.getDevice() < 0 || arena.getDevice() >= devices)
      return emitOpError() << "has an arena on device " << arena.getDevice() << " of " << devices;
  return success();
}

namespace {

/// Walks the blocks of a body with the symbols known so far.
class BodyVerifier {
public:
  explicit BodyVerifier(BodyOp body) : body(body) {}
  LogicalResult verify();

private:
  using Symbols = llvm::StringSet<>;
  LogicalResult verifyBlock(Block &block, Symbols known);
  LogicalResult verifyUses(Operation *op, Attribute attribute, const Symbols &known);
  LogicalResult verifyInner(Operation &op);
  LogicalResult verifySchedule(Operation *op, ScheduleAttr schedule);

  BodyOp body;
};

LogicalResult BodyVerifier::verifyUses(Operation *op, Attribute attribute, const Symbols &known) {
  std::string missing;
  attribute.walk<WalkOrder::PreOrder>([&](graph::ExprAttr expr) {
    graph::DimExpr(expr).forEachSymbol([&](StringRef name) {
      if (!known.contains(name))
        missing = name.str();
    });
    return WalkResult::skip();
  });
  if (missing.empty())
    return success();
  if (op->getParentOp() == body || op == body)
    return op->emitError() << "the symbolic dim " << missing
                           << " is no dim of any input by itself and not read before, so its value can not be known";
  return op->emitOpError() << "uses the symbol " << missing << ", which its frame does not have";
}

LogicalResult BodyVerifier::verifySchedule(Operation *op, ScheduleAttr schedule) {
  int64_t queues = body.getQueues().size(), semaphores = body.getSemaphores();
  if (schedule.getQueue() < 0 || schedule.getQueue() >= queues)
    return op->emitOpError() << "runs on queue " << schedule.getQueue() << " of " << queues;
  for (ArrayAttr points : {schedule.getWait(), schedule.getSignal()})
    for (Attribute point : points ? points.getValue() : ArrayRef<Attribute>())
      if (int64_t semaphore = cast<PointAttr>(point).getSemaphore(); semaphore < 0 || semaphore >= semaphores)
        return op->emitOpError() << "names semaphore " << semaphore << " of " << semaphores;
  return success();
}

LogicalResult BodyVerifier::verifyInner(Operation &op) {
  Symbols symbols;
  if (auto branch = dyn_cast<IfOp>(op)) {
    for (auto &[name, value] : frameArguments(branch.getFrame()))
      symbols.insert(name);
    for (Region *region : {&branch.getThenBlock(), &branch.getElseBlock()})
      if (!region->empty() && failed(verifyBlock(region->front(), symbols)))
        return failure();
  } else if (auto loop = dyn_cast<LoopOp>(op)) {
    for (auto &[name, value] : frameArguments(loop.getFrame()))
      symbols.insert(name);
    for (StringRef name : loop.getSymbols().getAsValueRange<StringAttr>())
      if (!symbols.insert(name).second)
        return op.emitOpError() << "carries the size " << name << ", which its frame has already";
    if (loop.getIteration() && !symbols.insert(*loop.getIteration()).second)
      return op.emitOpError() << "counts trips in " << *loop.getIteration() << ", which its frame has already";
    return verifyBlock(loop.getBlock().front(), symbols);
  }
  return success();
}

/// A loop's own symbols are known in its block, and what it yields is checked there.
static Attribute usesOf(Operation &op) {
  if (auto loop = dyn_cast<LoopOp>(op))
    return ArrayAttr::get(op.getContext(), {loop.getTripsAttr(), loop.getFrame(), loop.getStart()});
  return op.getPropertiesAsAttribute();
}

/// Buffers whose sizes a step may make known when it writes them.
static SmallVector<Value> writtenBy(Operation &op) {
  SmallVector<Value> buffers;
  if (auto branch = dyn_cast<IfOp>(op)) {
    buffers.append(branch.getGiven().begin(), branch.getGiven().end());
  } else if (auto loop = dyn_cast<LoopOp>(op)) {
    buffers.append(loop.getCarried().begin(), loop.getCarried().end());
    buffers.append(loop.getCollected().begin(), loop.getCollected().end());
  }
  return buffers;
}

LogicalResult BodyVerifier::verifyBlock(Block &block, Symbols known) {
  llvm::SmallPtrSet<Operation *, 8> later;
  for (Operation &op : block)
    for (Value result : writtenBy(op))
      if (Operation *buffer = result.getDefiningOp(); buffer->getBlock() == &block)
        later.insert(buffer);
  for (Operation &op : block) {
    Attribute uses = usesOf(op);
    if (uses && !later.contains(&op) && failed(verifyUses(&op, uses, known)))
      return failure();
    if (auto step = dyn_cast<StepOpInterface>(op); step && step.getScheduleAttr())
      if (failed(verifySchedule(step, step.getScheduleAttr())))
        return failure();
    if (auto arena = dyn_cast<ArenaOp>(op)) {
      int64_t arenas = body.arenaList().size(), number = arena.getArena();
      if (number < 0 || number >= arenas)
        return op.emitOpError() << "lies in arena " << number << " of " << arenas;
    }
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      int64_t devices = body.getDevices().size(), number = constant.getDevice();
      if (number < 0 || number >= devices)
        return op.emitOpError() << "lies on device " << number << " of " << devices;
    }
    if (failed(verifyInner(op)))
      return failure();
    for (StringRef symbol : definedSymbols(&op))
      if (!known.insert(symbol).second)
        return op.emitOpError() << "defines the symbol " << symbol << " a second time";
    for (Value buffer : writtenBy(op)) {
      Operation *owner = buffer.getDefiningOp();
      if (owner->getBlock() == &block && failed(verifyUses(owner, owner->getPropertiesAsAttribute(), known)))
        return failure();
    }
  }
  return success();
}

LogicalResult BodyVerifier::verify() {
  Symbols symbols;
  Block &block = body.getSteps().front();
  for (auto input : block.getOps<InputOp>())
    for (graph::DimExpr dim : graph::dimsOf(input.getDims()))
      if (dim.kind() == graph::DimExpr::Kind::Symbol)
        symbols.insert(dim.symbolName());
  if (body.getGuardsAttr() && failed(verifyUses(body, body.getGuardsAttr(), symbols)))
    return failure();
  return verifyBlock(block, symbols);
}

} // namespace

LogicalResult BodyOp::verifyRegions() { return BodyVerifier(*this).verify(); }

} // namespace llmc::plan
