//===- LatencyModel.h - How long a run will take ------------------------------------------------------------------===//
//
// A table per bucket and variant for one version of a model on one device: first the configured costs, then an
// exponentially weighted mean of what was measured. Where any size runs, a line fitted through the last runs.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_LATENCYMODEL_H
#define LLMC_RUNTIME_BATCH_LATENCYMODEL_H

#include "runtime/batch/BatchConfig.h"
#include <array>

namespace llmc::batch {

/// Least squares through the last 50 runs: time = a + c x rows, in integers.
class LinearFit {
public:
  void add(uint32_t rows, TimeNs time);
  /// 0 while there are fewer than 8 runs, or runs of one size only.
  TimeNs predict(uint32_t rows) const;

private:
  static constexpr unsigned kWindow = 50, kEnough = 8;
  struct Run {
    int64_t rows, time;
  };
  void account(const Run &run, int sign);

  std::array<Run, kWindow> runs = {};
  unsigned count = 0, next = 0;
  __int128 sumRows = 0, sumTime = 0, sumRowsRows = 0, sumRowsTime = 0;
};

class LatencyModel {
public:
  LatencyModel(const ModelConfig &model, uint32_t costPercent);

  TimeNs predict(uint32_t bucket, uint32_t rows) const;
  void learn(uint32_t bucket, uint32_t rows, TimeNs measured);

private:
  size_t variantOf(uint32_t rows) const; // the smallest with so many rows
  TimeNs tableAt(uint32_t bucket, uint32_t rows) const;

  std::vector<uint32_t> variants;
  std::vector<TimeNs> table; // [bucket][variant]
  bool anySize;
  std::vector<LinearFit> fits; // per bucket, with anySize
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_LATENCYMODEL_H
