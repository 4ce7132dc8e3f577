//===- DeviceProfile.cpp - Reading profiles -----------------------------------------------------------------------===//

#include "runtime/device/DeviceProfile.h"
#include <charconv>
#include <fstream>
#include <sstream>

namespace llmc::rt {

static bool parseNumber(std::string_view text, int64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

/// `cpu`, `sim:3` or `sim:*`.
static bool parseDevice(std::string_view text, plan::DeviceKind &kind, int64_t &ordinal) {
  size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  kind = name == "cpu"    ? plan::DeviceKind::CPU
         : name == "sim"  ? plan::DeviceKind::SIM
         : name == "cuda" ? plan::DeviceKind::CUDA
                          : plan::DeviceKind::INVALID;
  ordinal = colon == text.npos ? 0 : -1;
  if (colon != text.npos && text.substr(colon + 1) != "*" && !parseNumber(text.substr(colon + 1), ordinal))
    return false;
  return kind != plan::DeviceKind::INVALID;
}

Result<DeviceProfile::Line> DeviceProfile::parse(std::string_view text) {
  static constexpr std::pair<std::string_view, int64_t DeviceCosts::*> known[] = {
      {"memory_bytes", &DeviceCosts::memoryBytes},
      {"launch_ns", &DeviceCosts::launchNs},
      {"bytes_per_us", &DeviceCosts::bytesPerUs},
      {"copy_ns", &DeviceCosts::copyNs},
      {"copy_bytes_per_us", &DeviceCosts::copyBytesPerUs}};
  std::istringstream words{std::string(text)};
  std::string device, what, number, more;
  words >> device >> what >> number >> more;
  Line line = {};
  auto refuse = [](const auto &...why) { return Status(Code::InvalidArgument, concat(why...)); };
  if (!parseDevice(device, line.kind, line.ordinal))
    return refuse("'", device, "' is no device, expected cpu, sim:N or sim:*");
  for (auto [name, member] : known)
    if (what == name)
      line.what = member;
  if (!line.what)
    return refuse("'", what, "' is not known, expected memory_bytes, launch_ns, bytes_per_us, copy_ns or copy_bytes_per_us");
  if (!parseNumber(number, line.value) || !more.empty())
    return refuse("expected one number after '", what, "', found '", number, more.empty() ? "" : " ", more, "'");
  return line;
}

Result<DeviceProfile> DeviceProfile::read(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return Status(Code::Io, concat("can not open the device profile '", path, "'"));
  DeviceProfile profile;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    text = text.substr(0, text.find('#'));
    if (text.find_first_not_of(" \t\r") == text.npos)
      continue;
    auto line = parse(text);
    if (!line.ok())
      return std::move(line).status().in(concat(path, ":", number));
    profile.lines.push_back(*line);
  }
  return profile;
}

DeviceCosts DeviceProfile::of(plan::DeviceKind kind, uint32_t ordinal) const {
  DeviceCosts costs;
  for (int64_t which : {int64_t(-1), int64_t(ordinal)})
    for (const Line &line : lines)
      if (line.kind == kind && line.ordinal == which)
        costs.*line.what = line.value;
  return costs;
}

} // namespace llmc::rt
