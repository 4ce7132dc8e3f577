//===- DeviceProfile.h - What devices cost, from a file -----------------------------------------------------------===//
//
// Lines of three words: a device (cpu, sim:0, or sim:* for all of that kind), what is given, and a number. `#` starts a
// comment. A line for one device goes before one for all; among equals the last counts.
//
//   sim:*  launch_ns          5000
//   sim:1  memory_bytes       1048576
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_DEVICEPROFILE_H
#define LLMC_RUNTIME_DEVICE_DEVICEPROFILE_H

#include "runtime/base/Status.h"
#include "runtime/schema/plan_generated.h"
#include <vector>

namespace llmc::rt {

/// Times are of the virtual clock. A rate of 0 is no limit.
struct DeviceCosts {
  int64_t memoryBytes = INT64_MAX;
  int64_t launchNs = 0;       // per step
  int64_t bytesPerUs = 0;     // of what a kernel touches
  int64_t copyNs = 0;         // per copy
  int64_t copyBytesPerUs = 0; // of what is copied

  int64_t ofKernel(int64_t bytes) const { return launchNs + timeOf(bytes, bytesPerUs); }
  int64_t ofCopy(int64_t bytes) const { return copyNs + timeOf(bytes, copyBytesPerUs); }

private:
  static int64_t timeOf(int64_t bytes, int64_t rate) { return rate == 0 ? 0 : int64_t(__int128(bytes) * 1000 / rate); }
};

class DeviceProfile {
public:
  /// Of devices that cost nothing and have all memory there is.
  DeviceProfile() = default;
  static Result<DeviceProfile> read(const std::string &path);

  DeviceCosts of(plan::DeviceKind kind, uint32_t ordinal) const;
  bool isGiven() const { return !lines.empty(); }

private:
  struct Line {
    plan::DeviceKind kind;
    int64_t ordinal; // -1: all of the kind
    int64_t DeviceCosts::*what;
    int64_t value;
  };
  static Result<Line> parse(std::string_view text);

  std::vector<Line> lines;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_DEVICEPROFILE_H
