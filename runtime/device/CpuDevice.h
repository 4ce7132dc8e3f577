//===- CpuDevice.h - This machine's processors --------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_CPUDEVICE_H
#define LLMC_RUNTIME_DEVICE_CPUDEVICE_H

#include "runtime/device/Device.h"
#include "runtime/device/Team.h"

namespace llmc::rt {

class CpuDevice final : public Device {
public:
  /// `threads` per run, 0 for all processors. `pinnedLevel` allows only variants of that name; empty: any that fits.
  CpuDevice(unsigned threads, std::string pinnedLevel);

  plan::DeviceKind kind() const override { return plan::DeviceKind::CPU; }
  Status supports(const plan::Variant &variant) const override;
  Result<std::unique_ptr<CodeImage>> load(const PlanFile &file, const plan::Variant &variant) const override;
  Result<std::byte *> allocate(size_t bytes, size_t alignment) override;
  void free(std::byte *address, size_t bytes) override;
  Result<std::unique_ptr<Queue>> makeQueue(size_t capacity) override { return std::unique_ptr<Queue>(); }

  TeamPool &teams() const { return *pool; }
  unsigned threads() const { return pool->threads(); }

  static constexpr unsigned kMaxThreads = 256;

private:
  std::string pinnedLevel;
  std::shared_ptr<TeamPool> pool;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_CPUDEVICE_H
