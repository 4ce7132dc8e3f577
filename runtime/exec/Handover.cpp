//===- Handover.cpp - What blocks of an If or Loop give to each other and to the block around them ----------------===//

#include "runtime/exec/Handover.h"
#include "runtime/exec/Steps.h"
#include "runtime/plan/verify/Verify.h"
#include <cstring>

namespace llmc::rt {
namespace {

Status setSymbol(RunState &state, uint32_t index, int64_t value) {
  const Program::Symbol &symbol = state.program.symbols[index];
  if (value < symbol.lo || value > symbol.hi)
    return {Code::Data, concat("'", text(symbol.spec->name()), "' becomes ", value, ", its range is ", symbol.lo, "..", symbol.hi)};
  state.shape.symbols[index] = value;
  return {};
}

void moveBytes(std::byte *to, const std::byte *from, int64_t size) {
  if (to != from)
    std::memmove(to, from, size_t(size));
}

Status wrongSize(const char *what, int64_t bytes, int64_t expected) {
  return {Code::Data, concat(what, " has ", bytes, " bytes, its dims ask for ", expected)};
}

/// The bytes of `from` to an argument of the block, which takes their size.
Status holdValue(RunState &state, const Program::Carried &carried, uint32_t from) {
  int64_t size = state.shape.sizes[from];
  if (state.program.buffers[carried.argument].isLate())
    LLMC_TRY(state.reserveLate(carried.argument, size));
  else if (size != state.shape.sizes[carried.argument])
    return wrongSize("a carried value", size, state.shape.sizes[carried.argument]);
  moveBytes(state.addresses[carried.argument], state.addresses[from], size);
  state.carriedBytes[size_t(&carried - state.program.carriedLists.data())] = size;
  return {};
}

Status appendValue(RunState &state, const Program::Collected &collected, int64_t trip) {
  int64_t &total = state.collectedBytes[size_t(&collected - state.program.collectedLists.data())];
  int64_t size = state.shape.sizes[collected.yield];
  if (trip == 0)
    total = 0;
  if (__int128(size) * trip != total)
    return {Code::Data, concat("a value that a loop collects has ", size, " bytes in trip ", trip, ", ", total, " in all trips before")};
  if (state.program.buffers[collected.out].isLate())
    LLMC_TRY(state.growLate(collected.out, total, total + size));
  else if (size > state.shape.sizes[collected.out] - total)
    return wrongSize("what a loop collects", total + size, state.shape.sizes[collected.out]);
  moveBytes(state.addresses[collected.out] + total, state.addresses[collected.yield], size);
  total += size;
  return {};
}

/// The loop has ended, with `state.nextSizes`.
Status giveLoopResults(RunState &state, const Program::Loop &loop, int64_t trips, std::span<OutputMemory> outputs) {
  const Program &program = state.program;
  std::span<const Program::CarriedSize> sizes = program.sizesOf(loop);
  for (size_t j = 0; j < sizes.size(); ++j)
    LLMC_TRY(setSymbol(state, sizes[j].result, state.nextSizes[j]));
  if (loop.event != kNone)
    LLMC_TRY(state.resolve(loop.event, outputs));
  for (const Program::Carried &carried : program.carriedOf(loop)) {
    if (carried.argument == kNone)
      continue;
    int64_t held = state.carriedBytes[size_t(&carried - program.carriedLists.data())];
    if (held != state.shape.sizes[carried.out])
      return wrongSize("a carried value", held, state.shape.sizes[carried.out]);
    moveBytes(state.addresses[carried.out], state.addresses[carried.argument], held);
  }
  for (const Program::Collected &collected : program.collectedOf(loop)) {
    int64_t total = trips == 0 ? 0 : state.collectedBytes[size_t(&collected - program.collectedLists.data())];
    if (total != state.shape.sizes[collected.out])
      return wrongSize("what a loop collects", total, state.shape.sizes[collected.out]);
  }
  return {};
}

} // namespace

Status giveBranchResults(RunState &state, const Program::If &branch, unsigned taken, std::span<OutputMemory> outputs) {
  for (const Program::BranchSize &size : state.program.sizesOf(branch))
    LLMC_TRY(setSymbol(state, size.symbol, state.shape.values[size.exprs[taken]]));
  if (branch.event != kNone)
    LLMC_TRY(state.resolve(branch.event, outputs));
  for (const Program::BranchResult &result : state.program.resultsOf(branch))
    LLMC_TRY(copyBuffer(state, result.yields[taken], result.out));
  return {};
}

Status startTrip(RunState &state, const Program::Loop &loop, int64_t trip, std::span<OutputMemory> outputs, bool &goesOn) {
  const Program &program = state.program;
  if (trip > 0)
    for (const Program::Collected &collected : program.collectedOf(loop))
      LLMC_TRY(appendValue(state, collected, trip - 1));
  std::span<const Program::CarriedSize> sizes = program.sizesOf(loop);
  for (size_t j = 0; j < sizes.size(); ++j)
    state.nextSizes[j] = state.shape.values[trip == 0 ? sizes[j].start : sizes[j].yield];
  for (const Program::Carried &carried : program.carriedOf(loop)) {
    uint32_t from = trip == 0 ? carried.init : carried.yield;
    LLMC_TRY(carried.argument == kNone ? copyBuffer(state, from, carried.out) : holdValue(state, carried, from));
  }
  bool stopped = loop.cond != kNone && state.addresses[loop.cond][0] == std::byte(0);
  goesOn = trip < state.shape.values[loop.trip] && !stopped;
  if (!goesOn)
    return giveLoopResults(state, loop, trip, outputs);
  if (uint64_t(trip) >= loop.maxTrip)
    return {Code::Data, concat("the loop does not end after ", loop.maxTrip, " trips")};
  if (loop.iteration != kNone)
    state.shape.symbols[loop.iteration] = trip;
  for (size_t j = 0; j < sizes.size(); ++j)
    LLMC_TRY(setSymbol(state, sizes[j].argument, state.nextSizes[j]));
  return {};
}

Status checkCarried(const RunState &state, const Program::Loop &loop) {
  for (const Program::Carried &carried : state.program.carriedOf(loop)) {
    if (carried.argument == kNone)
      continue;
    int64_t held = state.carriedBytes[size_t(&carried - state.program.carriedLists.data())];
    if (held != state.shape.sizes[carried.argument])
      return wrongSize("a carried value", held, state.shape.sizes[carried.argument]);
  }
  return {};
}

} // namespace llmc::rt
