//===- Executor.h - Runs one request ------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_EXEC_EXECUTOR_H
#define LLMC_RUNTIME_EXEC_EXECUTOR_H

#include "runtime/exec/RunState.h"
#include <atomic>

namespace llmc::rt {

/// A step that has ended, as worker 0 saw it.
struct ProfileEvent {
  const Program *program;
  const Program::Step *step;
  std::chrono::steady_clock::time_point begin, end;
  unsigned workers; // that took part
};

/// Called on the thread that runs the request.
struct ProfileHook {
  void (*call)(void *user, const ProfileEvent &event) = nullptr;
  void *user = nullptr;
};

/// What a run needs of its session.
struct RunRequest {
  RunState &state; // applied and with addresses
  std::span<OutputMemory> outputs;
  const Binding &binding;
  std::span<llmc_error> errors; // one per worker
  const std::atomic<bool> &cancelled;
  ProfileHook profile;
  VirtualClock *clock; // may be null
};

/// Walks the program with the workers of `team`, or with the calling thread alone if that is null. After an error the
/// contents of outputs are undefined.
Status execute(const RunRequest &request, Team *team);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXEC_EXECUTOR_H
