//===- Call.h - A request of the batcher, with its tensors -----------------------------------------------------===//
//
// One thread at a time writes a request: the one that submits it until it is admitted; then the batcher, under its lock, and
// the instance that runs it, its outputs alone; then whoever holds the handle. Memory is kept for the next request.
//
// A request of more rows than a batch runs as parts. They have no tensors of their own, but rows of the whole.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_CALL_H
#define LLMC_RUNTIME_BATCH_CALL_H

#include "llmc/llmc.h"
#include "runtime/base/AlignedBlock.h"
#include "runtime/batch/BatchSpec.h"
#include "runtime/device/Futex.h"

namespace llmc::batch {

class Batcher;

// Codes that only batchers have; values of enum llmc_status.
inline constexpr rt::Code kRejected = rt::Code(LLMC_REJECTED), kDeadline = rt::Code(LLMC_DEADLINE);

struct Call {
  enum State : uint32_t {
    Pending,
    Ended, // it has its outcome; its callback may be running
    Told   // the batcher has no more to do with it
  };
  struct Output {
    std::byte *data = nullptr;
    size_t size = 0;
    std::byte *user = nullptr; // memory of the caller
    size_t userBytes = 0;
    rt::AlignedBlock own;
  };

  Batcher *batcher = nullptr;
  uint32_t index = 0; // in the pool; its id in the core
  const BatchSpec *spec = nullptr;
  uint32_t model = 0;
  int64_t rows = 1, firstRow = 0;
  std::vector<const std::byte *> inputs;
  std::vector<size_t> inputSizes;
  std::vector<int64_t> inputDims, outputDims; // of all, as the caller has them
  std::vector<int64_t> shapeDims;             // of all inputs, as they run; 0 in place of rows
  std::vector<std::byte> shared;              // inputs without rows, where they are a part of the shape
  std::vector<Output> outputs;
  rt::AlignedBlock copies; // of inputs
  int64_t bytes = 0;       // of inputs
  ContentHash content;     // of inputs, where answers are kept
  bool lends = false;      // the caller's memory is read or written while it runs
  llmc_request_callback callback = nullptr;
  void *user = nullptr;
  bool releasesItself = false;

  // Of the batcher, under its lock.
  Call *whole = nullptr;    // of a part
  Call *nextPart = nullptr; // of a whole, the first; of a part, the next
  uint32_t partsLeft = 0;      // of a whole
  RequestHandle handle;
  uint32_t bucket = kNone;
  bool usesShape = false; // of the bucket
  bool refused = false;
  uint32_t cacheSlot = kNone; // of the answer that it makes
  uint32_t pins = 0; // runs and copies that use its tensors
  bool settled = false, held = false; // has an outcome; which waits until its memory is not in use
  bool released = false;
  bool isShared = false; // counts as a share in the batcher
  bool late = false;
  Outcome outcome = Outcome::Done;
  Reason reason = Reason::None;
  rt::Status error;
  TimeNs arrival = 0, end = 0, deadline = kNever;
  uint32_t priority = 0;
  Call *nextEnded = nullptr;

  rt::WaitWord state;

  /// Whose tensors it uses.
  Call &owner() { return whole ? *whole : *this; }
  std::span<const int64_t> dimsOf(const BatchTensor &input) const {
    return std::span(inputDims).subspan(input.firstDim, input.rank);
  }
  std::span<const int64_t> outputDimsOf(const BatchTensor &output) const {
    return std::span(outputDims).subspan(output.firstDim, output.rank);
  }
  /// Memory for an output whose dims are known.
  rt::Status placeOutput(uint32_t index);
  /// The status for the caller, once it has ended.
  rt::Status result() const;
  /// As new, but for its memory.
  void reset();
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_CALL_H
