//===- CostTable.h - What a run costs, by its rows ----------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_COSTTABLE_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_COSTTABLE_H

#include "runtime/batch/BatchTypes.h"
#include <string>
#include <vector>

namespace llmc::sim {

/// Wherever it comes from, a table is a list of points in ascending rows.
struct CostTable {
  std::vector<uint32_t> rows;
  std::vector<batch::TimeNs> cost;

  /// fixed + perRow x rows, at each of `rows`.
  static CostTable fromFormula(std::vector<uint32_t> rows, double fixedMs, double perRowMs);
  /// Lines of `ROWS MILLISECONDS`; # begins a comment.
  static CostTable fromFile(const std::string &path);

  /// As llmc-bench measured it, for the bucket of the edges NAME=EDGE; the last edge of a dim that is not named.
  static CostTable fromArtifact(const std::string &path, const std::vector<std::string> &edges);

  /// Of the smallest point with so many rows.
  batch::TimeNs at(uint32_t executed) const;
};

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_COSTTABLE_H
