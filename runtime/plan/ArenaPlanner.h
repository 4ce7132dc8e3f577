//===- ArenaPlanner.h - Offsets of buffers that share one arena ---------------------------------------------------===//
//
// Buffers that live at the same time get disjoint byte ranges; others may share. The problem is NP-complete, and the
// best of four greedy orders is within 2 % of the lower bound on typical models, so four orders it is. The compiler
// uses it for sizes that it knows, the runtime once for each new shape.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PLAN_ARENAPLANNER_H
#define LLMC_RUNTIME_PLAN_ARENAPLANNER_H

#include <cstdint>
#include <span>
#include <vector>

namespace llmc {

/// A buffer is live from its first step to its last, both included.
struct ArenaItem {
  int64_t size;       // bytes, >= 0
  uint32_t firstStep; // <= lastStep
  uint32_t lastStep;
  int64_t alignment = 1; // power of two
};

enum class ArenaOrder { Size, SizeTimesLife, Breadth, FirstUse };

struct ArenaPlan {
  std::vector<int64_t> offsets;        // one per item, a multiple of its alignment; 0 for an item of size 0
  int64_t peak = 0;                    // bytes of the arena
  int64_t lowerBound = 0;              // greatest sum of the sizes live at one step: no placement has a smaller peak
  uint32_t peakStep = 0;               // first step at which the lower bound is reached
  ArenaOrder order = ArenaOrder::Size; // the order that won
};

/// Deterministic. The sum of all size + alignment must fit int64.
ArenaPlan planArena(std::span<const ArenaItem> items);

} // namespace llmc

#endif // LLMC_RUNTIME_PLAN_ARENAPLANNER_H
