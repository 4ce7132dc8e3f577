//===- Processors.cpp - Which processors there are, and who runs on them ------------------------------------------===//

#include "runtime/device/Processors.h"
#include <algorithm>
#include <cstdio>
#include <pthread.h>
#include <sched.h>

namespace llmc::rt {

/// Those of the thread that asks first; none if the system does not say.
static const cpu_set_t &usableProcessors() {
  static const cpu_set_t result = [] {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0)
      CPU_ZERO(&set);
    return set;
  }();
  return result;
}

static unsigned quotaProcessors() {
  unsigned result = ~0u;
  if (std::FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "re")) {
    long quota, period;
    if (std::fscanf(file, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0)
      result = unsigned(std::max(1L, (quota + period - 1) / period));
    std::fclose(file);
  }
  return result;
}

unsigned availableProcessors() {
  static const unsigned result = [] {
    int byAffinity = CPU_COUNT(&usableProcessors());
    return std::max(
        1u, std::min(byAffinity ? unsigned(byAffinity) : std::thread::hardware_concurrency(), quotaProcessors()));
  }();
  return result;
}

void ApartFromCaller::begin(std::span<std::thread> team) {
  int here = ::sched_getcpu();
  if (here == home)
    return;
  home = here;
  holds = false;
  cpu_set_t others = usableProcessors();
  if (here < 0 || here >= CPU_SETSIZE || !CPU_ISSET(here, &others))
    return;
  CPU_CLR(here, &others);
  // Without a processor for each of them, all are the scheduler's to place.
  if (CPU_COUNT(&others) < int(team.size()))
    return;
  holds = true;
  for (std::thread &thread : team)
    holds &= ::pthread_setaffinity_np(thread.native_handle(), sizeof others, &others) == 0;
}

void ApartFromCaller::goHome() const {
  if (!holds || ::sched_getcpu() == home)
    return;
  cpu_set_t mine, only;
  CPU_ZERO(&only);
  CPU_SET(home, &only);
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0 || !CPU_ISSET(home, &mine))
    return;
  ::sched_setaffinity(0, sizeof only, &only);
  ::sched_setaffinity(0, sizeof mine, &mine);
}

} // namespace llmc::rt
