//===- SoakTest.cpp - Many runs of random sizes in one process: memory stays flat ---------------------------------===//
//
// LLMC_SOAK_COUNT changes the number of requests.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "test/runtime/MixedRequests.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <malloc.h>
#include <unistd.h>

namespace llmc::test {
namespace {

/// Of the process, in bytes.
long residentBytes() {
  long all = 0, resident = 0;
  FILE *file = std::fopen("/proc/self/statm", "r");
  if (!file || std::fscanf(file, "%ld %ld", &all, &resident) != 2)
    resident = 0;
  if (file)
    std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

/// Allocated and not freed, of all threads.
long liveBytes() {
  struct mallinfo2 info = mallinfo2();
  return long(info.uordblks + info.hblkhd);
}

/// What is allocated depends on the shapes that the caches hold at the moment, so peaks are compared.
struct Peak {
  long live = 0, resident = 0;
};

Peak peakOf(MixedClient &client, int requests) {
  Peak peak;
  for (int request = 0; request < requests; ++request) {
    client.request();
    peak.live = std::max(peak.live, liveBytes());
    peak.resident = std::max(peak.resident, residentBytes());
  }
  return peak;
}

TEST(Soak, memory_stays_flat) {
  const char *countText = std::getenv("LLMC_SOAK_COUNT");
  int number = countText ? std::atoi(countText) : 1000;
  SharedPlans plans(2);
  MixedClient client(plans, 1);
  peakOf(client, 500); // each memory reaches its greatest size, each cache its greatest number
  Peak first = peakOf(client, number / 2), second = peakOf(client, number / 2);
  std::cout << number << " requests: " << first.live << " -> " << second.live << " bytes allocated, " << first.resident << " -> "
            << second.resident << " resident" << std::endl;
  EXPECT_LT(second.live - first.live, 16 << 10);
  EXPECT_LT(second.resident - first.resident, 1 << 20);
}

} // namespace
} // namespace llmc::test
