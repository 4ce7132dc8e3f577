// Fuzz target: an artifact is refused with a reason, or loads and runs without a fault. Mutations keep the hashes right.
#include "test/runtime/HostilePlan.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

using namespace llmc;
using namespace llmc::test;

// A plan may ask for more memory than there is; the runtime answers that, so the sanitizer should not.
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1:max_allocation_size_mb=512"; }
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

static Bytes goldenFile() {
  std::ifstream file(LLMC_GOLDEN, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

/// What the seeds say of their code: with any other contract code is not what the plan says, and is not run.
static std::set<std::string> knownContracts() {
  std::set<std::string> contracts;
  std::vector<Bytes> seeds = hostileBases();
  seeds.push_back(goldenFile());
  for (const Bytes &seed : seeds) {
    PageAligned aligned(seed);
    contracts.insert(codeContract((*rt::PlanFile::fromMemory(aligned.bytes()))->plan()));
  }
  return contracts;
}

static void expect(bool holds, const char *what, const rt::Status &status) {
  if (holds)
    return;
  std::fprintf(stderr, "%s: [%s] %s\n", what, status.rule(), std::string(status.message()).c_str());
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::set<std::string> contracts = knownContracts();
  auto bytes = std::as_bytes(std::span(data, size));
  PageAligned aligned(Bytes(bytes.begin(), bytes.end()));
  auto loaded = loadHostile(aligned.bytes());
  if (!loaded.ok()) {
    expect(*loaded.status().rule() && !loaded.status().message().empty(), "refused without a reason", loaded.status());
  } else if (contracts.contains(codeContract((*loaded)->plan()))) {
    rt::Status status = runHostile(*loaded);
    expect(status.code() != rt::Code::Internal, "runs into a fault of ours", status);
  }
  return 0;
}

/// Mostly fields of the plan, sometimes bytes of the plan or of the header. What is behind the plan, code above all, stays.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t, unsigned seed) {
  std::span file(reinterpret_cast<std::byte *>(data), size);
  std::span<std::byte> plan = planIn(file);
  if (size < sizeof(ContainerHeader))
    return size;
  if (seed % 32 == 0 || plan.empty()) {
    LLVMFuzzerMutate(data, sizeof(ContainerHeader), sizeof(ContainerHeader));
  } else if (seed % 4 == 0) {
    LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(plan.data()), plan.size(), plan.size());
    rehash(file);
  } else {
    PlanMutator(seed).mutate(file);
  }
  return size;
}
