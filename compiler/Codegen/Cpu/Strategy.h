// Which tiles and blocks a kernel uses: chosen from the CPU level and static sizes alone, so that neither a run-time
// size nor the number of threads can change it. None of these choices changes a result's bits.
#ifndef LLMC_COMPILER_CODEGEN_CPU_STRATEGY_H
#define LLMC_COMPILER_CODEGEN_CPU_STRATEGY_H

#include "compiler/Target/CpuLevel.h"
#include <optional>

namespace llmc::cpu {

/// What is known of a matrix product at compile time.
struct GemmShape {
  std::optional<int64_t> rows, columns, depth;
  /// Bytes of left operand that a row adds to a block: less than the depth's where rows overlap.
  std::optional<int64_t> rowBytes;
};

struct GemmStrategy {
  int64_t tileRows;    // register tile: rows
  int64_t tileVectors; //   and vectors of columns, which divide a panel
  int64_t blockRows;   // rows of a work item
  int64_t blockPanels; // panels of 32 columns of a work item
  bool fetchAhead;     // whether to fetch the next panel while one is used: the panels come from beyond the L2 cache
  int64_t itemNanos;   // estimated time of a whole work item
};

GemmStrategy chooseGemm(const CpuLevel &level, const GemmShape &shape);

/// Work items worth one thread (about 10 us) when one takes `itemNanos`.
int64_t grainOf(int64_t itemNanos);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_STRATEGY_H
