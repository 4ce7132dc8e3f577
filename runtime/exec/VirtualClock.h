//===- VirtualClock.h - What a run would take on the devices of a profile -----------------------------------------===//
//
// Each queue has a clock, which moves by the cost of its steps and waits for those of others as the steps do. It follows
// from the plan, the shapes and the profile alone, so it is the same in each run.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_EXEC_VIRTUALCLOCK_H
#define LLMC_RUNTIME_EXEC_VIRTUALCLOCK_H

#include "runtime/device/DeviceProfile.h"
#include "runtime/plan/ShapeState.h"
#include <algorithm>

namespace llmc::rt {

class VirtualClock {
public:
  /// `costs`: of the device of each queue.
  VirtualClock(const Program &program, std::vector<DeviceCosts> costs)
      : program(program), costs(std::move(costs)), queues(this->costs.size()), ends(program.steps.size()) {}

  void reset() { std::fill(queues.begin(), queues.end(), 0); }
  /// Once for each time that a step runs, in the order of the program.
  void run(const Program::Step &step, const ShapeState &shape);
  /// All queues wait for each other.
  void join() { std::fill(queues.begin(), queues.end(), now()); }
  /// When the last queue has ended, in nanoseconds after the start.
  int64_t now() const { return *std::max_element(queues.begin(), queues.end()); }

private:
  int64_t costOf(const Program::Step &step, const ShapeState &shape) const;

  const Program &program;
  const std::vector<DeviceCosts> costs;
  std::vector<int64_t> queues; // per queue: when it is free
  std::vector<int64_t> ends;   // per step
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXEC_VIRTUALCLOCK_H
