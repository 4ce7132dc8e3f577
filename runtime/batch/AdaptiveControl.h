//===- AdaptiveControl.h - Delay and batch size that follow the load ----------------------------------------------===//
//
// Delay: waiting never helps the waiting model, it frees device time. So it grows only when the device is nearly
// saturated by small batches, somebody else needs it and the SLO has room; it halves at once when the SLO is missed.
// One change per window, none without samples. Size: one variant up after 32 runs within the target, down on a miss
// (Clipper's scheme).
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_ADAPTIVECONTROL_H
#define LLMC_RUNTIME_BATCH_ADAPTIVECONTROL_H

#include "runtime/batch/BatchConfig.h"
#include "runtime/batch/LatencyHistogram.h"

namespace llmc::batch {

class AdaptiveControl {
public:
  static constexpr TimeNs kWindow = kSecond;
  static constexpr uint64_t kEnoughCompletions = 200;
  static constexpr uint32_t kRunsToGrow = 32;

  AdaptiveControl(const ModelConfig &model, uint32_t cap);

  TimeNs delay() const { return delay_; }
  /// Of the rows of a batch.
  uint32_t cap() const { return cap_; }

  void completed(TimeNs latency) {
    if (slo > 0)
      latencies.add(latency);
  }
  void executed(uint32_t rows, TimeNs time);

  struct Load {
    uint32_t busyPercent; // of the device, over all models
    bool shared;          // with another model
    TimeNs singleCost;    // of a run of the smallest variant
  };
  bool windowIsOver(TimeNs now) const { return slo > 0 && now >= windowStart + kWindow; }
  /// Ends the window.
  void adapt(TimeNs now, const Load &load);

private:
  TimeNs nextDelay(const Load &load) const;

  std::vector<uint32_t> variants;
  TimeNs slo, target; // 0: off
  bool freeDevice;
  uint32_t maxRows;
  TimeNs delay_;
  uint32_t cap_;
  uint32_t goodRuns = 0;
  TimeNs windowStart = 0;
  LatencyHistogram latencies;  // of the window
  uint64_t runs = 0, rows = 0; // of the window
};

/// Rows that may wait so that the last of them is answered within the SLO; never fewer than one batch.
uint32_t rowsWithinSlo(TimeNs slo, uint32_t instances, uint32_t cap, TimeNs costOfCap);

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_ADAPTIVECONTROL_H
