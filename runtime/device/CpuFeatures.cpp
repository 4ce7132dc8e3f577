//===- CpuFeatures.cpp - cpuid, xgetbv and the levels of x86-64 ---------------------------------------------------===//

#include "runtime/device/CpuFeatures.h"
#include <algorithm>
#include <array>
#include <cpuid.h>
#include <cstdint>

namespace llmc::rt {
namespace {

enum Register : uint8_t { EAX, EBX, ECX, EDX };
enum class State : uint8_t { None, Avx, Avx512 }; // registers that the operating system must save

struct Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  State state;
};

constexpr uint32_t kExtended = 0x80000001;

constexpr Feature kFeatures[] = {
    {"sse3", 1, 0, ECX, 0, State::None},
    {"pclmul", 1, 0, ECX, 1, State::None},
    {"ssse3", 1, 0, ECX, 9, State::None},
    {"fma", 1, 0, ECX, 12, State::Avx},
    {"cx16", 1, 0, ECX, 13, State::None},
    {"sse4.1", 1, 0, ECX, 19, State::None},
    {"sse4.2", 1, 0, ECX, 20, State::None},
    {"movbe", 1, 0, ECX, 22, State::None},
    {"popcnt", 1, 0, ECX, 23, State::None},
    {"aes", 1, 0, ECX, 25, State::None},
    {"xsave", 1, 0, ECX, 26, State::None},
    {"avx", 1, 0, ECX, 28, State::Avx},
    {"f16c", 1, 0, ECX, 29, State::Avx},
    {"rdrnd", 1, 0, ECX, 30, State::None},
    {"cmov", 1, 0, EDX, 15, State::None},
    {"cx8", 1, 0, EDX, 8, State::None},
    {"mmx", 1, 0, EDX, 23, State::None},
    {"fxsr", 1, 0, EDX, 24, State::None},
    {"sse", 1, 0, EDX, 25, State::None},
    {"sse2", 1, 0, EDX, 26, State::None},
    {"fsgsbase", 7, 0, EBX, 0, State::None},
    {"bmi", 7, 0, EBX, 3, State::None},
    {"avx2", 7, 0, EBX, 5, State::Avx},
    {"bmi2", 7, 0, EBX, 8, State::None},
    {"avx512f", 7, 0, EBX, 16, State::Avx512},
    {"avx512dq", 7, 0, EBX, 17, State::Avx512},
    {"rdseed", 7, 0, EBX, 18, State::None},
    {"adx", 7, 0, EBX, 19, State::None},
    {"avx512ifma", 7, 0, EBX, 21, State::Avx512},
    {"avx512cd", 7, 0, EBX, 28, State::Avx512},
    {"sha", 7, 0, EBX, 29, State::None},
    {"avx512bw", 7, 0, EBX, 30, State::Avx512},
    {"avx512vl", 7, 0, EBX, 31, State::Avx512},
    {"avx512vbmi", 7, 0, ECX, 1, State::Avx512},
    {"avx512vbmi2", 7, 0, ECX, 6, State::Avx512},
    {"gfni", 7, 0, ECX, 8, State::None},
    {"vaes", 7, 0, ECX, 9, State::Avx},
    {"vpclmulqdq", 7, 0, ECX, 10, State::Avx},
    {"avx512vnni", 7, 0, ECX, 11, State::Avx512},
    {"avx512bitalg", 7, 0, ECX, 12, State::Avx512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, State::Avx512},
    {"avx512fp16", 7, 0, EDX, 23, State::Avx512},
    {"avxvnni", 7, 1, EAX, 4, State::Avx},
    {"avx512bf16", 7, 1, EAX, 5, State::Avx512},
    {"avxifma", 7, 1, EAX, 23, State::Avx},
    {"sahf", kExtended, 0, ECX, 0, State::None},
    {"lzcnt", kExtended, 0, ECX, 5, State::None},
    {"sse4a", kExtended, 0, ECX, 6, State::None},
    {"prfchw", kExtended, 0, ECX, 8, State::None},
    {"64bit", kExtended, 0, EDX, 29, State::None},
};

constexpr std::string_view kV2[] = {"cmov", "cx8",    "fxsr", "mmx",    "sse",    "sse2", "cx16",
                                    "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"};
constexpr std::string_view kV3[] = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"};
constexpr std::string_view kV4[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};
constexpr std::string_view kV4VnniBf16[] = {"avx512vnni", "avx512bf16"};

constexpr CpuLevel kLevels[] = {
    {"x86-64-v2", kV2}, {"x86-64-v3", kV3}, {"x86-64-v4", kV4}, {"x86-64-v4+vnni+bf16", kV4VnniBf16}};

/// The registers that the operating system saves, by XCR0: bits 1, 2 are SSE and AVX, bits 5..7 AVX-512.
State savedState() {
  uint32_t eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 27)))
    return State::None;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 0x6) != 0x6)
    return State::None;
  return (low & 0xe6) == 0xe6 ? State::Avx512 : State::Avx;
}

std::array<bool, std::size(kFeatures)> detect() {
  std::array<bool, std::size(kFeatures)> present = {};
  State saved = savedState();
  for (size_t i = 0; i < std::size(kFeatures); ++i) {
    const Feature &feature = kFeatures[i];
    uint32_t regs[4] = {};
    bool known = __get_cpuid_count(feature.leaf, feature.subleaf, &regs[EAX], &regs[EBX], &regs[ECX], &regs[EDX]);
    present[i] = known && (regs[feature.reg] >> feature.bit & 1) && feature.state <= saved;
  }
  return present;
}

} // namespace

bool hostHasFeature(std::string_view name) {
  static const auto present = detect();
  for (size_t i = 0; i < std::size(kFeatures); ++i)
    if (kFeatures[i].name == name)
      return present[i];
  return false;
}

std::span<const CpuLevel> cpuLevels() { return kLevels; }

std::optional<std::string_view> missingFeature(std::string_view level) {
  bool known = std::any_of(std::begin(kLevels), std::end(kLevels), [&](auto &other) { return other.name == level; });
  if (!known)
    return std::nullopt;
  for (const CpuLevel &step : kLevels) {
    for (std::string_view feature : step.features)
      if (!hostHasFeature(feature))
        return feature;
    if (step.name == level)
      break;
  }
  return std::nullopt;
}

std::string_view hostCpuLevel() {
  std::string_view best;
  for (const CpuLevel &level : kLevels)
    if (!missingFeature(level.name))
      best = level.name;
  return best;
}

} // namespace llmc::rt
