//===- AdaptiveControl.cpp - Delay and batch size that follow the load --------------------------------------------===//

#include "runtime/batch/AdaptiveControl.h"
#include <algorithm>

namespace llmc::batch {

AdaptiveControl::AdaptiveControl(const ModelConfig &model, uint32_t cap)
    : variants(runnableVariants(model)), slo(model.sloP99), target(model.execP95), freeDevice(model.freeDevice),
      maxRows(cap), delay_(model.delay), cap_(cap) {}

void AdaptiveControl::executed(uint32_t executedRows, TimeNs time) {
  ++runs;
  rows += executedRows;
  if (target == 0)
    return;
  if (time > target) {
    auto above = std::lower_bound(variants.begin(), variants.end(), std::max<uint32_t>(1, cap_ * 9 / 10));
    cap_ = above == variants.begin() ? variants.front() : *(above - 1);
    cap_ = std::min(cap_, maxRows);
    goodRuns = 0;
  } else if (++goodRuns >= kRunsToGrow) {
    auto above = std::upper_bound(variants.begin(), variants.end(), cap_);
    cap_ = above == variants.end() ? maxRows : std::min(*above, maxRows);
    goodRuns = 0;
  }
}

TimeNs AdaptiveControl::nextDelay(const Load &load) const {
  TimeNs p99 = latencies.percentile(9900), step = std::max<TimeNs>(1, load.singleCost / 8);
  bool sparse = runs > 0 && rows * 2 < runs * maxRows;
  if (p99 > slo)
    return delay_ / 2 < step ? 0 : delay_ / 2;
  if (p99 * 10 < slo * 7 && load.busyPercent > 85 && sparse && (load.shared || freeDevice))
    return std::min(slo / 4, std::max(2 * delay_, step));
  if (load.busyPercent < 60)
    return delay_ - delay_ / 4;
  return delay_;
}

void AdaptiveControl::adapt(TimeNs now, const Load &load) {
  if (latencies.count() >= kEnoughCompletions)
    delay_ = nextDelay(load);
  windowStart = now;
  latencies.clear();
  runs = rows = 0;
}

uint32_t rowsWithinSlo(TimeNs slo, uint32_t instances, uint32_t cap, TimeNs costOfCap) {
  TimeNs room = std::max<TimeNs>(0, slo - 2 * costOfCap);
  __int128 rows = __int128(room) * instances * cap / costOfCap;
  return uint32_t(std::clamp<__int128>(rows, cap, 1 << 30));
}

} // namespace llmc::batch
