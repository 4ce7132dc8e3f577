//===- SimQueue.h - A thread that works off what it is given ------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_SIMQUEUE_H
#define LLMC_RUNTIME_DEVICE_SIMQUEUE_H

#include "kernels/abi/kernel_abi.h"
#include "runtime/device/SimDevice.h"
#include <thread>

namespace llmc::rt {

class SimQueue final : public Queue {
public:
  /// Throws std::system_error if the system has no more threads.
  SimQueue(SimDevice &device, size_t capacity);
  ~SimQueue() override;

  Status reserveScratch(size_t bytes) override;
  void begin() override;
  void discard(std::byte *address, size_t bytes) override;
  void copy(uint32_t step, Place to, Place from, size_t bytes) override;
  void fill(uint32_t step, std::byte *address, size_t bytes, uint64_t pattern, unsigned patternBytes) override;
  void launch(uint32_t step, const KernelLaunch &kernel) override;
  void wait(Semaphore &semaphore, uint32_t value) override;
  void signal(Semaphore &semaphore, uint32_t value) override;
  void drain() override;
  bool hasFailed() const override { return failed.load(std::memory_order_acquire); }
  const QueueFault *fault() const override { return hasFailed() ? &firstFault : nullptr; }

private:
  struct Command {
    enum class Kind { Discard, Copy, Fill, Launch, Wait, Signal, Stop } kind = Kind::Stop;
    uint32_t step = 0;
    Place to = {}, from = {};
    size_t bytes = 0;
    uint64_t pattern = 0;
    unsigned patternBytes = 0;
    KernelLaunch kernel = {};
    Semaphore *semaphore = nullptr;
    uint32_t value = 0;
  };

  void push(const Command &command);
  // On the thread.
  void work();
  void execute(const Command &command);
  Status perform(const Command &command);
  Status performCopy(const Command &command);
  Status performFill(const Command &command);
  Status performLaunch(const Command &command);

  SimDevice &device;
  std::vector<Command> ring; // a power of two of them
  uint32_t pushed = 0;
  WaitWord submitted, completed; // commands, modulo 2^32
  DeviceBlock scratch;
  std::vector<void *> pointers; // of the launch under way, as addresses of the process
  llmc_error error = {};
  QueueFault firstFault = {};
  std::atomic<bool> failed = false;
  std::thread thread;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_SIMQUEUE_H
