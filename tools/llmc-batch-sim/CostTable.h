//===- CostTable.h - What a run costs, by its rows ----------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_COSTTABLE_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_COSTTABLE_H

#include "tools/llmc-batch-sim/Recording.h"

namespace llmc::sim {

/// Wherever it comes from, a table is a list of points in ascending rows.
struct CostTable {
  std::vector<uint32_t> rows;
  std::vector<batch::TimeNs> cost;
  bool anySize = false; // costs lie on a line between two points

  /// fixed + perRow x rows, at each of `rows`.
  static CostTable fromFormula(std::vector<uint32_t> rows, double fixedMs, double perRowMs);
  /// Lines of `ROWS MILLISECONDS`; # begins a comment.
  static CostTable fromFile(const std::string &path);

  /// As llmc-bench measured it, for the bucket of the edges NAME=EDGE; the last edge of a dim that is not named.
  static CostTable fromArtifact(const std::string &path, const std::vector<std::string> &edges);

  /// Means of the runs of each bucket. Where a size ran less than eight times, what was expected of it, corrected by
  /// what was seen of the others.
  static std::vector<CostTable> fromRecording(const Recording::Model &model);

  /// The smallest point with so many rows, or the last.
  size_t pointOf(uint32_t executed) const;
  /// There, or with `anySize` between it and the one before with so many rows.
  batch::TimeNs at(uint32_t executed) const;
};

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_COSTTABLE_H
