//===- Instance.h - A session of a model and the thread that runs batches on it -----------------------------------===//
//
// A batch of one request that fills it runs on the request's own memory. Others are gathered first and scattered afterwards.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_INSTANCE_H
#define LLMC_RUNTIME_BATCH_INSTANCE_H

#include "runtime/batch/Call.h"
#include "runtime/exec/Session.h"
#include <thread>

namespace llmc::batch {

/// A batch as an instance sees it. Written under the batcher's lock while nobody runs or gathers it.
struct Job {
  BatchId batch = kNone;
  int64_t rows = 0; // that run
  std::vector<Call *> members;
  std::vector<int64_t> lengths;               // rows of each member
  std::vector<int64_t> inputDims, outputDims; // of all, as they run

  /// Sets the dims of all inputs that depend on which requests run together, from `rows` and `lengths`.
  void placeRows(const BatchSpec &spec);
};

/// How a run ended.
struct RunResult {
  BatchFault fault = BatchFault::None;
  rt::Status error;
  std::vector<uint32_t> badMembers; // positions of those whose rows alone failed, ascending
  std::vector<rt::Status> badErrors; // parallel to it
};

/// The inputs of a batch, one after the other.
struct GatheredInputs {
  std::vector<rt::AlignedBlock> blocks;
};

class Instance {
public:
  Instance(std::shared_ptr<rt::LoadedPlan> plan, uint32_t entry, const BatchSpec &spec)
      : spec(spec), session(std::move(plan), entry) {
    session.setRowFaults(spec.isBatched());
    for (GatheredInputs &inputs : gathered)
      inputs.blocks.resize(spec.inputs.size());
  }

  /// Copies the rows of the members into one of the two sets of inputs.
  rt::Status gather(const Job &job, unsigned set);
  /// Runs the job; `isGathered`: its inputs are in `set`. Outputs of the members are written.
  void run(const Job &job, unsigned set, bool isGathered, RunResult &result);
  /// Whether the members' own memory does.
  bool runsInPlace(const Job &job) const;
  /// Of a run of so many rows on zeros; nothing if it fails.
  std::optional<TimeNs> measure(const Job &job);
  void cancel() { session.cancel(); }

  const BatchSpec &spec;

private:
  rt::Status gatherInput(const Job &job, uint32_t index, rt::AlignedBlock &block) const;
  rt::Status generateInputs(const Job &job, unsigned set);
  rt::Status setInputs(const Job &job, unsigned set, bool inPlace);
  rt::Status setOutputs(const Job &job, bool inPlace);
  rt::Status scatter(const Job &job);
  void collectRowFaults(const Job &job, RunResult &result) const;
  rt::Status scatterOutput(const Job &job, uint32_t index);
  rt::Status checkOutputDims(const Job &job, uint32_t index) const;
  bool isWhole(const Job &job, uint32_t output) const;
  std::span<const int64_t> inputDims(const Job &job, uint32_t index) const {
    return std::span(job.inputDims).subspan(spec.inputs[index].firstDim, spec.inputs[index].rank);
  }
  std::span<const int64_t> outputDims(const Job &job, uint32_t index) const {
    return std::span(job.outputDims).subspan(spec.outputs[index].firstDim, spec.outputs[index].rank);
  }

  rt::Session session;
  GatheredInputs gathered[2];
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_INSTANCE_H
