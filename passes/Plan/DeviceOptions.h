// Devices and pins, as the command line gives them.
#ifndef LLMC_PASSES_PLAN_DEVICEOPTIONS_H
#define LLMC_PASSES_PLAN_DEVICEOPTIONS_H

#include "dialects/Plan/Plan.h"
#include <string>
#include <vector>

namespace llmc {

/// Where ops go that no pin names: to the first device, or to the host, a CPU, if there is none.
struct DeviceOptions {
  struct Device {
    std::string name;
    plan::DeviceKindEnum kind;
    int64_t ordinal;
  };
  struct Pin {
    size_t device;
    std::string pattern; // extended regular expression; matches a part of a name
  };

  /// NAME=KIND or NAME=KIND:N. What is wrong with it; "" if nothing is.
  std::string addDevice(llvm::StringRef text);
  /// NAME=REGEX.
  std::string addPin(llvm::StringRef text);
  /// The name of the host: that of the device of kind cpu, or "cpu".
  std::string hostName() const;

  std::vector<Device> devices;
  std::vector<Pin> pins;
};

} // namespace llmc

#endif // LLMC_PASSES_PLAN_DEVICEOPTIONS_H
