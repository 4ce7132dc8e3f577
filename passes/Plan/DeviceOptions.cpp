// See DeviceOptions.h.
#include "passes/Plan/DeviceOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace llmc {

static std::string quoted(StringRef text) { return "'" + text.str() + "'"; }

std::string DeviceOptions::addDevice(StringRef text) {
  auto [name, what] = text.split('=');
  auto [kindName, number] = what.split(':');
  std::optional<plan::DeviceKindEnum> kind = plan::symbolizeDeviceKindEnum(kindName);
  int64_t ordinal = 0;
  bool hasNumber = what.contains(':');
  if (name.empty() || !kind || *kind == plan::DeviceKindEnum::Cuda || (hasNumber && (number.getAsInteger(10, ordinal) || ordinal < 0)))
    return "--device " + quoted(text) + " is not NAME=cpu or NAME=sim:N";
  if (*kind == plan::DeviceKindEnum::Cpu && hasNumber)
    return "--device " + quoted(text) + ": there is one cpu, without a number";
  if (*kind != plan::DeviceKindEnum::Cpu && name == "cpu")
    return "--device " + quoted(text) + ": 'cpu' is the name of the host";
  for (const Device &device : devices) {
    if (device.name == name)
      return "--device " + quoted(text) + ": there is a device of that name already";
    if (device.kind == *kind && device.ordinal == ordinal)
      return "--device " + quoted(text) + " is the device that is named " + quoted(device.name) + " already";
  }
  devices.push_back({name.str(), *kind, ordinal});
  return "";
}

std::string DeviceOptions::addPin(StringRef text) {
  auto [name, pattern] = text.split('=');
  auto device = find_if(devices, [&, name = name](const Device &known) { return known.name == name; });
  if (name.empty() || pattern.empty())
    return "--pin " + quoted(text) + " is not DEVICE=REGEX";
  if (device == devices.end())
    return "--pin " + quoted(text) + ": no --device is named " + quoted(name);
  std::string problem;
  if (!Regex(pattern).isValid(problem))
    return "--pin " + quoted(text) + ": " + problem;
  pins.push_back({size_t(device - devices.begin()), pattern.str()});
  return "";
}

std::string DeviceOptions::hostName() const {
  auto isCpu = [](const Device &device) { return device.kind == plan::DeviceKindEnum::Cpu; };
  auto cpu = find_if(devices, isCpu);
  return cpu == devices.end() ? "cpu" : cpu->name;
}

} // namespace llmc
