#include "runtime/device/Team.h"
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

using namespace llmc::rt;

namespace {

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(0, ::sched_getaffinity(0, sizeof set, &set));
  return set;
}

struct Places {
  Team &team;
  int caller = -1;
  std::atomic<int> meetings = 0, together = 0;
  std::atomic<bool> flag = false;
};

/// Both meet a few times; the caller sleeps each time before the worker comes.
void meetLate(void *context, unsigned worker) {
  auto &places = *static_cast<Places *>(context);
  uint32_t phase = places.team.phase();
  for (int i = 0; i < 5; ++i) {
    if (worker == 1) {
      ::usleep(1000);
      places.together += ::sched_getcpu() == places.caller;
    }
    places.team.meet(worker, phase, places.flag);
    ++places.meetings;
  }
}

} // namespace

TEST(Team, KeepsOffTheProcessorOfTheCaller) {
  cpu_set_t mine = affinity();
  if (CPU_COUNT(&mine) < 2 || availableProcessors() < 2)
    GTEST_SKIP() << "needs two processors";
  Team team(2);
  for (int cpu = 0, used = 0; used < 2; ++cpu) {
    if (!CPU_ISSET(cpu, &mine))
      continue;
    ++used;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    ASSERT_EQ(0, ::sched_setaffinity(0, sizeof only, &only));
    Places places{team, cpu};
    team.run(meetLate, &places);
    EXPECT_EQ(places.meetings, 10);
    EXPECT_EQ(places.together, 0) << "on processor " << cpu;
    cpu_set_t after = affinity();
    EXPECT_TRUE(CPU_EQUAL(&after, &only));
  }
  ASSERT_EQ(0, ::sched_setaffinity(0, sizeof mine, &mine));
}

TEST(Team, LeavesTheAffinityOfTheCaller) {
  Team team(2);
  cpu_set_t before = affinity();
  Places places{team};
  for (int i = 0; i < 20; ++i)
    team.run(meetLate, &places);
  cpu_set_t after = affinity();
  EXPECT_TRUE(CPU_EQUAL(&after, &before));
  EXPECT_EQ(places.meetings, 200);
}

TEST(Team, RunsWithMoreThreadsThanProcessors) {
  Team team(availableProcessors() + 2);
  std::atomic<unsigned> ran = 0;
  for (int i = 0; i < 20; ++i)
    team.run([](void *context, unsigned) { ++*static_cast<std::atomic<unsigned> *>(context); }, &ran);
  EXPECT_EQ(ran, 20 * (availableProcessors() + 2));
}
