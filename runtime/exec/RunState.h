//===- RunState.h - What one request writes -----------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_EXEC_RUNSTATE_H
#define LLMC_RUNTIME_EXEC_RUNSTATE_H

#include "runtime/base/AlignedBlock.h"
#include "runtime/exec/LoadedPlan.h"

namespace llmc::rt {

/// Memory of an OUTPUT: the caller's, or the session's own.
struct OutputMemory {
  std::byte *user = nullptr;
  size_t userBytes = 0;
  AlignedBlock own;

  /// At least `size` bytes at result; refuses if the caller's memory is smaller.
  Result<std::byte *> ensure(size_t size, std::string_view name);
};

/// Numbers and addresses of one body in one session. Everything here has its final size after the first shape, except
/// memory, which grows to the greatest shape seen.
class RunState {
public:
  explicit RunState(const LoadedBody &body);

  /// Takes over the numbers of `binding`, which is of this body, and makes sure of memory for them.
  Status apply(std::shared_ptr<const Binding> binding, unsigned workers);
  /// Addresses of everything whose place is known before the run.
  Status bindAddresses(std::span<const std::byte *const> inputs, std::span<OutputMemory> outputs);
  /// Starts a run on the queues of devices: nothing is signalled, and what arenas hold is forgotten.
  void begin();
  /// Has the next runs mark rows that kernels refuse, of the `count` rows of a batch, instead of failing; 0: they fail.
  void markRows(int64_t count);
  /// Where dispatch `index` marks rows; null if it fails instead.
  int32_t *marksOf(uint32_t index);
  /// During a run, on one thread while no other runs: what becomes known at `event`.
  Status resolve(uint32_t event, std::span<OutputMemory> outputs);

  /// Memory of `bytes` bytes for a buffer whose size the run makes known; what it held may be lost.
  Status reserveLate(uint32_t index, int64_t bytes);
  /// The same, but the first `kept` bytes stay.
  Status growLate(uint32_t index, int64_t kept, int64_t bytes);

  const LoadedBody &body;
  const Program &program;
  ShapeState shape;
  std::vector<std::byte *> addresses; // per buffer
  std::vector<void *> pointers;       // parallel to the program's bindingBuffers
  std::vector<AlignedBlock> scratch;  // per worker
  std::vector<std::unique_ptr<Queue>> queues; // of devices; null for the host's
  std::vector<Semaphore> semaphores;
  std::vector<int32_t> marks; // of rows: llmc_kernel_status, for each of the program's rowSteps
  int64_t numRows = 0;        // of each list of marks
  std::shared_ptr<const Binding> applied;
  // Of loops: bytes of carried values with a place of their own and of what is collected, per entry of the program's lists; the
  // sizes of the next trip.
  std::vector<int64_t> carriedBytes, collectedBytes, nextSizes;

private:
  Status makeQueues();
  Status ensureScratch(size_t dispatch);
  Status bindBuffer(uint32_t index, std::span<OutputMemory> outputs);
  Status bindOutput(uint32_t index, std::span<OutputMemory> outputs);
  void bindPointers(const Program::Dispatch &dispatch);
  size_t alignmentOf(const Program::Buffer &arenaBuffer) const;

  std::vector<DeviceBlock> arenas;
  std::vector<DeviceBlock> late; // per buffer; empty for all but late ones in arenas
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXEC_RUNSTATE_H
