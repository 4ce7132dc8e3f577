//===- HostilePlan.h - Plans with wrong bytes and right hashes ----------------------------------------------------===//
//
// What the seeded mutations and the fuzz target share. What a kernel's export says of its code counts as code: where that
// was hit, a plan is loaded but not run.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_TEST_RUNTIME_HOSTILEPLAN_H
#define LLMC_TEST_RUNTIME_HOSTILEPLAN_H

#include "runtime/exec/LoadedPlan.h"
#include "test/runtime/PlanBuilder.h"
#include <random>

namespace llmc::test {

/// The plans that are mutated.
std::vector<Bytes> hostileBases();

/// The plan's bytes in a file; none if the header does not say where they lie.
std::span<std::byte> planIn(std::span<std::byte> file);

class PlanMutator {
public:
  explicit PlanMutator(uint64_t seed) : random(seed) {}
  /// Changes one to three fields of the plan of a file, then makes the hashes right.
  void mutate(std::span<std::byte> file);

private:
  uint64_t interesting(const std::byte *old, size_t width);
  std::mt19937_64 random;
};

/// What the plan says of its code, as bytes to compare.
std::string codeContract(const plan::Plan &plan);

/// Loads a file as the C API does.
rt::Result<std::shared_ptr<rt::LoadedPlan>> loadHostile(std::span<const std::byte> file);

/// Runs an accepted plan on inputs that fit it as far as its specs say, for a moment: every Status is good, a crash is not.
rt::Status runHostile(std::shared_ptr<rt::LoadedPlan> plan);

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_HOSTILEPLAN_H
