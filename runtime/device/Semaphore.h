//===- Semaphore.h - A number that one queue raises and others wait for -------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_SEMAPHORE_H
#define LLMC_RUNTIME_DEVICE_SEMAPHORE_H

#include "runtime/device/Futex.h"

namespace llmc::rt {

class Semaphore {
public:
  /// While no one waits.
  void reset() { value.reset(0); }
  void signal(uint32_t reached) { value.store(reached); }
  /// Returns once `wanted` is reached.
  void wait(uint32_t wanted) {
    using namespace std::chrono_literals;
    for (uint32_t now = value.load(); now < wanted;)
      now = value.waitWhile(now, 20us);
  }

private:
  WaitWord value;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_SEMAPHORE_H
