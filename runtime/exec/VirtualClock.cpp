//===- VirtualClock.cpp - Costs of steps --------------------------------------------------------------------------===//

#include "runtime/exec/VirtualClock.h"

namespace llmc::rt {

int64_t VirtualClock::costOf(const Program::Step &step, const ShapeState &shape) const {
  const DeviceCosts &device = costs[step.queue];
  switch (step.kind) {
  case Program::StepKind::Dispatch:
    return device.ofKernel(shape.launches[step.index].bytes);
  case Program::StepKind::Fill:
    return device.ofKernel(shape.sizes[program.fills[step.index].dst]);
  case Program::StepKind::Copy:
    return device.ofCopy(shape.values[program.copies[step.index].length]);
  default:
    return 0;
  }
}

void VirtualClock::run(const Program::Step &step, const ShapeState &shape) {
  int64_t &queue = queues[step.queue];
  for (const Program::Point &point : program.pointsOf(step.waits))
    queue = std::max(queue, ends[point.signaller]);
  queue += costOf(step, shape);
  ends[size_t(&step - program.steps.data())] = queue;
}

} // namespace llmc::rt
