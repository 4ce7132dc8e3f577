//===- Finisher.cpp - Tells Python of the ends of requests --------------------------------------------------------===//

#include "Finisher.h"
#include "Batcher.h"
#include "Gil.h"

namespace llmc::python {

std::shared_ptr<Finisher> Finisher::start() {
  auto finisher = std::make_shared<Finisher>();
  std::lock_guard lock(finisher->mutex); // until it knows its thread
  std::thread thread([finisher] { finisher->work(); });
  finisher->thread = thread.get_id();
  thread.detach(); // stop() waits for it
  return finisher;
}

void Finisher::push(std::shared_ptr<Request> request, Answer answer) {
  std::lock_guard lock(mutex);
  waiting.push_back({std::move(request), std::move(answer)});
  changed.notify_all();
}

void Finisher::flush() {
  if (isOwnThread())
    return;
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return waiting.empty() && !busy; });
}

void Finisher::stop() {
  std::unique_lock lock(mutex);
  stopped = true;
  changed.notify_all();
  if (!isOwnThread())
    changed.wait(lock, [this] { return gone; });
}

/// Waits for ends; false once there are no more.
bool Finisher::take(std::vector<End> &ends) {
  std::unique_lock lock(mutex);
  busy = false;
  changed.notify_all();
  changed.wait(lock, [this] { return !waiting.empty() || stopped; });
  ends.swap(waiting);
  busy = !ends.empty();
  return busy;
}

void Finisher::work() {
  {
    WithGil gil;
    std::vector<End> ends;
    auto next = [&] {
      WithoutGil free;
      return take(ends);
    };
    while (next()) {
      for (End &end : ends)
        end.request->finish(std::move(end.answer));
      ends.clear();
    }
  }
  std::lock_guard lock(mutex);
  gone = true;
  changed.notify_all();
}

} // namespace llmc::python
