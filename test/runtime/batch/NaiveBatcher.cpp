//===- NaiveBatcher.cpp - What the batcher means, written as plainly as possible ----------------------------------===//

#include "test/runtime/batch/NaiveBatcher.h"

namespace llmc::test {

void NaiveBatcher::run() {
  while (true) {
    now = std::min(events.nextTime(), wakeup);
    if (now >= kNever)
      return;
    while (events.nextTime() == now) {
      auto event = events.pop();
      if (event.kind == EventKind::Arrive) {
        admit(event.payload.arrival);
      } else if (event.kind == EventKind::Complete) {
        ++idle;
        for (uint64_t id : event.payload.finished)
          if (running.count(id))
            end(id, Outcome::Done, Reason::None);
      } else {
        uint64_t id = cancels.begin()->second;
        cancels.erase(cancels.begin());
        bool waits = std::any_of(queue.begin(), queue.end(), [&](const Waiting &w) { return w.arrival.id == id; });
        remove(id);
        if (waits || running.count(id))
          end(id, Outcome::Cancelled, Reason::Cancelled);
      }
    }
    expire();
    step();
  }
}

void NaiveBatcher::admit(const Arrival &arrival) {
  uint32_t priority = arrival.priority ? arrival.priority : model.defaultPriority;
  if (queue.size() >= model.maxQueuedRequests) {
    auto lessUrgent = [](const Waiting &a, const Waiting &b) {
      return std::pair(a.arrival.priority, a.order) < std::pair(b.arrival.priority, b.order);
    };
    auto victim = std::max_element(queue.begin(), queue.end(), lessUrgent);
    if (victim->arrival.priority <= priority)
      return end(arrival.id, Outcome::Rejected, Reason::QueueFull);
    uint64_t id = victim->arrival.id;
    remove(id);
    end(id, Outcome::Rejected, Reason::Evicted);
  }
  Waiting waiting = {arrival, now, now + TimeNs(priority - 1) * model.agingQuantum, kNever, admitted++};
  waiting.arrival.priority = priority;
  if (arrival.queueTimeout < kNever)
    waiting.timeout = now + arrival.queueTimeout;
  queue.push_back(waiting);
  std::sort(queue.begin(), queue.end(), [](const Waiting &a, const Waiting &b) { return a.rank() < b.rank(); });
}

void NaiveBatcher::expire() {
  for (size_t i = 0; i < queue.size();) {
    Waiting waiting = queue[i];
    if (now <= std::min(waiting.timeout, waiting.arrival.deadline)) {
      ++i;
      continue;
    }
    remove(waiting.arrival.id);
    if (waiting.timeout <= waiting.arrival.deadline)
      end(waiting.arrival.id, Outcome::Rejected, Reason::QueueTimeout);
    else
      end(waiting.arrival.id, Outcome::Expired, Reason::Deadline);
  }
}

NaiveBatcher::Choice NaiveBatcher::pack(uint32_t bucket) const {
  Choice choice;
  uint32_t cap = model.variants.back();
  for (const Waiting &waiting : queue) {
    if (waiting.arrival.bucket != bucket)
      continue;
    if (choice.rows + waiting.arrival.rows > cap) {
      choice.full = true;
      return choice;
    }
    choice.members.push_back(waiting);
    choice.rows += waiting.arrival.rows;
  }
  choice.full = choice.rows == cap;
  return choice;
}

/// Whether to run fewer rows than there are.
void NaiveBatcher::trim(Choice &choice) const {
  uint32_t up = variantFor(choice.rows), low = 0;
  for (uint32_t variant : model.variants)
    if (variant <= choice.rows)
      low = variant;
  if (up == choice.rows || model.pad == PadPolicy::PadUp || low < choice.members[0].arrival.rows)
    return;
  if (model.pad == PadPolicy::MinCost && cost(low) * TimeNs(choice.rows) > cost(up) * TimeNs(low))
    return;
  Choice fewer = choice;
  while (fewer.rows > low) {
    fewer.rows -= fewer.members.back().arrival.rows;
    fewer.members.pop_back();
  }
  for (size_t i = fewer.members.size(); i < choice.members.size(); ++i)
    if (choice.members[i].arrival.deadline < now + cost(low) + cost(variantFor(choice.rows - low)))
      return;
  choice = fewer;
}

void NaiveBatcher::step() {
  wakeup = kNever;
  for (const Waiting &waiting : queue)
    wakeup = std::min(wakeup, std::min(waiting.timeout, waiting.arrival.deadline) + 1);
  if (wakeup > kNever)
    wakeup = kNever;
  while (idle > 0) {
    Choice best;
    std::tuple<bool, TimeNs, uint64_t> bestKey;
    TimeNs due = kNever;
    for (uint32_t bucket = 0; bucket < model.buckets.size(); ++bucket) {
      Choice choice = pack(bucket);
      while (!choice.members.empty() && now + cost(choice.rows) > choice.members[0].arrival.deadline) {
        uint64_t id = choice.members[0].arrival.id;
        remove(id);
        end(id, Outcome::Expired, Reason::Deadline);
        choice = pack(bucket);
      }
      if (choice.members.empty())
        continue;
      TimeNs ready = kNever, latest = kNever;
      for (const Waiting &member : choice.members) {
        ready = std::min(ready, member.time + model.delay);
        latest = std::min(latest, member.arrival.deadline - cost(choice.rows) - model.epsilon);
      }
      if (!choice.full && model.delay > 0 && now < std::min(ready, latest)) {
        due = std::min({due, ready, latest});
        continue;
      }
      std::tuple key(now < latest, choice.members[0].key, choice.members[0].order);
      if (best.members.empty() || key < bestKey) {
        best = choice;
        bestKey = key;
      }
    }
    if (best.members.empty()) {
      wakeup = std::min(wakeup, due);
      return;
    }
    start(best);
  }
}

void NaiveBatcher::start(Choice choice) {
  trim(choice);
  std::vector<uint64_t> ids;
  for (const Waiting &member : choice.members) {
    ids.push_back(member.arrival.id);
    remove(member.arrival.id);
    running.insert(member.arrival.id);
  }
  --idle;
  runs.push_back({now, ids});
  events.push(now + cost(choice.rows), EventKind::Complete, {{}, ids});
}

} // namespace llmc::test
