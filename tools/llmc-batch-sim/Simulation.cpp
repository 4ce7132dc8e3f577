//===- Simulation.cpp - Plays a scenario under a virtual clock ----------------------------------------------------===//

#include "tools/llmc-batch-sim/Simulation.h"
#include "tools/llmc-batch-sim/EventQueue.h"
#include "tools/llmc-batch-sim/Policy.h"
#include <cmath>

namespace llmc::sim {

using namespace llmc::batch;

namespace {

class Simulation final : public Listener {
public:
  explicit Simulation(const Scenario &scenario)
      : scenario(scenario), policy(makePolicy(scenario.policy, scenario.config)), idleSince(scenario.config.instances.size()),
        random(scenario.seed * 7919 + 1) {
    for (size_t model = 0; model < scenario.loads.size(); ++model) {
      const ArrivalSpec &spec = scenario.loads[model].arrivals;
      left.push_back(scenario.requests);
      taken.push_back(0);
      recordedWork.push_back(workOf(scenario.loads[model].recorded));
      sources.push_back(spec.kind == ArrivalKind::Closed ? nullptr : makeSource(spec, scenario.seed * 1000003 + model));
      for (uint32_t i = 0, n = sources.back() ? 1 : spec.clients; i < n; ++i)
        scheduleNext(uint32_t(model));
    }
  }

  Report play() {
    while (true) {
      now = std::min(events.nextTime(), policy->nextWakeup());
      if (now >= kNever)
        return report();
      while (events.nextTime() == now) {
        Event event = events.pop().payload;
        if (event.kind == EventKind::Complete)
          idleSince[event.instance] = now;
        if (event.kind == EventKind::Arrive)
          arrive(event);
        else if (event.kind == EventKind::Cancel)
          policy->cancel(now, event.id);
        else
          policy->complete(now, uint32_t(event.id), event.fault);
      }
      policy->step(now, *this);
    }
  }

private:
  struct Event {
    EventKind kind;
    uint64_t id; // the model, the run or the request
    TimedRequest request = {}; // that arrives
    BatchFault fault = BatchFault::None;
    uint32_t instance = 0; // of the run
  };
  struct Request {
    TimeNs time;
    uint32_t model;
    bool isPoison;
  };

  /// The next request of an open source, or of one client.
  void scheduleNext(uint32_t model) {
    if (left[model] == 0)
      return;
    --left[model];
    const ModelLoad &load = scenario.loads[model];
    TimeNs time = now;
    if (sources[model])
      time = sources[model]->next();
    else if (load.arrivals.thinkMs > 0)
      time += TimeNs(load.arrivals.thinkMs * 1e6 * random.exponentialTime());
    if (time >= kNever)
      return;
    TimedRequest request;
    if (load.requests)
      request = (*load.requests)[taken[model]++ % load.requests->size()];
    else if (load.maxRowsPerRequest > 1)
      request.rows = 1 + uint32_t(random.below(load.maxRowsPerRequest));
    push(time, {.kind = EventKind::Arrive, .id = model, .request = request});
  }

  void push(TimeNs time, const Event &event) { events.push(time, event.kind, event); }

  /// Chance is drawn only where there is some, so that a new kind of it changes no scenario without it.
  bool happens(double share) { return share > 0 && random.uniform() < share; }

  void arrive(const Event &event) {
    uint32_t model = uint32_t(event.id);
    const ModelLoad &load = scenario.loads[model];
    Arrival arrival;
    arrival.id = requests.size();
    arrival.model = model;
    arrival.rows = event.request.rows;
    arrival.bucket = event.request.bucket;
    arrival.elements = 1;
    arrival.priority = load.requests      ? event.request.priority
                       : load.classes > 1 ? 1 + uint32_t(random.below(load.classes))
                                          : 1;
    if (event.request.deadline < kNever)
      arrival.deadline = now + event.request.deadline;
    else if (scenario.deadlines && scenario.slo > 0)
      arrival.deadline = now + scenario.slo;
    requests.push_back({now, model, happens(load.poisonShare)});
    if (happens(load.cancelShare))
      push(now + 1 + TimeNs(load.cancelAfterMs * 1e6 * random.exponentialTime()),
           {.kind = EventKind::Cancel, .id = arrival.id});
    if (event.request.cancelAfter < kNever)
      push(now + event.request.cancelAfter, {.kind = EventKind::Cancel, .id = arrival.id});
    policy->arrive(now, arrival);
    if (sources[model])
      scheduleNext(model);
  }

  void started(const Run &run) override {
    const ModelLoad &load = scenario.loads[run.model];
    double time = double(load.costs[run.bucket].at(run.executed));
    if (load.jitter == Jitter::Recorded)
      time = timeAsRecorded(run.model, time);
    if (now > idleSince[run.instance] + kSpin)
      time += double(load.wake);
    if (load.jitter == Jitter::Exponential)
      time *= random.exponentialTime();
    else if (load.jitter == Jitter::LogNormal)
      time *= exponential(load.sigma * random.normal() - load.sigma * load.sigma / 2);
    TimeNs duration = std::max<TimeNs>(1, TimeNs(std::min(time, double(kNever) / 4) + 0.5));
    bool hasPoison = std::ranges::any_of(run.requests, [&](uint64_t id) { return requests[id].isPoison; });
    BatchFault fault = hasPoison || happens(load.failShare) ? BatchFault::Error : BatchFault::None;
    push(now + duration, {.kind = EventKind::Complete, .id = run.id, .fault = fault, .instance = run.instance});
    ++result.runs;
    result.rows += run.rows;
    result.executedRows += run.executed;
    busy += duration;
    note(now);
    note(uint64_t(run.instance) << 32 | run.rows);
    note(run.executed);
  }

  void finished(uint64_t id, Outcome outcome, Reason reason) override {
    const Request &request = requests[id];
    note(now);
    note(id << 8 | unsigned(reason));
    if (outcome == Outcome::Done) {
      latencies.push_back(now - request.time);
      result.withinSlo += scenario.slo == 0 || latencies.back() <= scenario.slo;
      lastAnswer = now;
    } else {
      ++result.reasons[unsigned(reason)];
    }
    if (!sources[request.model])
      scheduleNext(request.model);
  }

  /// What the machine does in the time of a recording.
  static double workOf(const std::vector<RecordedSpeed> &recorded) {
    double work = 0;
    for (size_t i = 1; i < recorded.size(); ++i)
      work += recorded[i - 1].speed * double(recorded[i].time - recorded[i - 1].time);
    return work;
  }

  /// Of what takes `work` by the table, from now on.
  double timeAsRecorded(uint32_t model, double work) const {
    const std::vector<RecordedSpeed> &recorded = scenario.loads[model].recorded;
    if (!(recordedWork[model] > 0))
      return work;
    TimeNs period = recorded.back().time;
    double times = std::floor(work / recordedWork[model]), at = double(now % period), taken = times * double(period);
    work -= times * recordedWork[model];
    auto next = std::upper_bound(recorded.begin(), recorded.end(), now % period,
                                 [](TimeNs t, const RecordedSpeed &speed) { return t < speed.time; });
    while (true) {
      double speed = next[-1].speed, time = double(next->time) - at;
      if (work <= time * speed)
        return taken + work / speed;
      work -= time * speed;
      taken += time;
      at = double(next->time);
      if (++next == recorded.end()) {
        next = recorded.begin() + 1;
        at = 0;
      }
    }
  }

  void note(uint64_t value) { result.hash = (result.hash ^ value) * 0x9e3779b97f4a7c15 + (result.hash >> 29); }

  Report report() {
    std::sort(latencies.begin(), latencies.end());
    auto percentile = [&](double part) { return percentileMs(latencies, part); };
    double sum = 0;
    for (TimeNs latency : latencies)
      sum += double(latency) * 1e-6;
    result.requests = requests.size();
    result.done = latencies.size();
    result.seconds = double(lastAnswer) * 1e-9;
    result.meanMs = latencies.empty() ? 0 : sum / double(latencies.size());
    result.p50Ms = percentile(0.5);
    result.p90Ms = percentile(0.9);
    result.p99Ms = percentile(0.99);
    result.p999Ms = percentile(0.999);
    result.maxMs = percentile(1);
    size_t slots = 0;
    for (const DeviceConfig &device : scenario.config.devices)
      slots += device.slots;
    result.busy = lastAnswer ? double(busy) / double(lastAnswer) / double(slots) : 0;
    return result;
  }

  static constexpr TimeNs kSpin = 100 * kMicrosecond; // that threads burn before they sleep

  const Scenario &scenario;
  std::unique_ptr<Policy> policy;
  std::vector<TimeNs> idleSince; // per instance
  Random random;                                       // of all but the arrivals of open sources
  std::vector<std::unique_ptr<ArrivalSource>> sources; // per model; none for a closed loop
  std::vector<uint64_t> left;
  std::vector<double> recordedWork; // per model
  std::vector<size_t> taken;        // of the list of requests, per model
  EventQueue<Event> events;
  std::vector<Request> requests; // by id
  std::vector<TimeNs> latencies;
  TimeNs now = 0, busy = 0, lastAnswer = 0;
  Report result;
};

} // namespace

double percentileMs(const std::vector<TimeNs> &ascending, double part) {
  size_t rank = size_t(std::ceil(part * double(ascending.size())));
  return ascending.empty() ? 0.0 : double(ascending[std::max<size_t>(rank, 1) - 1]) * 1e-6;
}

Report simulate(const Scenario &scenario) { return Simulation(scenario).play(); }

} // namespace llmc::sim
