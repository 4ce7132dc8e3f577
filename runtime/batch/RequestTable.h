//===- RequestTable.h - The requests in the batcher, in storage that is reused ------------------------------------===//
//
// Slots are made once. A handle is slot and generation, so one that outlives its request is noticed.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_REQUESTTABLE_H
#define LLMC_RUNTIME_BATCH_REQUESTTABLE_H

#include "runtime/batch/OrderedQueue.h"
#include <cassert>

namespace llmc::batch {

enum class RequestState : uint8_t {
  Free,
  Queued,
  Quarantined, // in a half of a failed batch, which runs again
  Claimed,     // in a staged batch
  Running,
  Abandoned, // running, but its caller has been answered
  Held       // ended, waits for those before it in its stream
};

struct Request {
  RequestState state = RequestState::Free;
  bool late = false;               // Held
  Outcome outcome = Outcome::Done; // Held
  Reason reason = Reason::None;    // Held
  bool demoted = false;
  bool expires = false; // is among those that end at a time
  uint32_t generation = 0;
  uint32_t model = 0, bucket = 0;
  uint32_t asked = 0;    // the model that it was submitted to, which counts it
  uint32_t pin = 0;      // 0: to no version, else slot + 1 of the version
  uint32_t priority = 1; // number of classes + 1 once demoted
  uint32_t rows = 1, retries = 0;
  int64_t bytes = 0, elements = 0;
  uint64_t id = 0, sequence = 0;
  TimeNs arrival = 0, deadline = kNever, timeout = kNever; // times
  TimeNs key = 0;                                          // by which the queue is ordered, settled at admission
  ContentHash content;
  bool hasContent = false;
  BatchId batch = kNone;        // Quarantined .. Abandoned
  uint32_t nextInBatch = kNone; // the same
  uint32_t streamSlot = kNone;  // place in an ordered stream
  uint32_t streamPrevious = kNone, streamNext = kNone;
};

class RequestTable {
public:
  explicit RequestTable(uint32_t capacity) : queueLinks(capacity), expiryLinks(capacity), requests(capacity) {
    free.reserve(capacity);
    for (uint32_t i = capacity; i-- > 0;)
      free.push_back(i);
  }

  uint32_t capacity() const { return uint32_t(requests.size()); }
  uint32_t size() const { return capacity() - uint32_t(free.size()); }
  bool full() const { return free.empty(); }

  /// Not when full.
  uint32_t acquire() {
    uint32_t index = free.back();
    free.pop_back();
    uint32_t generation = requests[index].generation;
    requests[index] = Request();
    requests[index].generation = generation;
    return index;
  }
  void release(uint32_t index) {
    assert(requests[index].state != RequestState::Free && "released once");
    requests[index].state = RequestState::Free;
    ++requests[index].generation;
    free.push_back(index);
  }
  RequestHandle handle(uint32_t index) const { return {index, requests[index].generation}; }
  /// kNone if the request has left.
  uint32_t find(RequestHandle handle) const {
    bool lives = handle.index < capacity() && requests[handle.index].generation == handle.generation &&
                 requests[handle.index].state != RequestState::Free;
    return lives ? handle.index : kNone;
  }
  Request &operator[](uint32_t index) { return requests[index]; }
  const Request &operator[](uint32_t index) const { return requests[index]; }

  QueuePool queueLinks;  // by key, in the queues of the models
  QueuePool expiryLinks; // by the time at which a request ends unless it has started

private:
  std::vector<Request> requests;
  std::vector<uint32_t> free;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_REQUESTTABLE_H
