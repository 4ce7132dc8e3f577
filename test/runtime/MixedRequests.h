//===- MixedRequests.h - Requests of all kinds, for the tests that send many --------------------------------------===//
#ifndef LLMC_TEST_RUNTIME_MIXEDREQUESTS_H
#define LLMC_TEST_RUNTIME_MIXEDREQUESTS_H

#include "llmc/llmc.hpp"
#include "test/runtime/PlanBuilder.h"
#include <random>

namespace llmc::test {

/// Several artifacts, loaded once for all clients.
struct SharedPlans {
  explicit SharedPlans(int threads);
  Options options;
  PageAligned sumFile, compressFile, loopFile, devicesFile, deviceLoopFile, endlessFile;
  Plan sum, compress, loop, devices, deviceLoop, endless;
};

/// One line of requests, with sessions of its own. Checks each answer.
class MixedClient {
public:
  MixedClient(const SharedPlans &plans, uint64_t seed);
  /// At a random size, of a random kind: most are good, some are refused, fail, are cancelled, or load an artifact anew.
  void request();

private:
  int64_t draw(int64_t lo, int64_t hi) { return lo + int64_t(random() % uint64_t(hi - lo + 1)); }
  void sumOf(Session &session, int64_t n);
  void compressed();
  void looped(int64_t steps, bool flag);
  void onDevices();
  void loopedOnDevices();
  void refusedShape();
  void failedCheck();
  void cancelled();
  void loadedAnew();

  const SharedPlans &plans;
  std::mt19937_64 random;
  Session sum, compress, loop, devices, deviceLoop, endless;
  std::vector<float> a, b;
};

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_MIXEDREQUESTS_H
