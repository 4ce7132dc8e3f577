// Segments of a plan and what crosses between devices, for the report.
#include "compiler/Report/Report.h"
#include "passes/Plan/Accesses.h"

using namespace mlir;

namespace llmc {
namespace {

std::string nameOf(plan::BodyOp body, int64_t device) { return cast<plan::DeviceAttr>(body.getDevices()[device]).getName().str(); }

bool isCrossing(plan::BodyOp body, plan::StepOpInterface step) {
  auto copy = dyn_cast<plan::CopyOp>(*step);
  return copy && body.deviceOf(copy.getSource()) != body.deviceOf(copy.getTarget());
}

CrossingReport describe(plan::BodyOp body, plan::CopyOp copy) {
  auto buffer = copy.getSource().getDefiningOp<plan::BufferOpInterface>();
  std::string type;
  llvm::raw_string_ostream os(type);
  os << buffer.getElement() << '[';
  llvm::interleave(graph::dimsOf(buffer.getDims()), os, [&](graph::DimExpr dim) { os << dim.str(); }, ",");
  os << ']';
  return {type, nameOf(body, body.deviceOf(copy.getSource())), nameOf(body, body.deviceOf(copy.getTarget())),
          graph::sourceNames(copy.getLoc()), plan::byteSize(buffer.getElement(), buffer.getDims()).str()};
}

} // namespace

void describeDevices(ModuleOp module, std::vector<SegmentReport> &segments, std::vector<CrossingReport> &crossings) {
  module.walk([&](plan::BodyOp body) {
    std::optional<int64_t> queue;
    body.walk<WalkOrder::PreOrder>([&](plan::StepOpInterface step) {
      if (queue != queueOf(step))
        segments.push_back({nameOf(body, body.getQueues()[queueOf(step)]), {}});
      queue = queueOf(step);
      if (isCrossing(body, step))
        crossings.push_back(describe(body, cast<plan::CopyOp>(*step)));
      else
        llvm::append_range(segments.back().nodes, graph::sourceNames(step->getLoc()));
    });
    return WalkResult::interrupt(); // the first body, as describePlan
  });
}

} // namespace llmc
