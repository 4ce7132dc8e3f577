//===- Device.h - What runs the steps of a queue ------------------------------------------------------------------===//
//
// A body of a plan asks for devices by kind; a device says which code variants it can run, and maps them. The
// implementation is CpuDevice; a GPU's is added beside it.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_DEVICE_H
#define LLMC_RUNTIME_DEVICE_DEVICE_H

#include "runtime/plan/PlanFile.h"
#include <string>
#include <string_view>

namespace llmc::rt {

/// The mapped code of one variant of an executable. Immutable; entries stay valid as long as it lives.
class CodeImage {
public:
  virtual ~CodeImage() = default;
  /// The code at VariantEntry.entry; refused if that is not code.
  virtual Result<const void *> entry(uint64_t address) const = 0;
};

/// Thread-safe.
class Device {
public:
  virtual ~Device() = default;
  virtual plan::DeviceKind kind() const = 0;
  /// Ok, or why this device can not run the variant.
  virtual Status supports(const plan::Variant &variant) const = 0;
  virtual Result<std::unique_ptr<CodeImage>> load(const PlanFile &file, const plan::Variant &variant) const = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_DEVICE_H
