//===- Processors.h - Which processors there are, and who runs on them --------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_PROCESSORS_H
#define LLMC_RUNTIME_DEVICE_PROCESSORS_H

#include <span>
#include <thread>

namespace llmc::rt {

/// Processors that this process may use: by affinity and by the quota of its control group.
unsigned availableProcessors();

/// Keeps the threads of a team off the processor of the caller whose run they share. Linux wakes a thread where its
/// waker runs if the processor that it slept on seems taken, and in a virtual machine each halted one does (KVM tells
/// the guest that it is preempted): after a pause a team then takes turns on one processor for a whole run.
///
/// The threads' own affinity excludes the caller's processor. The caller's affinity is the application's: it is only
/// moved back where it began the run.
class ApartFromCaller {
public:
  /// At the beginning of a run, on the caller. Costs system calls only if the caller began the last run elsewhere.
  void begin(std::span<std::thread> team);
  /// On the caller after it may have slept.
  void goHome() const;

private:
  int home = -1;
  bool holds = false; // whether the threads keep off
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_PROCESSORS_H
