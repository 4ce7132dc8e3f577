//===- Device.h - What runs the steps of a queue ------------------------------------------------------------------===//
//
// A body of a plan asks for devices by kind and number. A device says which code variants it can run and maps them, has
// memory, and makes queues. The host, a CpuDevice, has no queue of this kind: the executor runs its steps on a team of
// threads, and hands those of other devices to their queues.
//
// Addresses that a device gives out are its own: only its queues may use them.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_DEVICE_H
#define LLMC_RUNTIME_DEVICE_DEVICE_H

#include "runtime/device/Semaphore.h"
#include "runtime/plan/PlanFile.h"
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace llmc::rt {

class Device;

/// The mapped code of one variant of an executable. Immutable; entries stay valid as long as it lives.
class CodeImage {
public:
  virtual ~CodeImage() = default;
  /// The code at VariantEntry.entry; refused if that is not code.
  virtual Result<const void *> entry(uint64_t address) const = 0;
};

/// Bytes in the memory of a device.
struct Place {
  Device *device;
  std::byte *address;
};

/// Everything lives until the queue has finished.
struct KernelLaunch {
  const void *code; // of CodeImage::entry
  std::span<void *const> pointers;
  const int64_t *scalars;
  int64_t grid;      // work items
  int32_t *rowMarks; // llmc_args::row_status, in memory of the host
};

/// Why a queue has stopped: the step is the number that was given with it.
struct QueueFault {
  uint32_t step;
  Status status;
};

/// Work in order. Functions return at once, but for drain(), and do not fail: what goes wrong is in fault(). Work after a
/// fault is left out, but signals are still given, so that nobody waits for ever. For one thread at a time.
class Queue {
public:
  virtual ~Queue() = default;
  /// Memory that each later kernel may use as it likes.
  virtual Status reserveScratch(size_t bytes) = 0;
  /// Starts a run: forgets the last fault.
  virtual void begin() = 0;
  /// Nobody needs what is in these bytes of the device.
  virtual void discard(std::byte *address, size_t bytes) = 0;
  virtual void copy(uint32_t step, Place to, Place from, size_t bytes) = 0;
  /// Repeats the low bytes of `pattern` in memory of the device.
  virtual void fill(uint32_t step, std::byte *address, size_t bytes, uint64_t pattern, unsigned patternBytes) = 0;
  virtual void launch(uint32_t step, const KernelLaunch &kernel) = 0;
  /// Later work waits for the semaphore.
  virtual void wait(Semaphore &semaphore, uint32_t value) = 0;
  /// Sets the semaphore when earlier work is done.
  virtual void signal(Semaphore &semaphore, uint32_t value) = 0;
  /// Returns when all work is done.
  virtual void drain() = 0;
  /// Whether work has failed, perhaps while more of it is under way.
  virtual bool hasFailed() const = 0;
  /// The first fault since begin(), or null. After drain().
  virtual const QueueFault *fault() const = 0;
};

/// Thread-safe.
class Device {
public:
  virtual ~Device() = default;
  virtual plan::DeviceKind kind() const = 0;
  /// Ok, or why this device can not run the variant.
  virtual Status supports(const plan::Variant &variant) const = 0;
  virtual Result<std::unique_ptr<CodeImage>> load(const PlanFile &file, const plan::Variant &variant) const = 0;

  /// `bytes`, at least one, at a multiple of `alignment`.
  virtual Result<std::byte *> allocate(size_t bytes, size_t alignment) = 0;
  virtual void free(std::byte *address, size_t bytes) = 0;
  /// A queue for at most `capacity` calls from begin() to drain(). Null for the host.
  virtual Result<std::unique_ptr<Queue>> makeQueue(size_t capacity) = 0;
};

/// Memory of a device that only grows.
class DeviceBlock {
public:
  DeviceBlock() = default;
  DeviceBlock(DeviceBlock &&other) noexcept
      : device(other.device), bytes(std::exchange(other.bytes, nullptr)), size(std::exchange(other.size, 0)) {}
  DeviceBlock &operator=(DeviceBlock &&other) noexcept {
    std::swap(device, other.device);
    std::swap(bytes, other.bytes);
    std::swap(size, other.size);
    return *this;
  }
  ~DeviceBlock() { release(); }

  std::byte *data() const { return bytes; }
  size_t capacity() const { return size; }

  /// Makes sure of `wanted` bytes; allocates only if there are fewer. Contents are lost when it grows.
  Status reserve(Device &owner, size_t wanted, size_t alignment) {
    if (wanted <= size)
      return {};
    release();
    device = &owner;
    LLMC_TRY_ASSIGN(bytes, owner.allocate(wanted, alignment));
    size = wanted;
    return {};
  }

  /// Makes sure of `wanted` bytes and keeps the first `kept`, which the host can read; takes twice what it had, so that growing step
  /// by step is cheap.
  Status grow(Device &owner, size_t kept, size_t wanted, size_t alignment) {
    if (wanted <= size)
      return {};
    DeviceBlock larger;
    LLMC_TRY(larger.reserve(owner, std::max(wanted, 2 * size), alignment));
    if (kept)
      std::memcpy(larger.bytes, bytes, kept);
    *this = std::move(larger);
    return {};
  }

private:
  void release() {
    if (bytes)
      device->free(bytes, size);
    bytes = nullptr;
    size = 0;
  }

  Device *device = nullptr;
  std::byte *bytes = nullptr;
  size_t size = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_DEVICE_H
