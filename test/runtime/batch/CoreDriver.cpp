//===- CoreDriver.cpp - Runs the batcher under a virtual clock and keeps what it did ------------------------------===//

#include "test/runtime/batch/CoreDriver.h"
#include <gtest/gtest.h>

namespace llmc::test {

CoreDriver::CoreDriver(BatcherConfig config, Service service) : service(std::move(service)) {
  uint32_t instances = uint32_t(config.instances.size());
  auto created = BatcherCore::create(std::move(config));
  if (!created.ok())
    throw std::runtime_error(created.status().message());
  core_ = std::move(*created);
  for (uint32_t id = 0; id < instances; ++id)
    core_->instanceUp(0, id);
}

void CoreDriver::arrive(TimeNs time, const Arrival &arrival) {
  call(time, EventKind::Arrive,
       [this, arrival](BatcherCore &core, TimeNs now) { handles[arrival.id] = core.arrive(now, arrival); });
}

void CoreDriver::cancel(TimeNs time, uint64_t id) {
  call(time, EventKind::Cancel, [this, id](BatcherCore &core, TimeNs now) { core.cancel(now, handles[id]); });
}

void CoreDriver::run(TimeNs until) {
  while (true) {
    TimeNs now = std::min(events.nextTime(), core_->nextWakeup());
    if (now >= kNever || now > until)
      return;
    while (events.nextTime() == now)
      events.pop().payload(*core_, now);
    for (const Action &action : core_->step(now))
      note(now, action);
    ASSERT_GT(core_->nextWakeup(), now) << "a timer that does not advance";
  }
}

void CoreDriver::note(TimeNs now, const Action &action) {
  if (keepLog)
    log += std::to_string(now) + ' ' + std::to_string(unsigned(action.kind)) + ' ' + name(action.outcome) + ' ' +
           name(action.reason) + ' ' + std::to_string(action.instance) + ' ' + std::to_string(action.batch) + ' ' +
           std::to_string(action.rows) + ' ' + std::to_string(action.id) + '\n';
  if (action.kind == ActionKind::Start) {
    startRun(now, action);
  } else if (action.kind == ActionKind::Finish) {
    bool isFirst = ends.emplace(action.id, End{now, action.outcome, action.reason}).second;
    EXPECT_TRUE(isFirst) << "request " << action.id << " has two outcomes";
    order.push_back(action.id);
  }
  if (onAction)
    onAction(now, action);
}

void CoreDriver::startRun(TimeNs now, const Action &action) {
  const Batch &batch = core_->batch(action.batch);
  Run run = {now, action.instance, action.rows, batch.model, {}};
  for (uint32_t index = batch.first; index != kNone; index = core_->request(index).nextInBatch)
    run.ids.push_back(core_->request(index).id);
  Served served = service(run);
  runs.push_back(std::move(run));
  call(now + served.time, EventKind::Complete, [id = action.batch, served](BatcherCore &core, TimeNs end) {
    core.complete(end, id, {served.fault, served.badMembers});
  });
}

} // namespace llmc::test
