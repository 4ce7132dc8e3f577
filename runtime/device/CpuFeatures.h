//===- CpuFeatures.h - What this machine's processor can run ------------------------------------------------------===//
//
// A feature counts as present if the processor has it and the operating system saves its registers. Feature names are
// LLVM's. A level is a set of features with a name, as in `--cpu`.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_CPUFEATURES_H
#define LLMC_RUNTIME_DEVICE_CPUFEATURES_H

#include <optional>
#include <span>
#include <string_view>

namespace llmc::rt {

/// Whether this machine has the feature; false for a name that the runtime does not know.
bool hostHasFeature(std::string_view name);

struct CpuLevel {
  std::string_view name;
  std::span<const std::string_view> features; // on top of those of the level before it
};

/// From the least to the greatest, each with all features of those before it.
std::span<const CpuLevel> cpuLevels();

/// The greatest level that this machine has; empty if it has not even the first.
std::string_view hostCpuLevel();

/// Nothing if this machine has all features of the level; else the first that it lacks. A level unknown to the runtime
/// states its needs by a variant's feature list alone.
std::optional<std::string_view> missingFeature(std::string_view level);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_CPUFEATURES_H
