//===- BatchSpec.h - What an entry of a plan says of batching -----------------------------------------------------===//
//
// From the entry's Batching table, or from the name of a dim alone. Says for each input and output which axis is rows, and
// which are padded.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_BATCHSPEC_H
#define LLMC_RUNTIME_BATCH_BATCHSPEC_H

#include "runtime/batch/BatchTypes.h"
#include "runtime/exec/LoadedPlan.h"
#include <optional>

namespace llmc::batch {

struct BatchTensor {
  std::string name;
  plan::DType type = plan::DType::F32;
  int64_t elementSize = 0;
  uint32_t firstDim = 0, rank = 0; // of a list of the dims of all inputs, or of all outputs
  uint32_t rowAxis = kNone;        // kNone: an input is the same for the whole batch, an output goes to all of it, ...
  uint32_t requestAxis = kNone;    // ... unless this axis of a packed batch has one place for each request
  std::optional<plan::GeneratedKind> generated; // of an input: the batcher makes it
  std::vector<int64_t> dims;       // per axis: -1 if it is not fixed
  std::vector<uint32_t> paddedDim; // per axis: which of BatchSpec::padded it is, kNone if none
  std::vector<std::byte> pad;      // one element; empty: zeros
  bool knownBeforeRun = true;      // of an output: whether its dims follow from those of the inputs

  bool hasRows() const { return rowAxis != kNone; }
  /// The same for all requests of a batch.
  bool isShared() const { return !hasRows() && requestAxis == kNone && !generated; }
  /// Whether the axis depends on which requests are in the batch.
  bool varies(uint32_t axis) const { return axis == rowAxis || axis == requestAxis || generated; }
  bool operator==(const BatchTensor &) const = default;
};

struct PaddedDim {
  std::string name;
  std::vector<int64_t> edges; // ascending
  bool operator==(const PaddedDim &) const = default;
};

struct BatchSpec {
  std::string dim; // empty: nothing is batched, requests run alone
  int64_t minRows = 1, maxRows = 1;
  int64_t maxRequests = INT64_MAX; // of a packed batch
  std::vector<uint32_t> sizes; // row counts that run; empty: any
  std::vector<BatchTensor> inputs, outputs;
  std::vector<PaddedDim> padded;
  std::vector<TimeNs> costs; // [bucket][size], the last of `padded` fastest; empty: not measured here
  bool isExact = false;      // whether inputs have other dims or contents that requests of a batch must agree in
  uint32_t numInputDims = 0, numOutputDims = 0;

  bool isBatched() const { return !dim.empty(); }
  /// Its rows are places of requests that the model tells apart by inputs that the batcher makes.
  bool isPacked() const;
  /// The requests of one can be run by the other: all is equal but for what runs cost.
  bool matches(const BatchSpec &other) const;
};

/// `dim`: null: as the plan says; "": none; else a name, for which the caller vouches that rows do not influence each other.
rt::Result<BatchSpec> readBatchSpec(const rt::LoadedPlan &plan, uint32_t entry, const char *dim);

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_BATCHSPEC_H
