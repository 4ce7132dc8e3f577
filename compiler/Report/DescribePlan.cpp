// Steps and buffers of a plan, for the report.
#include "compiler/Report/Report.h"
#include "passes/Plan/Lifetimes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace llmc {
namespace {

bool hasChannelsLast(func::FuncOp kernel) {
  bool found = false;
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<graph::ConvOp, graph::MaxPoolOp, graph::AveragePoolOp>(
        [&](auto window) { found |= window.getChannelsLast(); });
  });
  return found;
}

/// As in "channels last, weights p32.conv".
std::string layoutOf(func::FuncOp kernel) {
  std::string layout = hasChannelsLast(kernel) ? "channels last" : "";
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (auto encoding = kernel.getArgAttrOfType<StringAttr>(i, "graph.encoding"); encoding && encoding != "dense")
      layout += (layout.empty() ? "weights " : ", weights ") + encoding.str();
  return layout;
}

std::string deviceOf(plan::BodyOp body, plan::StepOpInterface step) {
  plan::ScheduleAttr schedule = step.getScheduleAttr();
  int64_t device = body.getQueues()[schedule ? schedule.getQueue() : 0];
  return cast<plan::DeviceAttr>(body.getDevices()[device]).getName().str();
}

StepReport describe(plan::BodyOp body, plan::StepOpInterface step, uint32_t time) {
  StepReport report{step->getName().stripDialect().str(), "", deviceOf(body, step), "", graph::sourceNames(step->getLoc()), time, false};
  if (auto dispatch = dyn_cast<plan::DispatchOp>(*step)) {
    report.kernel = dispatch.getKernel().str();
    report.inPlace = dispatch.isInPlace();
    if (auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(step, dispatch.getKernelAttr()))
      report.layout = layoutOf(kernel);
  }
  return report;
}

BufferReport describe(plan::ArenaOp arena, Lifetime time) {
  graph::DimExpr size = plan::byteSize(arena.getElement(), arena.getDims());
  return {graph::sourceNames(arena.getLoc()), size.str(), size.asConstant(), arena.getOffset(), time.first, time.last};
}

} // namespace

void describePlan(ModuleOp module, std::vector<StepReport> &steps, std::vector<BufferReport> &buffers) {
  plan::BodyOp body;
  module.walk([&](plan::BodyOp found) {
    body = found;
    return WalkResult::interrupt();
  });
  Lifetimes lifetimes(body);
  body.walk<WalkOrder::PreOrder>([&](plan::StepOpInterface step) { steps.push_back(describe(body, step, lifetimes.of(step).first)); });
  for (auto [root, time] : lifetimes.roots())
    if (auto arena = root.getDefiningOp<plan::ArenaOp>())
      buffers.push_back(describe(arena, time));
}

} // namespace llmc
