// The CPU levels that code is generated for: what the compiler may use and what the machine must have.
#ifndef LLMC_COMPILER_TARGET_CPULEVEL_H
#define LLMC_COMPILER_TARGET_CPULEVEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llmc {

struct CpuLevel {
  llvm::StringRef name;         // as users and plans write it: "x86-64-v3"
  llvm::StringRef targetCpu;    // LLVM's target-cpu
  llvm::StringRef targetFeatures; // LLVM's target-features, on top of the CPU's
  /// CPU features that the machine must have, by LLVM's names, which the runtime knows too.
  llvm::ArrayRef<llvm::StringRef> requiredFeatures;
  /// The level whose reference bitcode is linked into this level's images.
  llvm::StringRef referenceLevel;
  unsigned vectorBytes; // of a native vector register
  unsigned registers;   // vector registers
  int priority;         // a machine that can run several levels takes the greatest
  bool fma;             // fused multiply-add in hardware; without it math.fma becomes a multiplication and an addition

  unsigned lanes(unsigned elementBytes) const { return vectorBytes / elementBytes; }
};

/// All levels, by ascending priority.
llvm::ArrayRef<CpuLevel> allCpuLevels();

/// The level called `name`; "native" is the best one that this machine runs. Fails with a message that lists the names.
llvm::Expected<const CpuLevel *> findCpuLevel(llvm::StringRef name);

/// Whether this machine has all that `level` requires.
bool hostRuns(const CpuLevel &level);

} // namespace llmc

#endif // LLMC_COMPILER_TARGET_CPULEVEL_H
