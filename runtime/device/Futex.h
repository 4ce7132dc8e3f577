//===- Futex.h - Spin, then sleep until a word changes ------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_FUTEX_H
#define LLMC_RUNTIME_DEVICE_FUTEX_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace llmc::rt {

/// A word that some threads wait on and others change. Waking costs a system call only while somebody sleeps.
class WaitWord {
public:
  uint32_t load() const { return word.load(std::memory_order_acquire); }

  /// Sets the word and wakes all sleepers.
  void store(uint32_t value) {
    word.store(value, std::memory_order_seq_cst);
    wake();
  }

  /// Adds one and wakes all sleepers.
  void raise() {
    word.fetch_add(1, std::memory_order_seq_cst);
    wake();
  }

  /// Subtracts one and wakes all sleepers if nothing is left.
  void countDown() {
    if (word.fetch_sub(1, std::memory_order_seq_cst) == 1)
      wake();
  }

  /// For a word that no one waits on.
  void reset(uint32_t value) { word.store(value, std::memory_order_relaxed); }

  /// Returns once the word differs from `old`, or after `limit` (< 0: none), with its value then. Spins for at most
  /// `spin` before it sleeps.
  uint32_t waitWhile(uint32_t old, std::chrono::nanoseconds spin, std::chrono::nanoseconds limit = kNoLimit) {
    using Time = std::chrono::steady_clock;
    uint32_t value = load();
    if (value != old || limit.count() == 0)
      return value;
    auto start = Time::now();
    bool isLimited = limit.count() > 0;
    for (auto end = start + (isLimited ? std::min(spin, limit) : spin); spin.count() > 0;) {
      for (int i = 0; i < 64; ++i) {
        if ((value = load()) != old)
          return value;
        __builtin_ia32_pause();
      }
      if (Time::now() >= end)
        break;
    }
    // The order (sleepers, then word) against store's (word, then sleepers) makes sure that one sees the other.
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while ((value = word.load(std::memory_order_seq_cst)) == old) {
      timespec left = {};
      if (isLimited) {
        std::chrono::nanoseconds rest = limit - (Time::now() - start);
        if (rest.count() <= 0)
          break;
        left = {rest.count() / 1000000000, rest.count() % 1000000000};
      }
      ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, old, isLimited ? &left : nullptr, nullptr, 0);
    }
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    return value;
  }

  static constexpr std::chrono::nanoseconds kNoLimit{-1};

private:
  void wake() {
    if (sleepers.load(std::memory_order_seq_cst) != 0)
      ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }

  std::atomic<uint32_t> word = 0;
  std::atomic<uint32_t> sleepers = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_FUTEX_H
