//===- Team.h - Threads that walk a plan together -----------------------------------------------------------------===//
//
// A run holds one team for as long as it takes; the caller's thread is worker 0. The workers meet at barriers. Between
// runs they spin a moment and then sleep.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_TEAM_H
#define LLMC_RUNTIME_DEVICE_TEAM_H

#include "runtime/base/Status.h"
#include "runtime/device/Futex.h"
#include "runtime/device/Processors.h"
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace llmc::rt {

/// All workers of a run wait for each other here. The last to arrive publishes one bit, so that all leave with the same
/// view of it.
class alignas(64) Barrier {
public:
  Barrier(unsigned workers, std::chrono::nanoseconds spin) : workers(workers), spin(spin) {}

  /// What a worker holds from barrier to barrier. To be read before the first arrival of a run.
  uint32_t phase() const { return word.load(); }

  /// Waits for all; everything before any arrival happens before everything after any return. `phase` is the worker's
  /// own. Returns the value of `flag` that the last to arrive saw.
  bool arrive(uint32_t &phase, const std::atomic<bool> &flag) {
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == workers) {
      arrived.store(0, std::memory_order_relaxed);
      phase = ((phase >> 1) + 1) << 1 | uint32_t(flag.load(std::memory_order_relaxed));
      word.store(phase);
    } else {
      phase = word.waitWhile(phase, spin);
    }
    return phase & 1;
  }

private:
  const unsigned workers;
  const std::chrono::nanoseconds spin;
  alignas(64) std::atomic<uint32_t> arrived = 0;
  alignas(64) WaitWord word;
};

class Team {
public:
  using Job = void (*)(void *context, unsigned worker);

  /// Starts `size` - 1 threads. Throws std::system_error if the system has no more.
  explicit Team(unsigned size);
  ~Team();
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;

  unsigned size() const { return unsigned(threads.size()) + 1; }
  /// What a worker holds from meeting to meeting. To be read before the first one of a run.
  uint32_t phase() const { return barrier.phase(); }
  /// Waits for all workers, as Barrier::arrive.
  bool meet(unsigned worker, uint32_t &phase, const std::atomic<bool> &flag) {
    bool result = barrier.arrive(phase, flag);
    if (worker == 0)
      apart.goHome();
    return result;
  }
  /// Calls job(context, w) on each worker w, w = 0 on the calling thread; returns when all are done.
  void run(Job job, void *context);

private:
  void work(unsigned worker);
  void stop();

  Barrier barrier;
  ApartFromCaller apart;
  std::chrono::nanoseconds idleSpin;
  Job job = nullptr; // null: the threads end
  void *context = nullptr;
  WaitWord epoch;   // rises with each run
  WaitWord running; // threads that have not finished the run
  std::vector<std::thread> threads;
};

/// The teams of one size of the process: as many as fit the processors, so that plans and requests that run at once do
/// not oversubscribe them. Shared by all plans with this number of threads.
class TeamPool : public std::enable_shared_from_this<TeamPool> {
public:
  static std::shared_ptr<TeamPool> ofSize(unsigned threads);

  /// A team for one run; given back at the end of the lease. A team of one has no threads and needs no lease.
  class Lease {
  public:
    Lease(TeamPool *pool, std::unique_ptr<Team> team) : pool(pool), held(std::move(team)) {}
    Lease(Lease &&other) = default;
    Lease &operator=(Lease &&other) {
      std::swap(pool, other.pool);
      std::swap(held, other.held);
      return *this;
    }
    ~Lease() {
      if (held)
        pool->giveBack(std::move(held));
    }
    Team *team() const { return held.get(); }

  private:
    TeamPool *pool;
    std::unique_ptr<Team> held;
  };

  /// Waits until a team is free.
  Result<Lease> acquire();
  unsigned threads() const { return size; }

private:
  explicit TeamPool(unsigned size);
  void giveBack(std::unique_ptr<Team> team);

  const unsigned size, limit;
  std::mutex mutex;
  std::condition_variable freed;
  std::vector<std::unique_ptr<Team>> idle;
  unsigned started = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_TEAM_H
