//===- Steps.h - What one worker does of one step -----------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_EXEC_STEPS_H
#define LLMC_RUNTIME_EXEC_STEPS_H

#include "runtime/exec/RunState.h"

namespace llmc::rt {

inline constexpr int64_t kSplitBytes = 1 << 18; // of a copy: below this, a barrier costs more than the copy

struct WorkRange {
  int64_t begin, end;
};

/// Part `worker` of `workers` of `count` items; the parts are in order and differ by one item at most.
inline WorkRange rangeOf(int64_t count, unsigned worker, unsigned workers) {
  auto at = [&](unsigned w) { return int64_t(__int128(count) * w / workers); };
  return {at(worker), at(worker + 1)};
}

/// How many workers share a launch, so that each has at least a grain of work.
inline unsigned participantsOf(const Launch &launch, unsigned workers) {
  return unsigned(std::clamp<int64_t>(launch.grid / launch.grain, 1, workers));
}

/// Calls the kernel of dispatch `index`; its status. `error` describes it.
int32_t callKernel(RunState &state, uint32_t index, WorkRange range, unsigned worker, llmc_error &error);
/// Hands a dispatch, copy or fill to the queue of its device, with its waits and signals.
void submitWork(RunState &state, const Program::Step &step);

struct CopyRange {
  std::byte *dst;
  const std::byte *src;
  int64_t length;
  /// Whether workers may copy parts of it at one time, and it is worth while.
  bool canSplit() const;
  void run(WorkRange range) const;
};
CopyRange copyRange(const RunState &state, const Program::Copy &copy);

/// All bytes of `from` to `to`; refuses buffers of different sizes.
Status copyBuffer(const RunState &state, uint32_t from, uint32_t to);
void fillBuffer(const RunState &state, const Program::Fill &fill);
/// Reads the symbol from memory and checks its range.
Status readSymbol(RunState &state, const Program::ReadScalar &read);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXEC_STEPS_H
