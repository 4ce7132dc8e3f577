//===- MutationTest.cpp - Plans with wrong bytes and right hashes -------------------------------------------------===//
//
// Each mutation is refused with a reason, or runs without a fault. What a kernel's export says of its code counts as
// code: where that was hit, the plan is loaded but not run. LLMC_FUZZ_SEED repeats a run, LLMC_FUZZ_COUNT changes its
// length.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "llmc/llmc.hpp"
#include "runtime/exec/Session.h"
#include "runtime/plan/verify/Verify.h"
#include "test/runtime/LoadHelper.h"
#include <condition_variable>
#include <cstring>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <random>
#include <sys/resource.h>
#include <thread>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LLMC_HAS_ASAN 1
#endif
#endif

// A plan may ask for more memory than there is; the runtime answers that, so the sanitizer should not.
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1:max_allocation_size_mb=512"; }

namespace llmc::test {
namespace {

/// Cancels a run that takes longer than a moment: a mutated loop may have any number of trips.
class Watchdog {
public:
  explicit Watchdog(rt::Session &session)
      : thread([this, &session] {
          std::unique_lock lock(mutex);
          while (!done)
            if (!ended.wait_for(lock, std::chrono::milliseconds(200), [&] { return done; }))
              session.cancel();
        }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex);
      done = true;
    }
    ended.notify_one();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::thread thread;
};

/// What the plan says of its code, as bytes to compare.
std::string codeContract(const plan::Plan &plan) {
  flatbuffers::FlatBufferBuilder builder;
  std::string result;
  for (uint32_t i = 0; i < rt::count(plan.executables()); ++i) {
    plan::ExecutableT executable;
    plan.executables()->Get(i)->UnPackTo(&executable);
    builder.Clear();
    builder.Finish(plan::Executable::Pack(builder, &executable));
    result.append(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
  }
  return result;
}

class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}
  /// Changes one to three places of the plan, then makes the hashes right.
  void mutate(Bytes &file) {
    ContainerHeader header;
    std::memcpy(&header, file.data(), sizeof header);
    for (int changes = 1 + int(random() % 3); changes > 0; --changes) {
      size_t width = size_t(1) << random() % 4, at = header.planOffset + random() % (header.planSize - width);
      if (width > 1)
        at &= ~(width - 1); // fields are aligned
      uint64_t value = interesting(file.data() + at, width);
      std::memcpy(file.data() + at, &value, width);
    }
    rehash(file);
  }

private:
  uint64_t interesting(const std::byte *old, size_t width) {
    uint64_t value = 0;
    std::memcpy(&value, old, width);
    switch (random() % 8) {
    case 0:
      return value ^ uint64_t(1) << random() % (width * 8);
    case 1:
      return value + 1;
    case 2:
      return value - 1;
    case 3:
      return 0;
    case 4:
      return UINT64_MAX;
    case 5:
      return uint64_t(1) << random() % 64;
    case 6:
      return random() % 16;
    default:
      return random();
    }
  }
  std::mt19937_64 random;
};

/// Runs an accepted plan on inputs that fit it as far as its specs say; every Status is good, a crash is not.
rt::Status runOnce(std::shared_ptr<rt::LoadedPlan> plan) {
  rt::Session session(plan, 0);
  const plan::EntryPoint &spec = session.spec();
  const rt::Program &program = plan->entries()[0]->bodies[0]->program;
  std::vector<std::vector<uint64_t>> data;
  for (uint32_t i = 0; i < rt::count(spec.inputs()); ++i) {
    const plan::TensorSpec *input = spec.inputs()->Get(i);
    std::vector<int64_t> dims;
    size_t bytes = size_t(rt::elementSize(input->dtype()));
    for (uint32_t d = 0; d < rt::count(input->dims()); ++d) {
      const rt::Program::Node &node = program.nodes[input->dims()->Get(d)];
      int64_t dim = node.kind == rt::Program::Node::Kind::Constant ? node.imm
                    : node.kind == rt::Program::Node::Kind::Symbol
                        ? std::max<int64_t>(program.symbols[node.symbol].lo, 3)
                        : 3;
      if (dim < 0 || dim > 4096)
        return {rt::Code::Shape, "unlikely dims"};
      dims.push_back(dim);
      bytes *= size_t(dim);
    }
    data.emplace_back(bytes / 8 + 1, 1);
    LLMC_TRY(session.setInput(i, input->dtype(), dims, std::as_bytes(std::span(data.back())).first(bytes)));
  }
  Watchdog watchdog(session);
  return session.run();
}

TEST(Mutation, is_refused_with_a_reason_or_runs) {
#ifndef LLMC_HAS_ASAN
  rlimit limit = {rlim_t(8) << 30, rlim_t(8) << 30};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
  const char *seedText = std::getenv("LLMC_FUZZ_SEED"), *countText = std::getenv("LLMC_FUZZ_COUNT");
  uint64_t seed = seedText ? std::strtoull(seedText, nullptr, 0) : std::random_device()();
  int number = countText ? std::atoi(countText) : 10000;
  std::cout << "seed " << seed << ", " << number << " mutations" << std::endl;
  Mutator mutator(seed);
  const Bytes bases[] = {everythingPlan().file(), compressPlan().file(), addReluPlan({2}, true).file(),
                         twoDevicesPlan().file()};
  std::map<std::string, int> rules;
  int accepted = 0, ran = 0;
  rt::LoadOptions options;
  options.threads = 2;
  for (int i = 0; i < number; ++i) {
    const Bytes &base = bases[size_t(i) % std::size(bases)];
    Bytes file = base;
    mutator.mutate(file);
    PageAligned aligned(file);
    auto opened = rt::PlanFile::fromMemory(aligned.bytes());
    auto loaded = opened.ok() ? rt::LoadedPlan::load(*opened, options)
                              : rt::Result<std::shared_ptr<rt::LoadedPlan>>(opened.status());
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
    rt::Status status = runOnce(*loaded);
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
