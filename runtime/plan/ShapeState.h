//===- ShapeState.h - All numbers of a program for one shape ------------------------------------------------------===//
//
// Loading fills in what depends on constants, binding what depends on the inputs' dims, and the run the rest, event by
// event (Program.h). Each number is checked as it becomes known: sizes, views within their parents, the bytes that each
// kernel may touch within its buffers, work counts. After that the executor trusts them.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PLAN_SHAPESTATE_H
#define LLMC_RUNTIME_PLAN_SHAPESTATE_H

#include "runtime/plan/Program.h"

namespace llmc::rt {

/// What a hostile plan may ask for at most; sums over all buffers fit int64.
inline constexpr int64_t kMaxBytes = int64_t(1) << 42;
inline constexpr int64_t kMaxGrid = int64_t(1) << 40;
inline constexpr int64_t kMaxScratch = int64_t(1) << 31;

struct Launch {
  int64_t grid = 0;    // work items
  int64_t scratch = 0; // bytes per thread
  int64_t grain = 1;   // fewest work items worth a thread
  int64_t bytes = 0;   // that it may touch
  int64_t rows = 0;    // that it may mark
};

/// Lists parallel to those of the program; all have their final length from the start, so copying one over another of
/// the same program allocates nothing.
struct ShapeState {
  explicit ShapeState(const Program &program);

  std::vector<int64_t> symbols, values;
  std::vector<int64_t> sizes;        // bytes, per buffer
  std::vector<int64_t> offsets;      // per buffer: from the start of its root
  std::vector<int64_t> places;       // per root in an arena: offset in the arena
  std::vector<int64_t> scalars;      // parallel to scalarExprs
  std::vector<Launch> launches;      // per dispatch
  std::vector<int64_t> arenaSizes;   // bytes
  std::vector<int64_t> exportValues; // working memory
};

/// A block that can not be entered with these shapes, and why. Not an error until it is entered.
struct BlockError {
  uint32_t block;
  Status status;
};

/// Brings `state` up to date with `event`, in the groups of all blocks. An error in a block other than the root goes to
/// `blockErrors` if that is given.
Status resolveEvent(const Program &program, uint32_t event, ShapeState &state, std::vector<BlockError> *blockErrors);

/// Offsets of all buffers in arenas. Checks those that the plan gives: buffers in use at one time do not overlap. Plans
/// those that it leaves open. Buffers of blocks in `blockErrors` are left out.
Status placeBuffers(const Program &program, ShapeState &state, std::span<const BlockError> blockErrors);

/// The alignment that the address of `buffer` has for certain.
int64_t alignmentOf(const Program &program, const ShapeState &state, uint32_t buffer);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_PLAN_SHAPESTATE_H
