//===- Scenario.cpp - A recorded load as a scenario ---------------------------------------------------------------===//

#include "tools/llmc-batch-sim/Scenario.h"
#include <algorithm>

namespace llmc::sim {

/// While runs are under way, and as the table says while none is.
static std::vector<RecordedSpeed> speedsOf(const Recording::Model &model, const std::vector<CostTable> &costs) {
  std::vector<RecordedSpeed> speeds = {{0, 1}};
  for (const Recording::Run &run : model.runs) {
    if (run.start < speeds.back().time) // runs overlap
      speeds.back().time = run.start;
    speeds.push_back(
        {run.start, double(costs[run.bucket].at(run.rows)) / double(std::max<batch::TimeNs>(1, run.time))});
    speeds.push_back({run.start + run.time, 1});
  }
  return speeds;
}

ModelLoad loadOf(const Recording::Model &model) {
  ModelLoad load;
  load.requests = std::make_shared<std::vector<TimedRequest>>(model.requests);
  load.arrivals.kind = ArrivalKind::Trace;
  load.arrivals.trace = load.requests;
  load.costs = CostTable::fromRecording(model);
  load.jitter = Jitter::Recorded;
  load.recorded = speedsOf(model, load.costs);
  return load;
}

batch::ModelConfig configOf(const Recording::Model &model, const ModelLoad &load) {
  batch::ModelConfig config;
  config.name = model.name;
  config.variants = model.sizes;
  config.anySize = model.anySize;
  config.buckets.clear();
  for (size_t i = 0; i < load.costs.size(); ++i) // it begins with what was expected, right or wrong
    config.buckets.push_back({i < model.expected.size() ? model.expected[i] : load.costs[i].cost, 0});
  config.maxRows = model.maxRows;
  config.maxElements = model.maxRequests;
  config.delay = model.delay;
  config.maxQueuedRows = model.queuedRows;
  config.sloP99 = model.sloP99;
  config.breaker.minRequests = 0;
  for (const TimedRequest &request : model.requests)
    config.classes.resize(std::max<size_t>(config.classes.size(), request.priority));
  return config;
}

} // namespace llmc::sim
