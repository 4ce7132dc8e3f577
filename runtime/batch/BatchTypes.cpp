//===- BatchTypes.cpp - Names of outcomes and reasons -------------------------------------------------------------===//

#include "runtime/batch/BatchTypes.h"

namespace llmc::batch {

const char *name(Outcome outcome) {
  static const char *const names[kNumOutcomes] = {"done", "failed", "rejected", "expired", "cancelled"};
  return names[unsigned(outcome)];
}

const char *name(Reason reason) {
  static const char *const names[kNumReasons] = {
      "none",        "bad_input",  "too_large", "not_found",           "not_ready",     "draining",
      "quarantined", "queue_full", "evicted",   "deadline_infeasible", "queue_timeout", "deadline",
      "breaker",     "row_fault",  "exec",      "batch_aborted",       "oom",           "cancelled"};
  return names[unsigned(reason)];
}

} // namespace llmc::batch
