//===- Session.h - One request at a time --------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_EXEC_SESSION_H
#define LLMC_RUNTIME_EXEC_SESSION_H

#include "runtime/exec/Executor.h"

namespace llmc::rt {

/// Inputs, outputs and memory of requests that run one after the other. Used by one thread at a time, but for cancel().
class Session {
public:
  Session(std::shared_ptr<LoadedPlan> plan, uint32_t entry);

  /// `data` is read in place by each run until it is replaced; `dims` are copied.
  Status setInput(uint32_t index, plan::DType type, std::span<const int64_t> dims, std::span<const std::byte> data);
  /// Runs write the output in place; with empty `data` into memory of the session again.
  Status setOutput(uint32_t index, std::span<std::byte> data);
  /// Makes everything ready that follows from the dims of the inputs, as run() would.
  Status prepare();
  Status run();
  /// From any thread: the run under way ends soon, with an error. Without one, nothing.
  void cancel() { cancelled.store(true, std::memory_order_relaxed); }
  void setProfile(ProfileHook hook) { profile = hook; }
  /// Runs go on where a kernel refuses the data of single rows of the batch, and rowFaults() tells of them. The outputs of such a row are
  /// undefined, those of all others are as ever. Without effect on an entry that does not say what its batch dim is.
  void setRowFaults(bool wanted) { marksRows = wanted; }
  /// Of the last run, by rising row: each once, with the first step that refused it.
  struct RowFault {
    int64_t row;
    Status status;
  };
  std::span<const RowFault> rowFaults() const { return faults; }

  /// Of the last run; dims that do not depend on data are there after prepare().
  std::span<const int64_t> outputDims(uint32_t index) const { return outputShapes[index]; }
  std::span<const std::byte> outputData(uint32_t index) const { return outputBytes[index]; }
  const plan::EntryPoint &spec() const { return entry.spec; }
  const LoadedPlan &loadedPlan() const { return *plan; }
  /// Bytes that the session holds for arenas, for the body last run.
  size_t arenaBytes() const;
  /// What the last run would take on the devices of the profile that the plan was loaded with; 0 without one.
  int64_t virtualTime() const { return clock ? clock->now() : 0; }

private:
  Status bindInputs();
  Status checkMemory() const;
  void describeOutputs(bool afterRun);
  int64_t batchRows() const;
  void collectRowFaults();

  std::shared_ptr<LoadedPlan> plan;
  LoadedEntry &entry;
  std::vector<const std::byte *> inputs; // per input; null: not set, or without elements
  std::vector<bool> inputSet;
  std::vector<size_t> inputSizes, firstDim; // bytes; index in dims
  std::vector<int64_t> dims;                // of all inputs
  std::vector<OutputMemory> outputs;
  std::vector<std::vector<int64_t>> outputShapes;
  std::vector<std::span<const std::byte>> outputBytes;
  std::vector<std::unique_ptr<RunState>> states; // per body, once it is used
  std::shared_ptr<const Binding> binding;
  std::vector<std::unique_ptr<VirtualClock>> clocks; // per body, once it is used; null without a profile
  RunState *state = nullptr;                         // of the binding's body
  VirtualClock *clock = nullptr;                     // the same
  bool dimsChanged = true, memoryChanged = true;
  std::vector<llmc_error> errors;
  std::atomic<bool> cancelled = false;
  ProfileHook profile;
  bool marksRows = false;
  std::vector<RowFault> faults;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXEC_SESSION_H
