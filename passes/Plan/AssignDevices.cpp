// Ops to devices, by name.
#include "passes/Graph/Device.h"
#include "passes/Plan/DeviceOptions.h"
#include "passes/Plan/Passes.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_ASSIGNDEVICESPASS
#include "passes/Plan/Passes.h.inc"
namespace {

/// Whether the op computes something at run time that another device than the host can do.
bool canMove(Operation *op) {
  return op->getNumRegions() == 0 && !isa<graph::ConstantOp, graph::ViewOp, graph::ReadNumbersOp, graph::SizeOp>(op) &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

struct AssignDevicesPass : impl::AssignDevicesPassBase<AssignDevicesPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    DeviceOptions options;
    std::string problem;
    for (const std::string &text : devices)
      problem += options.addDevice(text);
    for (const std::string &text : pins)
      problem += options.addPin(text);
    if (!problem.empty())
      return emitError(UnknownLoc::get(context)) << problem;
    host = plan::DeviceAttr::get(context, options.hostName(), plan::DeviceKindEnum::Cpu, 0, 0);
    for (const DeviceOptions::Device &device : options.devices)
      attributes.push_back(plan::DeviceAttr::get(context, device.name, device.kind, device.ordinal, 0));
    for (const DeviceOptions::Pin &pin : options.pins)
      patterns.emplace_back(pin.device, std::make_shared<llvm::Regex>(pin.pattern));
    return success();
  }

  void runOnOperation() override {
    if (attributes.empty())
      return;
    getOperation()->setAttr(deviceAttrName, host);
    WalkResult all = getOperation().getBody().walk([&](Operation *op) { return WalkResult(assign(op)); });
    if (all.wasInterrupted())
      signalPassFailure();
  }

  /// The last pin that matches any of the op's nodes counts.
  LogicalResult assign(Operation *op) {
    plan::DeviceAttr device = attributes.front();
    bool isPinned = false;
    std::vector<std::string> names = graph::sourceNames(op->getLoc());
    for (auto &[index, pattern] : patterns)
      if (llvm::any_of(names, [&, &pattern = pattern](const std::string &name) { return pattern->match(name); })) {
        device = attributes[index];
        isPinned = true;
      }
    if (device == host)
      return success();
    if (canMove(op)) {
      op->setAttr(deviceAttrName, device);
      return success();
    }
    if (isPinned && op->getNumRegions() > 0)
      return op->emitError() << "is pinned to '" << device.getName() << "', but control flow runs on the host";
    return success();
  }

  plan::DeviceAttr host;
  SmallVector<plan::DeviceAttr> attributes;
  SmallVector<std::pair<size_t, std::shared_ptr<llvm::Regex>>> patterns; // device and what it is for
};

} // namespace
} // namespace llmc
