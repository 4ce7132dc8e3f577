//===- Team.cpp - Threads that walk a plan together ---------------------------------------------------------------===//

#include "runtime/device/Team.h"
#include "runtime/device/FloatMode.h"
#include "runtime/device/SignalMask.h"
#include <algorithm>
#include <map>
#include <pthread.h>
#include <system_error>

namespace llmc::rt {

using namespace std::chrono_literals;

/// Spinning pays only if all workers have a processor each.
static std::chrono::nanoseconds spinTime(unsigned threads, std::chrono::nanoseconds time) {
  return threads <= availableProcessors() ? time : 0ns;
}

Team::Team(unsigned size) : barrier(size, spinTime(size, 100us)), idleSpin(spinTime(size, 50us)) {
  NoSignals mask;
  try {
    for (unsigned worker = 1; worker < size; ++worker)
      threads.emplace_back([this, worker] { work(worker); });
  } catch (...) {
    stop();
    throw;
  }
}

Team::~Team() { stop(); }

void Team::stop() {
  job = nullptr;
  epoch.store(epoch.load() + 1);
  for (std::thread &thread : threads)
    thread.join();
}

void Team::run(Job newJob, void *newContext) {
  job = newJob;
  context = newContext;
  running.reset(uint32_t(threads.size()));
  apart.begin(threads);
  epoch.store(epoch.load() + 1);
  job(context, 0);
  for (uint32_t left = running.load(); left != 0;)
    left = running.waitWhile(left, 100us);
}

void Team::work(unsigned worker) {
  pthread_setname_np(pthread_self(), "llmc-worker");
  DefaultFloatMode mode;
  for (uint32_t seen = 0;;) {
    seen = epoch.waitWhile(seen, idleSpin);
    if (!job)
      return;
    job(context, worker);
    running.countDown();
  }
}

TeamPool::TeamPool(unsigned size) : size(size), limit(std::max(1u, availableProcessors() / size)) {
  idle.reserve(limit);
}

std::shared_ptr<TeamPool> TeamPool::ofSize(unsigned threads) {
  static std::mutex mutex;
  static auto &pools = *new std::map<unsigned, std::weak_ptr<TeamPool>>; // plans may outlive static destruction
  std::lock_guard lock(mutex);
  std::shared_ptr<TeamPool> pool = pools[threads].lock();
  if (!pool)
    pools[threads] = pool = std::shared_ptr<TeamPool>(new TeamPool(threads));
  return pool;
}

Result<TeamPool::Lease> TeamPool::acquire() {
  if (size == 1)
    return Lease(this, nullptr);
  std::unique_lock lock(mutex);
  freed.wait(lock, [&] { return !idle.empty() || started < limit; });
  if (!idle.empty()) {
    Lease lease(this, std::move(idle.back()));
    idle.pop_back();
    return lease;
  }
  try {
    Lease lease(this, std::make_unique<Team>(size));
    ++started;
    return lease;
  } catch (const std::system_error &error) {
    return Status(Code::OutOfMemory, concat("can not start ", size - 1, " threads: ", error.what()));
  }
}

void TeamPool::giveBack(std::unique_ptr<Team> team) {
  {
    std::lock_guard lock(mutex);
    idle.push_back(std::move(team));
  }
  freed.notify_one();
}

} // namespace llmc::rt
