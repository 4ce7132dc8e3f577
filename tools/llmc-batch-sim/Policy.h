//===- Policy.h - Who decides what runs when ----------------------------------------------------------------------===//
//
// The batcher itself, unchanged, and for comparison what others do. All are driven by the same events.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_POLICY_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_POLICY_H

#include "runtime/batch/BatcherCore.h"
#include <string>

namespace llmc::sim {

/// What a policy does in a step.
class Listener {
public:
  virtual ~Listener() = default;
  struct Run {
    uint32_t id; // comes back with the completion
    uint32_t instance, model, bucket;
    uint32_t rows, executed; // that were asked for, and with padding
    std::span<const uint64_t> requests;
  };
  virtual void started(const Run &run) = 0;
  virtual void finished(uint64_t id, batch::Outcome outcome, batch::Reason reason) = 0;
};

class Policy {
public:
  virtual ~Policy() = default;
  virtual void arrive(batch::TimeNs now, const batch::Arrival &arrival) = 0;
  virtual void complete(batch::TimeNs now, uint32_t run, batch::BatchFault fault) = 0;
  virtual void cancel(batch::TimeNs now, uint64_t id) = 0;
  virtual void step(batch::TimeNs now, Listener &listener) = 0;
  virtual batch::TimeNs nextWakeup() const = 0;
};

/// Names: ours none fixed triton tf aimd. All but `ours` take the first bucket of the first model alone, its delay,
/// variants, sizes and SLO; they have neither classes nor deadlines, and with them nothing fails or is cancelled. An
/// unknown name is an error.
std::unique_ptr<Policy> makePolicy(const std::string &name, const batch::BatcherConfig &config);
inline constexpr const char *kPolicyNames[] = {"ours", "none", "fixed", "triton", "tf", "aimd"};

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_POLICY_H
