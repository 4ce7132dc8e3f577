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

/// Follows the steps of a body with what each device holds of each buffer by then.
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

  int64_t takeDevice(Operation *step);
  void place(Operation *step, int64_t device);
  Bytes &bytesOf(Value root);
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
  llvm::DenseMap<std::pair<Value, int64_t>, Value> copies; // of constants and views, per device
};

/// The number of the step's device in the body, and of its queue.
int64_t Transfers::takeDevice(Operation *step) {
  Attribute device = step->removeAttr(deviceAttrName);
  if (!device)
    return host;
  devices.insert(device);
  return llvm::find(devices, device) - devices.begin();
}

Transfers::Bytes &Transfers::bytesOf(Value root) {
  auto [found, isNew] = roots.try_emplace(root, root.getLoc());
  if (isNew && !root.getDefiningOp<plan::ArenaOp>()) // the caller's, in host memory
    found->second.places[host] = root;
  if (isNew && root.getDefiningOp<plan::InputOp>())
    found->second.valid.insert(host);
  return found->second;
}

/// The buffer as `device` sees it.
Value Transfers::on(Value buffer, int64_t device, OpBuilder &b) {
  Operation *op = buffer.getDefiningOp();
  if (auto constant = dyn_cast<plan::ConstantOp>(op); constant && device != host) {
    Value &copy = copies[{buffer, device}];
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
    Value &copy = copies[{buffer, device}];
    if (!copy) {
      copy = b.clone(*op)->getResult(0);
      copy.getDefiningOp<plan::ViewOp>().getParentMutable().assign(parent);
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
  return there = plan::ArenaOp::create(b, op->getLoc(), source.getElement(), source.getDims(), device, IntegerAttr());
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

void Transfers::place(Operation *step, int64_t device) {
  OpBuilder b(step);
  forEachAccess(step, [&](OpOperand &operand, bool writes) {
    Value root = plan::rootOf(operand.get());
    bool isConstant = isa<plan::ConstantOp>(root.getDefiningOp());
    if (!isConstant && (!writes || writesPart(operand)))
      bring(root, device, b);
    Value there = on(operand.get(), device, b);
    if (writes) {
      Bytes &bytes = bytesOf(root);
      bytes.valid.clear();
      bytes.valid.insert(device);
      bytes.writer = step->getLoc();
    }
    operand.set(there);
  });
  setQueue(step, device);
}

void Transfers::returnOutputs() {
  OpBuilder b = OpBuilder::atBlockEnd(&body.getSteps().front());
  for (auto output : body.getSteps().front().getOps<plan::OutputOp>())
    if (roots.contains(output))
      bring(output, host, b);
}

void Transfers::run() {
  for (auto step : llvm::to_vector(body.getSteps().front().getOps<plan::StepOpInterface>()))
    place(step, takeDevice(step));
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
      auto isElsewhere = [](Operation *op) { return op->hasAttr(deviceAttrName); };
      if (llvm::any_of(llvm::make_pointer_range(body.getSteps().front()), isElsewhere))
        Transfers(body).run();
    }
  }
};

} // namespace
} // namespace llmc
