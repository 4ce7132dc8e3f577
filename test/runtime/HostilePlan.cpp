//===- HostilePlan.cpp - Plans with wrong bytes and right hashes --------------------------------------------------===//

#include "test/runtime/HostilePlan.h"
#include "runtime/exec/Session.h"
#include "runtime/plan/verify/Verify.h"
#include <condition_variable>
#include <cstring>
#include <thread>

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

} // namespace

std::vector<Bytes> hostileBases() {
  return {everythingPlan().file(), compressPlan().file(), addReluPlan({2}, true).file(),
          twoDevicesPlan().file(), deviceLoopPlan().file(), batchedPlan().file()};
}

std::span<std::byte> planIn(std::span<std::byte> file) {
  ContainerHeader header;
  if (file.size() < sizeof header)
    return {};
  std::memcpy(&header, file.data(), sizeof header);
  bool isInside = header.planOffset >= sizeof header && header.planOffset <= file.size() &&
                  header.planSize <= file.size() - header.planOffset;
  return isInside ? file.subspan(header.planOffset, header.planSize) : std::span<std::byte>();
}

void PlanMutator::mutate(std::span<std::byte> file) {
  std::span<std::byte> plan = planIn(file);
  constexpr size_t mostWidth = 8;
  if (plan.size() <= mostWidth)
    return;
  for (int changes = 1 + int(random() % 3); changes > 0; --changes) {
    size_t width = size_t(1) << random() % 4, at = random() % (plan.size() - width);
    if (width > 1)
      at &= ~(width - 1); // fields are aligned, as the plan is
    uint64_t value = interesting(plan.data() + at, width);
    std::memcpy(plan.data() + at, &value, width);
  }
  rehash(file);
}

uint64_t PlanMutator::interesting(const std::byte *old, size_t width) {
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

rt::Result<std::shared_ptr<rt::LoadedPlan>> loadHostile(std::span<const std::byte> file) {
  rt::LoadOptions options;
  options.threads = 2;
  auto opened = rt::PlanFile::fromMemory(file);
  if (!opened.ok())
    return opened.status();
  return rt::LoadedPlan::load(*opened, options);
}

rt::Status runHostile(std::shared_ptr<rt::LoadedPlan> plan) {
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
    if (bytes > size_t(1) << 28)
      return {rt::Code::Shape, "unlikely dims"};
    data.emplace_back(bytes / 8 + 1, 1);
    LLMC_TRY(session.setInput(i, input->dtype(), dims, std::as_bytes(std::span(data.back())).first(bytes)));
  }
  Watchdog watchdog(session);
  return session.run();
}

} // namespace llmc::test
