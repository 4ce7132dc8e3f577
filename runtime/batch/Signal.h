//===- Signal.h - A counter that threads wait on, for a limited time ----------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_SIGNAL_H
#define LLMC_RUNTIME_BATCH_SIGNAL_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace llmc::batch {

/// Those who wait read the counter first, then look at what it guards, then wait for it to change. Raising it costs a system
/// call only while somebody sleeps.
class Signal {
public:
  uint32_t load() const { return word.load(std::memory_order_acquire); }
  void raise() {
    word.fetch_add(1, std::memory_order_seq_cst);
    wake();
  }
  void set(uint32_t value) {
    word.store(value, std::memory_order_seq_cst);
    wake();
  }
  /// While nobody waits.
  void reset(uint32_t value) { word.store(value, std::memory_order_relaxed); }

  /// Returns once it differs from `seen`, or after `limit` (< 0: none), with its value. Burns at most `spin` before it sleeps.
  uint32_t wait(uint32_t seen, std::chrono::nanoseconds spin, std::chrono::nanoseconds limit) {
    using Time = std::chrono::steady_clock;
    uint32_t value = load();
    if (value != seen || limit.count() == 0)
      return value;
    Time::time_point start = Time::now();
    for (auto end = start + (limit.count() < 0 ? spin : std::min(spin, limit)); spin.count() > 0 && Time::now() < end;)
      for (int i = 0; i < 64; ++i) {
        if ((value = load()) != seen)
          return value;
        __builtin_ia32_pause();
      }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while ((value = word.load(std::memory_order_seq_cst)) == seen) {
      std::chrono::nanoseconds left = limit.count() < 0 ? limit : limit - (Time::now() - start);
      if (limit.count() >= 0 && left.count() <= 0)
        break;
      timespec time = {left.count() / 1000000000, left.count() % 1000000000};
      ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, limit.count() < 0 ? nullptr : &time, nullptr, 0);
    }
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    return value;
  }

private:
  void wake() {
    if (sleepers.load(std::memory_order_seq_cst) != 0)
      ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }

  std::atomic<uint32_t> word = 0, sleepers = 0;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_SIGNAL_H
