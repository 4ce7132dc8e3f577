//===- SimDevice.h - A device that finds mistakes of placement ----------------------------------------------------===//
//
// It runs the kernels of the CPU, on a thread per queue, but in memory of its own. Its addresses are no addresses of the
// process: whoever uses one as such, faults. A kernel gets only what lies in memory of its device, whose allocations lie
// between pages that may not be touched, and hold no sensible values until something is written.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_SIMDEVICE_H
#define LLMC_RUNTIME_DEVICE_SIMDEVICE_H

#include "runtime/device/CpuDevice.h"
#include <map>
#include <mutex>

namespace llmc::rt {

class SimDevice final : public Device {
public:
  /// `name` is for messages, as in "'left' (sim:0)"; allocations add up to `memoryBytes` at most. Runs code as `host` would.
  SimDevice(std::string name, int64_t memoryBytes, const CpuDevice &host)
      : name(std::move(name)), memoryBytes(memoryBytes), host(host) {}
  ~SimDevice() override;

  plan::DeviceKind kind() const override { return plan::DeviceKind::SIM; }
  Status supports(const plan::Variant &variant) const override { return host.supports(variant); }
  Result<std::unique_ptr<CodeImage>> load(const PlanFile &file, const plan::Variant &variant) const override {
    return host.load(file, variant);
  }
  Result<std::byte *> allocate(size_t bytes, size_t alignment) override;
  void free(std::byte *address, size_t bytes) override;
  Result<std::unique_ptr<Queue>> makeQueue(size_t capacity) override;

  /// Where the bytes are in the process; null if not all of them are in one allocation of this device.
  std::byte *find(const std::byte *address, size_t bytes) const;
  /// What uninitialised memory holds: no number, in any floating-point type.
  static constexpr int kPoison = 0xff;
  const std::string &description() const { return name; }

private:
  struct Allocation {
    std::byte *pages;
    size_t pageBytes; // with the two that guard it
    size_t bytes;
  };

  const std::string name;
  const int64_t memoryBytes;
  const CpuDevice &host;
  mutable std::mutex mutex;
  std::map<uintptr_t, Allocation> allocations; // by address in the process
  int64_t used = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_SIMDEVICE_H
