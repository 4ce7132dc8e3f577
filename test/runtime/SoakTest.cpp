//===- SoakTest.cpp - Many runs of random sizes in one process: memory stays flat ---------------------------------===//
//
// LLMC_SOAK_COUNT changes the number of requests.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "test/runtime/MixedRequests.h"
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

TEST(Soak, memory_stays_flat) {
  const char *countText = std::getenv("LLMC_SOAK_COUNT");
  int number = countText ? std::atoi(countText) : 1000;
  SharedPlans plans(2);
  MixedClient client(plans, 1);
  for (int request = 0; request < 500; ++request) // each memory reaches its greatest size, each cache its greatest number
    client.request();
  long live = liveBytes(), resident = residentBytes();
  for (int request = 0; request < number; ++request)
    client.request();
  std::cout << number << " requests: " << live << " -> " << liveBytes() << " bytes allocated, " << resident << " -> "
            << residentBytes() << " resident" << std::endl;
  EXPECT_LT(liveBytes() - live, 16 << 10);
  EXPECT_LT(residentBytes() - resident, 1 << 20);
}

} // namespace
} // namespace llmc::test
