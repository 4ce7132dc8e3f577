//===- RetryBudget.h - How often failed work may run again --------------------------------------------------------===//
//
// A token bucket that executions fill: a stream of poisoned requests can not multiply the load.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_RETRYBUDGET_H
#define LLMC_RUNTIME_BATCH_RETRYBUDGET_H

#include "runtime/batch/BatchConfig.h"
#include <algorithm>

namespace llmc::batch {

class RetryBudget {
public:
  explicit RetryBudget(const RetryConfig &config)
      : token(config.runsPerToken), limit(uint64_t(config.budget) * config.runsPerToken), parts(limit) {}

  void executed() { parts = std::min(parts + 1, limit); }
  bool hasToken() const { return parts >= token; }
  /// Only if there is one.
  void take() { parts -= token; }

private:
  uint64_t token, limit, parts; // a token has `token` parts
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_RETRYBUDGET_H
