//===- EventQueue.h - What happens next under a virtual clock -----------------------------------------------------===//
//
// Events of one time come in the order of EventKind, those of one kind as they were pushed.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_EVENTQUEUE_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_EVENTQUEUE_H

#include "runtime/batch/BatchTypes.h"
#include <algorithm>
#include <tuple>
#include <vector>

namespace llmc::sim {

template <typename Payload> class EventQueue {
public:
  struct Event {
    batch::TimeNs time;
    batch::EventKind kind;
    uint64_t sequence;
    Payload payload;
  };

  void push(batch::TimeNs time, batch::EventKind kind, Payload payload) {
    events.push_back({time, kind, nextSequence++, std::move(payload)});
    std::push_heap(events.begin(), events.end(), later);
  }
  Event pop() {
    std::pop_heap(events.begin(), events.end(), later);
    Event event = std::move(events.back());
    events.pop_back();
    return event;
  }
  /// kNever if there is none.
  batch::TimeNs nextTime() const { return events.empty() ? batch::kNever : events.front().time; }

private:
  static bool later(const Event &a, const Event &b) {
    return std::tie(a.time, a.kind, a.sequence) > std::tie(b.time, b.kind, b.sequence);
  }
  std::vector<Event> events; // a heap
  uint64_t nextSequence = 0;
};

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_EVENTQUEUE_H
