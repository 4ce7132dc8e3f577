//===- MutationTest.cpp - Plans with wrong bytes and right hashes -------------------------------------------------===//
//
// Each mutation is refused with a reason, or runs without a fault. LLMC_FUZZ_SEED repeats a run, LLMC_FUZZ_COUNT changes
// its length.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "test/runtime/HostilePlan.h"
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <sys/resource.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LLMC_HAS_ASAN 1
#endif
#endif

// A plan may ask for more memory than there is; the runtime answers that, so the sanitizer should not.
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1:max_allocation_size_mb=512"; }

namespace llmc::test {
namespace {

TEST(Mutation, is_refused_with_a_reason_or_runs) {
#ifndef LLMC_HAS_ASAN
  rlimit limit = {rlim_t(8) << 30, rlim_t(8) << 30};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
  const char *seedText = std::getenv("LLMC_FUZZ_SEED"), *countText = std::getenv("LLMC_FUZZ_COUNT");
  uint64_t seed = seedText ? std::strtoull(seedText, nullptr, 0) : std::random_device()();
  int number = countText ? std::atoi(countText) : 10000;
  std::cout << "seed " << seed << ", " << number << " mutations" << std::endl;
  PlanMutator mutator(seed);
  const std::vector<Bytes> bases = hostileBases();
  std::map<std::string, int> rules;
  int accepted = 0, ran = 0;
  for (int i = 0; i < number; ++i) {
    const Bytes &base = bases[size_t(i) % bases.size()];
    Bytes file = base;
    mutator.mutate(file);
    PageAligned aligned(file);
    auto loaded = loadHostile(aligned.bytes());
    if (!loaded.ok()) {
      EXPECT_STRNE(loaded.status().rule(), "") << loaded.status().message();
      EXPECT_NE(loaded.status().message(), "");
      ++rules[loaded.status().rule()];
      continue;
    }
    ++accepted;
    PageAligned original(base);
    if (codeContract((*loaded)->plan()) != codeContract((*rt::PlanFile::fromMemory(original.bytes()))->plan()))
      continue;
    rt::Status status = runHostile(*loaded);
    EXPECT_NE(status.code(), rt::Code::Internal) << status.message();
    ++ran;
  }
  for (auto &[rule, count] : rules)
    std::cout << rule << ": " << count << '\n';
  std::cout << "accepted: " << accepted << ", of these run: " << ran << std::endl;
  EXPECT_GT(ran, 0);
  EXPECT_GT(rules.size(), 20u) << "mutations reach few rules";
}

} // namespace
} // namespace llmc::test
