//===- Placement.cpp - Where buffers lie in their arenas ----------------------------------------------------------===//

#include "runtime/base/CheckedMath.h"
#include "runtime/plan/ArenaPlanner.h"
#include "runtime/plan/ShapeState.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>
#include <map>

namespace llmc::rt {
namespace {

class ArenaPlacement {
public:
  ArenaPlacement(const Program &program, ShapeState &state, uint32_t arena)
      : program(program), state(state), arena(arena) {}
  Status place(std::span<const BlockError> blockErrors);

private:
  Status checkGiven();
  Status insert(uint32_t buffer);
  Status conflict(uint32_t before, uint32_t after) const;
  void planOpen();
  bool mayReplace(uint32_t read, uint32_t written) const;
  int64_t end(uint32_t buffer) const { return state.places[buffer] + state.sizes[buffer]; }

  const Program &program;
  ShapeState &state;
  uint32_t arena;
  std::vector<uint32_t> given, open;
  std::map<int64_t, uint32_t> live; // by place
};

bool ArenaPlacement::mayReplace(uint32_t read, uint32_t written) const {
  Program::InPlace pair = {read, written, program.buffers[read].lastUse};
  return state.places[read] == state.places[written] && program.buffers[written].firstUse == pair.position &&
         std::binary_search(program.inPlace.begin(), program.inPlace.end(), pair);
}

Status ArenaPlacement::conflict(uint32_t a, uint32_t b) const {
  Code code = program.placementEvent == kLoadEvent ? Code::InvalidPlan : Code::Shape;
  auto describe = [&](uint32_t i) {
    return concat("buffer ", i, " '", text(program.buffers[i].spec->name()), "' (", state.places[i], "..", end(i),
                  ", steps ", program.buffers[i].firstUse, "..", program.buffers[i].lastUse, ")");
  };
  return {code, "arena-overlap", concat("[arena-overlap] ", describe(a), " and ", describe(b), " overlap")};
}

/// Adds `buffer` to those live now, which are disjoint: so only its neighbours can overlap it.
Status ArenaPlacement::insert(uint32_t buffer) {
  auto [at, inserted] = live.insert({state.places[buffer], buffer});
  if (!inserted) {
    if (!mayReplace(at->second, buffer))
      return conflict(at->second, buffer);
    at->second = buffer;
  }
  if (auto next = std::next(at); next != live.end() && end(buffer) > next->first)
    return conflict(buffer, next->second);
  if (at != live.begin() && end(std::prev(at)->second) > state.places[buffer])
    return conflict(std::prev(at)->second, buffer);
  return {};
}

/// Sweeps over the program with the set of live buffers.
Status ArenaPlacement::checkGiven() {
  for (uint32_t buffer : given) {
    state.places[buffer] = state.values[program.buffers[buffer].offset];
    state.arenaSizes[arena] = std::max(state.arenaSizes[arena], end(buffer));
  }
  std::vector<uint32_t> byEnd = given;
  auto firstUse = [&](uint32_t i) { return program.buffers[i].firstUse; };
  auto lastUse = [&](uint32_t i) { return program.buffers[i].lastUse; };
  std::sort(given.begin(), given.end(), [&](uint32_t a, uint32_t b) { return firstUse(a) < firstUse(b); });
  std::sort(byEnd.begin(), byEnd.end(), [&](uint32_t a, uint32_t b) { return lastUse(a) < lastUse(b); });
  size_t ended = 0;
  for (uint32_t buffer : given) {
    for (; lastUse(byEnd[ended]) < firstUse(buffer); ++ended)
      if (auto at = live.find(state.places[byEnd[ended]]); at != live.end() && at->second == byEnd[ended])
        live.erase(at);
    LLMC_TRY(insert(buffer));
  }
  return {};
}

/// Behind those with a given place.
void ArenaPlacement::planOpen() {
  int64_t alignment = program.body->arenas()->Get(arena)->alignment();
  int64_t base = int64_t(alignUp(uint64_t(state.arenaSizes[arena]), uint64_t(alignment)));
  std::vector<ArenaItem> items;
  for (uint32_t buffer : open)
    items.push_back(
        {state.sizes[buffer], program.buffers[buffer].firstUse, program.buffers[buffer].lastUse, alignment});
  ArenaPlan plan = planArena(items);
  for (size_t i = 0; i < open.size(); ++i)
    state.places[open[i]] = base + plan.offsets[i];
  state.arenaSizes[arena] = base + plan.peak;
}

Status ArenaPlacement::place(std::span<const BlockError> blockErrors) {
  state.arenaSizes[arena] = 0;
  for (uint32_t i = 0; i < program.buffers.size(); ++i) {
    const Program::Buffer &buffer = program.buffers[i];
    bool unusable = std::any_of(blockErrors.begin(), blockErrors.end(),
                                [&](const BlockError &error) { return error.block == buffer.block; });
    if (buffer.kind != plan::BufKind::ARENA || buffer.arena != arena || buffer.isLate() || unusable ||
        buffer.firstUse > buffer.lastUse || state.sizes[i] == 0)
      continue;
    (buffer.offset == kNone ? open : given).push_back(i);
  }
  LLMC_TRY(checkGiven());
  if (!open.empty())
    planOpen();
  return {};
}

} // namespace

Status placeBuffers(const Program &program, ShapeState &state, std::span<const BlockError> blockErrors) {
  for (uint32_t arena = 0; arena < state.arenaSizes.size(); ++arena)
    LLMC_TRY(ArenaPlacement(program, state, arena).place(blockErrors));
  return {};
}

} // namespace llmc::rt
