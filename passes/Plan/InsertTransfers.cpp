// Buffers to the devices that use them.
#include "passes/Graph/Device.h"
#include "passes/Plan/Accesses.h"
#include "passes/Plan/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_INSERTTRANSFERSPASS
#include "passes/Plan/Passes.h.inc"
namespace {

constexpr int64_t host = 0;

/// Blocks get the symbols of `made`, which stands in one of them, from the blocks around.
void handOver(Operation *made) {
  llvm::SetVector<StringRef> symbols;
  made->getPropertiesAsAttribute().walk<WalkOrder::PreOrder>([&](graph::ExprAttr expr) {
    graph::DimExpr(expr).forEachSymbol([&](StringRef name) { symbols.insert(name); });
    return WalkResult::skip();
  });
  Operation *around = made->getParentOp();
  for (Operation *at = made; !symbols.empty() && !isa<plan::BodyOp>(around); at = around, around = around->getParentOp()) {
    for (Operation *earlier = at->getPrevNode(); earlier; earlier = earlier->getPrevNode())
      for (StringRef name : plan::definedSymbols(earlier))
        symbols.remove(name);
    auto loop = dyn_cast<plan::LoopOp>(around);
    if (loop && loop.getIteration())
      symbols.remove(*loop.getIteration());
    if (loop)
      for (StringRef name : loop.getSymbols().getAsValueRange<StringAttr>())
        symbols.remove(name);
    NamedAttrList frame(loop ? loop.getFrame() : cast<plan::IfOp>(around).getFrame());
    for (StringRef name : symbols)
      frame.set(name, graph::DimExpr::symbol(made->getContext(), name).attribute());
    around->setAttr("frame", frame.getDictionary(made->getContext()));
  }
}

/// Follows the steps of a body with what each device holds of each buffer by then. Blocks see the buffers of the blocks around them
/// where those are; what they write of them they write to the host's memory, where control flow hands bytes over, by their end.
class Transfers {
public:
  explicit Transfers(plan::BodyOp body) : body(body), devices(body.getDevices().begin(), body.getDevices().end()) {}
  void run();

private:
  /// The bytes of a buffer that is no view: where there is memory for them, and where that is up to date.
  struct Bytes {
    llvm::DenseMap<int64_t, Value> places;
    llvm::SmallSetVector<int64_t, 4> valid; // empty: not written yet
    Location writer;                        // or the buffer's own
    explicit Bytes(Location writer) : writer(writer) {}
  };

  int64_t deviceOf(Operation *step);
  void placeSteps(Block &block);
  void placeStep(Operation *step);
  void placeControl(Operation *step);
  void placeBlock(Block &block, ArrayRef<Value> written);
  Bytes &bytesOf(Value root);
  static void setValid(Bytes &bytes, int64_t device, Location writer) {
    bytes.valid.clear();
    bytes.valid.insert(device);
    bytes.writer = writer;
  }
  Value on(Value buffer, int64_t device, OpBuilder &b);
  void bring(Value root, int64_t device, OpBuilder &b);
  void returnOutputs();
  void setQueue(Operation *step, int64_t queue) {
    if (queue != host)
      step->setAttr("schedule", plan::ScheduleAttr::get(step->getContext(), queue, ArrayAttr(), ArrayAttr()));
  }

  plan::BodyOp body;
  llvm::SmallSetVector<Attribute, 4> devices;
  llvm::MapVector<Value, Bytes> roots;
  using Copies = llvm::DenseMap<std::pair<Value, int64_t>, Value>; // per device
  Copies constants, views;
};

/// The number of the step's device in the body, and of its queue.
int64_t Transfers::deviceOf(Operation *step) {
  Attribute device = llmc::deviceOf(step);
  if (!device)
    return host;
  devices.insert(device);
  return llvm::find(devices, device) - devices.begin();
}

Transfers::Bytes &Transfers::bytesOf(Value root) {
  auto [found, isNew] = roots.try_emplace(root, root.getLoc());
  if (isNew && !root.getDefiningOp<plan::ArenaOp>()) // the caller's, in host memory
    found->second.places[host] = root;
  if (isNew && isa<plan::InputOp, plan::ArgumentOp>(root.getDefiningOp()))
    found->second.valid.insert(host);
  return found->second;
}

/// The buffer as `device` sees it.
Value Transfers::on(Value buffer, int64_t device, OpBuilder &b) {
  Operation *op = buffer.getDefiningOp();
  if (auto constant = dyn_cast<plan::ConstantOp>(op); constant && device != host) {
    Value &copy = constants[{buffer, device}];
    if (!copy) {
      auto placed = cast<plan::ConstantOp>(OpBuilder(op).clone(*op));
      placed.setDevice(device);
      copy = placed;
    }
    return copy;
  }
  if (isa<plan::ConstantOp>(op))
    return buffer;
  if (auto view = dyn_cast<plan::ViewOp>(op)) {
    Value parent = on(view.getParent(), device, b);
    if (parent == view.getParent())
      return buffer;
    Value &copy = views[{buffer, device}];
    if (!copy) {
      copy = b.clone(*op)->getResult(0);
      copy.getDefiningOp<plan::ViewOp>().getParentMutable().assign(parent);
      handOver(copy.getDefiningOp());
    }
    return copy;
  }
  Bytes &bytes = bytesOf(buffer);
  Value &there = bytes.places[device];
  if (there)
    return there;
  auto arena = dyn_cast<plan::ArenaOp>(op);
  if (arena && bytes.places.size() == 1) { // the first use of it
    arena.setArena(device);
    return there = buffer;
  }
  auto source = cast<plan::BufferOpInterface>(op);
  there = plan::ArenaOp::create(b, op->getLoc(), source.getElement(), source.getDims(), device, IntegerAttr());
  handOver(there.getDefiningOp());
  return there;
}

/// Makes sure that `device` has the bytes of `root`, if there are any yet.
void Transfers::bring(Value root, int64_t device, OpBuilder &b) {
  Bytes &bytes = bytesOf(root);
  if (bytes.valid.empty() || bytes.valid.contains(device))
    return;
  int64_t from = bytes.valid.front();
  Value target = on(root, device, b), source = bytes.places.lookup(from);
  auto copy = plan::CopyOp::create(b, bytes.writer, source, target);
  setQueue(copy, device == host ? from : device);
  bytes.valid.insert(device);
}

/// Whether the step leaves some bytes of the buffer behind `operand` as they are.
static bool writesPart(OpOperand &operand) {
  if (auto copy = dyn_cast<plan::CopyOp>(operand.getOwner()); copy && (copy.getTargetOffset() || copy.getLength()))
    return true;
  auto size = [](Value buffer) {
    auto op = buffer.getDefiningOp<plan::BufferOpInterface>();
    return plan::byteSize(op.getElement(), op.getDims());
  };
  return size(operand.get()) != size(plan::rootOf(operand.get()));
}

void Transfers::placeStep(Operation *step) {
  OpBuilder b(step);
  int64_t device = deviceOf(step);
  step->removeAttr(deviceAttrName);
  forEachAccess(step, [&](OpOperand &operand, bool writes) {
    Value root = plan::rootOf(operand.get());
    bool isConstant = isa<plan::ConstantOp>(root.getDefiningOp());
    if (!isConstant && (!writes || writesPart(operand)))
      bring(root, device, b);
    Value there = on(operand.get(), device, b);
    if (writes)
      setValid(bytesOf(root), device, step->getLoc());
    operand.set(there);
  });
  setQueue(step, device);
}

/// What its blocks only read is brought before it to the devices that read it: a loop does not copy it in each trip.
void Transfers::placeControl(Operation *step) {
  OpBuilder b(step);
  llvm::SetVector<std::pair<Value, int64_t>> read;
  llvm::SetVector<Value> written;
  forEachAccess(step, [&](OpOperand &operand, bool writes) {
    Value root = plan::rootOf(operand.get());
    if (writes)
      written.insert(root);
    else if (!isa<plan::ConstantOp>(root.getDefiningOp()))
      read.insert({root, deviceOf(operand.getOwner())});
  });
  for (Value root : written)
    read.insert({root, host});
  for (auto [root, device] : read) {
    if (device != host && written.contains(root))
      continue;
    on(root, device, b);
    bring(root, device, b);
  }
  if (auto loop = dyn_cast<plan::LoopOp>(step))
    for (Value carried : loop.getCarried())
      setValid(bytesOf(plan::rootOf(carried)), host, step->getLoc());
  for (OpOperand &operand : step->getOpOperands())
    operand.set(on(operand.get(), host, b));
  for (Value root : written)
    if (Bytes &bytes = bytesOf(root); !bytes.valid.empty())
      setValid(bytes, host, bytes.writer);
  for (Region &region : step->getRegions())
    if (!region.empty())
      placeBlock(region.front(), written.getArrayRef());
  for (Value root : written)
    setValid(bytesOf(root), host, step->getLoc());
}

/// What is placed inside of the block is not seen from outside.
void Transfers::placeBlock(Block &block, ArrayRef<Value> written) {
  auto rootsBefore = roots;
  Copies viewsBefore = views;
  placeSteps(block);
  OpBuilder b(block.getTerminator());
  for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
    if (Value root = plan::rootOf(operand.get()); !isa<plan::ConstantOp>(root.getDefiningOp()))
      bring(root, host, b);
    operand.set(on(operand.get(), host, b));
  }
  for (Value root : written)
    bring(root, host, b);
  roots = std::move(rootsBefore);
  views = std::move(viewsBefore);
}

void Transfers::placeSteps(Block &block) {
  for (auto step : llvm::to_vector(block.getOps<plan::StepOpInterface>())) {
    if (step->getNumRegions() > 0)
      placeControl(step);
    else
      placeStep(step);
  }
}

void Transfers::returnOutputs() {
  OpBuilder b = OpBuilder::atBlockEnd(&body.getSteps().front());
  for (auto output : body.getSteps().front().getOps<plan::OutputOp>())
    if (roots.contains(output))
      bring(output, host, b);
}

void Transfers::run() {
  placeSteps(body.getSteps().front());
  returnOutputs();
  OpBuilder b(body);
  SmallVector<Attribute> arenas;
  SmallVector<int64_t> queues;
  for (int64_t i = 0; i < static_cast<int64_t>(devices.size()); ++i) {
    auto space = i == host ? plan::SpaceEnum::Host : plan::SpaceEnum::Device;
    arenas.push_back(plan::ArenaAttr::get(b.getContext(), i, space, 64));
    queues.push_back(i);
  }
  body.setDevicesAttr(b.getArrayAttr(devices.getArrayRef()));
  body.setArenasAttr(b.getArrayAttr(arenas));
  body.setQueues(queues);
}

struct InsertTransfersPass : impl::InsertTransfersPassBase<InsertTransfersPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto body : getOperation().getBodies().front().getOps<plan::BodyOp>()) {
      auto isElsewhere = [](Operation *op) { return op->hasAttr(deviceAttrName) ? WalkResult::interrupt() : WalkResult::advance(); };
      if (body.walk(isElsewhere).wasInterrupted())
        Transfers(body).run();
    }
  }
};

} // namespace
} // namespace llmc
