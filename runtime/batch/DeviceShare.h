//===- DeviceShare.h - One device among several models: turns, urgency, memory ------------------------------------===//
//
// Start-time fair queueing on device time: a model's virtual time grows by predicted cost / weight when a batch starts
// and is corrected when it ends; the model with the smallest one is next. Urgent batches may jump the order within a
// share of the device's time, and pay all the same.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_DEVICESHARE_H
#define LLMC_RUNTIME_BATCH_DEVICESHARE_H

#include "runtime/batch/BatchConfig.h"
#include <algorithm>

namespace llmc::batch {

class DeviceShare {
public:
  DeviceShare(const DeviceConfig &config, size_t numModels)
      : config(config), urgentBudget(urgentLimit()), virtualTimes(numModels, 0) {}

  bool hasFreeSlot() const { return running_ < config.slots; }
  uint32_t running() const { return running_; }
  uint32_t slots() const { return config.slots; }
  int64_t memoryUsed() const { return memoryUsed_; }
  /// Bytes that a run may have at most, in an empty device.
  int64_t memoryFor(bool critical) const {
    return critical ? config.memoryBytes : config.memoryBytes / 100 * (100 - config.reservePercent);
  }
  bool fits(int64_t bytes, bool critical) const { return memoryUsed_ + bytes <= memoryFor(critical); }

  TimeNs virtualTime(uint32_t model) const { return virtualTimes[model]; }
  /// The model has work again: what it did not use is not saved up. `least`: of the backlogged, kNever without any.
  void wake(uint32_t model, TimeNs least) {
    if (least < kNever)
      virtualTimes[model] = std::max(virtualTimes[model], least);
  }

  bool mayJump(TimeNs now, TimeNs cost) const { return budgetAt(now) >= cost; }
  void jump(TimeNs now, TimeNs cost) {
    urgentBudget = budgetAt(now) - cost;
    budgetTime = now;
  }

  void start(TimeNs now, uint32_t model, uint32_t weight, TimeNs cost, int64_t bytes) {
    advance(now);
    ++running_;
    memoryUsed_ += bytes;
    virtualTimes[model] += cost * kScale / weight;
  }
  void end(TimeNs now, uint32_t model, uint32_t weight, TimeNs cost, TimeNs measured, int64_t bytes) {
    advance(now);
    --running_;
    memoryUsed_ -= bytes;
    virtualTimes[model] += (measured - cost) * kScale / weight;
  }
  /// Sum over the slots of the time that they have run until now.
  TimeNs busyTime(TimeNs now) const { return busy + (now - lastChange) * running_; }

private:
  static constexpr TimeNs kScale = 64; // so that a heavy weight does not round small costs to nothing

  TimeNs urgentLimit() const { return kSecond / 100 * config.urgentSharePercent; }
  TimeNs budgetAt(TimeNs now) const {
    TimeNs elapsed = std::min(now - budgetTime, kSecond);
    return std::min(urgentLimit(), urgentBudget + elapsed / 100 * config.urgentSharePercent);
  }
  void advance(TimeNs now) {
    busy = busyTime(now);
    lastChange = now;
  }

  DeviceConfig config;
  uint32_t running_ = 0;
  int64_t memoryUsed_ = 0;
  TimeNs urgentBudget, budgetTime = 0;
  TimeNs busy = 0, lastChange = 0;
  std::vector<TimeNs> virtualTimes; // per model, of device time x kScale / weight
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_DEVICESHARE_H
