//===- Policy.cpp - Who decides what runs when --------------------------------------------------------------------===//

#include "tools/llmc-batch-sim/Policy.h"
#include "tools/common/Tool.h"
#include <deque>

namespace llmc::sim {

using namespace llmc::batch;

namespace {

class Ours final : public Policy {
public:
  explicit Ours(const BatcherConfig &config) {
    auto created = BatcherCore::create(config);
    if (!created.ok())
      tools::badCommand(created.status().message());
    core = std::move(*created);
    for (uint32_t id = 0; id < config.instances.size(); ++id)
      core->instanceUp(0, id);
  }
  void arrive(TimeNs now, const Arrival &arrival) override {
    handles.resize(std::max<size_t>(handles.size(), arrival.id + 1));
    handles[arrival.id] = core->arrive(now, arrival);
  }
  void complete(TimeNs now, uint32_t run, BatchFault fault) override { core->complete(now, run, {.fault = fault}); }
  void cancel(TimeNs now, uint64_t id) override { core->cancel(now, handles[id]); }
  void step(TimeNs now, Listener &listener) override {
    for (const Action &action : core->step(now)) {
      if (action.kind == ActionKind::Finish)
        listener.finished(action.id, action.outcome, action.reason);
      else if (action.kind == ActionKind::Start)
        start(action, listener);
    }
  }
  TimeNs nextWakeup() const override { return core->nextWakeup(); }

private:
  void start(const Action &action, Listener &listener) {
    const Batch &batch = core->batch(action.batch);
    members.clear();
    for (uint32_t i = batch.first; i != kNone; i = core->request(i).nextInBatch)
      members.push_back(core->request(i).id);
    listener.started({action.batch, action.instance, batch.model, batch.bucket, batch.rows, action.rows, members});
  }

  std::unique_ptr<BatcherCore> core;
  std::vector<RequestHandle> handles; // by id
  std::vector<uint64_t> members;
};

/// One queue in the order of arrival; a policy says how many of it run together.
class QueuePolicy : public Policy {
public:
  explicit QueuePolicy(const BatcherConfig &config)
      : model(config.models[0]), cap(batchCap(model)), runs(config.instances.size()) {}

  void arrive(TimeNs now, const Arrival &arrival) final {
    queue.push_back({arrival.id, now, arrival.rows});
    rows += arrival.rows;
    arrived(queue.back());
  }
  void complete(TimeNs now, uint32_t instance, BatchFault) final {
    completed(now - runs[instance].started);
    ended.insert(ended.end(), runs[instance].ids.begin(), runs[instance].ids.end());
    runs[instance].ids.clear();
  }
  void cancel(TimeNs, uint64_t) final {}
  void step(TimeNs now, Listener &listener) final {
    for (uint64_t id : ended)
      listener.finished(id, Outcome::Done, Reason::None);
    ended.clear();
    wakeup = kNever;
    for (uint32_t instance = 0; instance < runs.size(); ++instance)
      while (runs[instance].ids.empty() && !queue.empty()) {
        uint32_t limit = rowsNow(now);
        if (limit == 0)
          break;
        start(now, instance, limit, listener);
      }
  }
  TimeNs nextWakeup() const final { return wakeup; }

protected:
  struct Waiting {
    uint64_t id;
    TimeNs time;
    uint32_t rows;
  };
  /// How many rows may start now at most; 0: wait, until `wakeup` if that is set.
  virtual uint32_t rowsNow(TimeNs now) = 0;
  virtual void arrived(const Waiting &) {}
  virtual void completed(TimeNs) {}
  /// True once the oldest has waited so long; else this will be asked again then.
  bool hasWaited(TimeNs now, TimeNs time) {
    if (now >= queue.front().time + time)
      return true;
    wakeup = queue.front().time + time;
    return false;
  }

  ModelConfig model;
  uint32_t cap;
  std::deque<Waiting> queue;
  uint64_t rows = 0; // in the queue
  TimeNs wakeup = kNever;

private:
  struct Run {
    TimeNs started = 0;
    std::vector<uint64_t> ids;
  };
  void start(TimeNs now, uint32_t instance, uint32_t limit, Listener &listener) {
    Run &run = runs[instance];
    run.started = now;
    uint32_t taken = 0;
    while (!queue.empty() && (taken == 0 || taken + queue.front().rows <= limit)) {
      taken += queue.front().rows;
      run.ids.push_back(queue.front().id);
      queue.pop_front();
    }
    rows -= taken;
    listener.started({instance, instance, 0, 0, taken, executedRows({model, model.variants, cap}, taken), run.ids});
  }

  std::vector<Run> runs; // per instance
  std::vector<uint64_t> ended;
};

class NoBatching final : public QueuePolicy {
  using QueuePolicy::QueuePolicy;
  uint32_t rowsNow(TimeNs) override { return 1; }
};

/// A full batch, or what there is when the oldest has waited for the delay.
class FixedDelay final : public QueuePolicy {
  using QueuePolicy::QueuePolicy;
  uint32_t rowsNow(TimeNs now) override { return rows >= cap || hasWaited(now, model.delay) ? cap : 0; }
};

/// As Triton's dynamic batcher: the largest preferred size that is there, or all when the oldest has waited; what is
/// waiting for an instance goes on growing.
class TritonLike final : public QueuePolicy {
  using QueuePolicy::QueuePolicy;
  uint32_t rowsNow(TimeNs now) override {
    if (rows >= cap)
      return cap;
    for (size_t i = model.preferredRows.size(); i-- > 0;)
      if (rows >= model.preferredRows[i])
        return model.preferredRows[i];
    return hasWaited(now, model.delay) ? cap : 0;
  }
};

/// As TensorFlow's batch scheduler: arrivals join the newest batch, which is closed when full or after the timeout.
class TfLike final : public QueuePolicy {
  using QueuePolicy::QueuePolicy;
  void arrived(const Waiting &waiting) override {
    bool joins = !batches.empty() && batches.back() + waiting.rows <= cap && !closed(waiting.time);
    if (!joins) {
      batches.push_back(0);
      opened = waiting.time;
    }
    batches.back() += waiting.rows;
  }
  bool closed(TimeNs now) const { return now >= opened + model.delay; }
  uint32_t rowsNow(TimeNs now) override {
    if (batches.size() == 1 && batches.front() < cap && !hasWaited(now, model.delay))
      return 0;
    uint32_t result = batches.front();
    batches.pop_front();
    return result;
  }
  std::deque<uint32_t> batches; // rows of each
  TimeNs opened = 0;            // when the newest was
};

/// As Clipper: no delay, and a batch that grows by one row while runs stay within the SLO and shrinks by a tenth when
/// not.
class Aimd final : public QueuePolicy {
  using QueuePolicy::QueuePolicy;
  uint32_t rowsNow(TimeNs) override { return limit; }
  void completed(TimeNs time) override {
    if (model.sloP99 > 0 && time > model.sloP99 / 2) // the other half is for waiting
      limit = std::max(1u, limit * 9 / 10);
    else
      limit = std::min(cap, limit + 1);
  }
  uint32_t limit = 1;
};

template <typename P> std::unique_ptr<Policy> make(const BatcherConfig &config) { return std::make_unique<P>(config); }

} // namespace

std::unique_ptr<Policy> makePolicy(const std::string &name, const BatcherConfig &config) {
  using Maker = std::unique_ptr<Policy> (*)(const BatcherConfig &);
  static constexpr Maker makers[] = {make<Ours>,       make<NoBatching>, make<FixedDelay>,
                                     make<TritonLike>, make<TfLike>,     make<Aimd>};
  for (size_t i = 0; i < std::size(makers); ++i) {
    if (name != kPolicyNames[i])
      continue;
    if (i > 0 && config.models.size() > 1)
      tools::badCommand("policy '" + name + "' knows one model only");
    return makers[i](config);
  }
  tools::badCommand("unknown policy '" + name + "'; expected ours, none, fixed, triton, tf or aimd");
}

} // namespace llmc::sim
