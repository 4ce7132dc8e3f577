//===- BatchSimTest.cpp - The simulator against theory, an optimum and itself -------------------------------------===//

#include "tools/llmc-batch-sim/Policy.h"
#include "tools/llmc-batch-sim/Recommend.h"
#include <gtest/gtest.h>
#include <map>

namespace llmc::test {
namespace {

using namespace llmc::batch;
using namespace llmc::sim;

/// Debug builds are slow, and sanitizers more so; theirs is the code, not the statistics.
#ifdef NDEBUG
constexpr uint64_t kMany = 1'000'000;
constexpr double kClose = 0.01;
#else
constexpr uint64_t kMany = 20'000;
constexpr double kClose = 0.1;
#endif

Scenario scenarioOf(CostTable cost, double rate, uint64_t requests, uint64_t seed = 1) {
  Scenario scenario;
  ModelConfig model;
  model.name = "m";
  model.variants = cost.rows;
  model.buckets = {BucketConfig{cost.cost, 0}};
  model.breaker.minRequests = 0;
  model.maxQueuedRows = kUnlimited;
  scenario.config.models = {model};
  scenario.config.instances = {InstanceConfig{}};
  scenario.config.maxRequests = uint32_t(std::min<uint64_t>(requests + 1, 1 << 15)); // making a large table takes time
  ModelLoad load;
  load.arrivals.rate = rate;
  load.costs = {std::move(cost)};
  scenario.loads = {load};
  scenario.requests = requests;
  scenario.seed = seed;
  return scenario;
}

CostTable usual() { return CostTable::fromFormula({1, 2, 4, 8, 16}, 4, 0.5); }

/// One row at a time, 1 ms each, half loaded: the mean wait is rho / (2 (1 - rho)) of a run, or twice that with
/// exponential runs.
TEST(BatchSim, one_at_a_time_waits_as_theory_says) {
  for (Jitter jitter : {Jitter::None, Jitter::Exponential}) {
    Scenario scenario = scenarioOf(CostTable::fromFormula({1}, 1, 0), 500, kMany);
    scenario.loads[0].jitter = jitter;
    double expected = jitter == Jitter::None ? 0.5 : 1.0;
    Report report = simulate(scenario);
    ASSERT_EQ(report.done, kMany);
    EXPECT_NEAR(report.meanMs - 1, expected, expected * kClose);
    EXPECT_NEAR(report.busy, 0.5, 0.5 * kClose);
  }
}

/// Where requests are rare each finds threads that sleep; where they come as fast as they are served, none does.
TEST(BatchSim, a_run_after_a_pause_wakes_up_first) {
  Scenario scenario = scenarioOf(CostTable::fromFormula({1}, 1, 0), 1, 1000);
  scenario.loads[0].wake = 2 * kMillisecond;
  EXPECT_NEAR(simulate(scenario).p50Ms, 3, 1e-6);
  scenario.loads[0].arrivals.kind = ArrivalKind::Closed;
  scenario.loads[0].arrivals.clients = 2;
  EXPECT_NEAR(simulate(scenario).p50Ms, 2, 1e-6); // its own run and that of the other
}

TEST(BatchSim, full_batches_bound_what_is_served) {
  double capacity = 16 / 0.012;
  Scenario below = scenarioOf(usual(), 0.95 * capacity, 20000), above = scenarioOf(usual(), 1.5 * capacity, 20000);
  EXPECT_LT(simulate(below).maxMs, 500);
  Report report = simulate(above);
  EXPECT_NEAR(report.throughput(), capacity, 0.01 * capacity);
  EXPECT_GT(report.maxMs, 2000) << "the queue grows without bound";
}

TEST(BatchSim, the_same_scenario_gives_the_same_hash_and_another_seed_another) {
  for (ArrivalKind kind : {ArrivalKind::Poisson, ArrivalKind::Gamma, ArrivalKind::Mmpp, ArrivalKind::Bursts,
                           ArrivalKind::Diurnal, ArrivalKind::Closed}) {
    Scenario scenario = scenarioOf(usual(), 500, 5000);
    scenario.loads[0].arrivals.kind = kind;
    scenario.loads[0].jitter = Jitter::LogNormal;
    Report first = simulate(scenario);
    EXPECT_EQ(first.done, 5000u);
    EXPECT_EQ(simulate(scenario).hash, first.hash);
    scenario.seed = 2;
    EXPECT_NE(simulate(scenario).hash, first.hash);
  }
}

/// The least sum of latencies with one instance: rows are alike, so batches are runs of consecutive arrivals. For the
/// first i requests, the sums that are possible by when the instance is free again; of these only those that no other
/// beats in both.
int64_t leastLatency(const std::vector<TimeNs> &arrivals, const CostTable &cost) {
  std::vector<std::map<TimeNs, int64_t>> states(arrivals.size() + 1);
  states[0][0] = 0;
  for (size_t begin = 0; begin < arrivals.size(); ++begin)
    for (auto [free, sum] : states[begin]) {
      int64_t total = sum;
      for (size_t end = begin + 1; end <= arrivals.size() && end - begin <= cost.rows.back(); ++end) {
        TimeNs done = std::max(free, arrivals[end - 1]) + cost.at(uint32_t(end - begin));
        total = sum;
        for (size_t i = begin; i < end; ++i)
          total += done - arrivals[i];
        auto [place, isNew] = states[end].emplace(done, total);
        place->second = std::min(place->second, total);
      }
    }
  int64_t least = INT64_MAX;
  for (auto [free, sum] : states.back())
    least = std::min(least, sum);
  return least;
}

TEST(BatchSim, no_policy_beats_the_optimum) {
  double best = 0, ours = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Scenario scenario = scenarioOf(usual(), 100 + 20 * double(seed), 12, seed);
    scenario.config.models[0].delay = 2 * kMillisecond;
    std::vector<TimeNs> arrivals;
    auto source = makeSource(scenario.loads[0].arrivals, seed * 1000003);
    for (int i = 0; i < 12; ++i)
      arrivals.push_back(source->next());
    double least = double(leastLatency(arrivals, scenario.loads[0].costs[0])) * 1e-6 / 12;
    for (const char *name : kPolicyNames) {
      scenario.policy = name;
      Report report = simulate(scenario);
      ASSERT_EQ(report.done, 12u) << name;
      EXPECT_GE(report.meanMs, least * (1 - 1e-9)) << name << ", seed " << seed;
    }
    scenario.policy = "ours";
    scenario.config.models[0].delay = 0;
    ours += simulate(scenario).meanMs;
    best += least;
  }
  EXPECT_LT(ours, 1.5 * best) << "without knowing the future";
}

TEST(BatchSim, what_is_recommended_is_no_worse_than_what_was_there) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Scenario scenario = scenarioOf(usual(), 150 + 90 * double(seed), 1000, seed);
    scenario.config.models[0].maxQueuedRows = 0;
    scenario.slo = (20 + 5 * TimeNs(seed % 5)) * kMillisecond;
    scenario.deadlines = seed % 2 == 0;
    Recommendation found = recommend(scenario);
    Report again = simulate(with(scenario, found.best.settings)), given = simulate(scenario);
    EXPECT_GE(again.withinSlo, given.withinSlo) << "seed " << seed;
    EXPECT_GE(found.reasons.size(), 4u);
  }
}

} // namespace
} // namespace llmc::test
