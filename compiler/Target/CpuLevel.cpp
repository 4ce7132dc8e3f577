// See CpuLevel.h. Native is resolved to one of the named levels, so an artifact never depends on more of the build machine.
#include "compiler/Target/CpuLevel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using llvm::StringRef;

namespace llmc {
namespace {

constexpr StringRef kV2Features[] = {"cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"};
constexpr StringRef kV3Features[] = {"cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2", "avx",
                                     "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
constexpr StringRef kV4Features[] = {"cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "bmi", "bmi2",
                                     "f16c", "fma", "lzcnt", "movbe", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};
constexpr StringRef kV4VnniBf16Features[] = {
    "cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "bmi", "bmi2", "f16c",
    "fma", "lzcnt", "movbe", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512vnni", "avx512bf16"};

// The tuning of x86-64-v4 prefers 256-bit vectors; the generator decides on its own, in native 512-bit ones.
constexpr CpuLevel kLevels[] = {
    {"x86-64-v2", "x86-64-v2", "", kV2Features, "x86-64-v2", 16, 16, 2, false},
    {"x86-64-v3", "x86-64-v3", "", kV3Features, "x86-64-v3", 32, 16, 3, true},
    {"x86-64-v4", "x86-64-v4", "-prefer-256-bit", kV4Features, "x86-64-v4", 64, 32, 4, true},
    {"x86-64-v4+vnni+bf16", "x86-64-v4", "-prefer-256-bit,+avx512vnni,+avx512bf16", kV4VnniBf16Features, "x86-64-v4", 64, 32,
     5, true},
};

} // namespace

llvm::ArrayRef<CpuLevel> allCpuLevels() { return kLevels; }

bool hostRuns(const CpuLevel &level) {
  static const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  return llvm::all_of(level.requiredFeatures, [](StringRef feature) { return host.lookup(feature); });
}

llvm::Expected<const CpuLevel *> findCpuLevel(StringRef name) {
  if (name == "native") {
    for (const CpuLevel &level : llvm::reverse(allCpuLevels()))
      if (hostRuns(level))
        return &level;
    return llvm::createStringError("this machine is older than x86-64-v2, the least that code is generated for");
  }
  for (const CpuLevel &level : allCpuLevels())
    if (level.name == name)
      return &level;
  return llvm::createStringError("unknown CPU level '" + name.str() + "', expected native, " +
                                 llvm::join(llvm::map_range(allCpuLevels(), [](auto &l) { return l.name; }), ", "));
}

} // namespace llmc
