//===- SimQueue.cpp - A ring of commands and the thread behind it -------------------------------------------------===//

#include "runtime/device/SimQueue.h"
#include "runtime/device/FloatMode.h"
#include "runtime/device/KernelCall.h"
#include "runtime/device/SignalMask.h"
#include <bit>
#include <cassert>
#include <cstring>
#include <pthread.h>

namespace llmc::rt {

using namespace std::chrono_literals;

SimQueue::SimQueue(SimDevice &device, size_t capacity) : device(device), ring(std::bit_ceil(capacity + 1)) {
  NoSignals mask;
  thread = std::thread([this] { work(); });
}

SimQueue::~SimQueue() {
  push({.kind = Command::Kind::Stop});
  thread.join();
}

Status SimQueue::reserveScratch(size_t bytes) {
  if (bytes > scratch.capacity())
    drain(); // kernels under way may use what there is
  return scratch.reserve(device, bytes, 64);
}

void SimQueue::begin() { failed.store(false, std::memory_order_relaxed); }

void SimQueue::push(const Command &command) {
  assert(pushed - completed.load() < ring.size() && "capacity is what a run needs");
  ring[pushed % ring.size()] = command;
  submitted.store(++pushed);
}

void SimQueue::discard(std::byte *address, size_t bytes) {
  push({.kind = Command::Kind::Discard, .to = {&device, address}, .bytes = bytes});
}

void SimQueue::copy(uint32_t step, Place to, Place from, size_t bytes) {
  push({.kind = Command::Kind::Copy, .step = step, .to = to, .from = from, .bytes = bytes});
}

void SimQueue::fill(uint32_t step, std::byte *address, size_t bytes, uint64_t pattern, unsigned patternBytes) {
  push({.kind = Command::Kind::Fill,
        .step = step,
        .to = {&device, address},
        .bytes = bytes,
        .pattern = pattern,
        .patternBytes = patternBytes});
}

void SimQueue::launch(uint32_t step, const KernelLaunch &kernel) {
  push({.kind = Command::Kind::Launch, .step = step, .kernel = kernel});
}

void SimQueue::wait(Semaphore &semaphore, uint32_t value) {
  push({.kind = Command::Kind::Wait, .semaphore = &semaphore, .value = value});
}

void SimQueue::signal(Semaphore &semaphore, uint32_t value) {
  push({.kind = Command::Kind::Signal, .semaphore = &semaphore, .value = value});
}

void SimQueue::drain() {
  for (uint32_t done = completed.load(); done != pushed;)
    done = completed.waitWhile(done, 20us);
}

void SimQueue::work() {
  pthread_setname_np(pthread_self(), "llmc-sim");
  DefaultFloatMode mode;
  for (uint32_t done = 0;;) {
    uint32_t until = submitted.waitWhile(done, 20us);
    for (; done != until; ++done) {
      const Command &command = ring[done % ring.size()];
      if (command.kind == Command::Kind::Stop)
        return;
      execute(command);
    }
    completed.store(done);
  }
}

void SimQueue::execute(const Command &command) {
  if (command.kind == Command::Kind::Wait)
    return command.semaphore->wait(command.value);
  if (command.kind == Command::Kind::Signal)
    return command.semaphore->signal(command.value);
  if (hasFailed())
    return;
  if (Status status = perform(command); !status.ok()) {
    firstFault = {command.step, std::move(status)};
    failed.store(true, std::memory_order_release);
  }
}

static Status notResident(const SimDevice &device, const char *what) {
  return {Code::Internal, concat(what, " is not in the memory of device ", device.description())};
}

Status SimQueue::perform(const Command &command) {
  switch (command.kind) {
  case Command::Kind::Discard: {
    std::byte *at = device.find(command.to.address, command.bytes);
    std::memset(at, SimDevice::kPoison, command.bytes);
    return {};
  }
  case Command::Kind::Copy:
    return performCopy(command);
  case Command::Kind::Fill:
    return performFill(command);
  case Command::Kind::Launch:
    return performLaunch(command);
  default:
    return {};
  }
}

/// The bytes of a place in the process: of the host as they are, of a simulated device where it has them.
static std::byte *locate(const Place &place, size_t bytes) {
  if (place.device->kind() == plan::DeviceKind::CPU)
    return place.address;
  return static_cast<SimDevice *>(place.device)->find(place.address, bytes);
}

Status SimQueue::performCopy(const Command &command) {
  std::byte *to = locate(command.to, command.bytes), *from = locate(command.from, command.bytes);
  if (!to || !from)
    return notResident(device, to ? "the source of the copy" : "the target of the copy");
  std::memmove(to, from, command.bytes);
  return {};
}

Status SimQueue::performFill(const Command &command) {
  std::byte *at = device.find(command.to.address, command.bytes);
  if (!at)
    return notResident(device, "what is filled");
  fillBytes(at, command.bytes, command.pattern, command.patternBytes);
  return {};
}

Status SimQueue::performLaunch(const Command &command) {
  const KernelLaunch &kernel = command.kernel;
  pointers.clear();
  for (void *pointer : kernel.pointers) {
    pointers.push_back(device.find(static_cast<std::byte *>(pointer), 0));
    if (!pointers.back())
      return notResident(device, concat("binding ", pointers.size() - 1).c_str());
  }
  void *space = scratch.data() ? device.find(scratch.data(), 0) : nullptr;
  llmc_args args = {pointers.data(), kernel.scalars, &error, kernel.rowMarks};
  if (kernel.grid > 0 && callCode(kernel.code, args, 0, kernel.grid, space) != LLMC_KERNEL_OK)
    return faultStatus(error);
  return {};
}

} // namespace llmc::rt
