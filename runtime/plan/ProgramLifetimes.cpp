//===- ProgramLifetimes.cpp - Program order, and when each buffer's bytes are in use ------------------------------===//
//
// Steps are numbered as one walk through all blocks meets them, a loop's body once. A buffer that a block shares with
// one around it (through a view) is in use during the whole step that enters the block: a loop may come back to it.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/plan/ProgramUses.h"
#include <algorithm>

namespace llmc::rt {

static void numberSteps(Program &program, uint32_t block, uint32_t &next) {
  if (block == kNone)
    return;
  Slice slice = program.blocks[block].steps;
  for (uint32_t s = slice.first; s < slice.first + slice.size; ++s) {
    Program::Step &step = program.steps[s];
    step.position = step.end = next++;
    if (step.kind == Program::StepKind::If) {
      numberSteps(program, program.ifs[step.index].blocks[1], next);
      numberSteps(program, program.ifs[step.index].blocks[0], next);
      step.end = next++;
    } else if (step.kind == Program::StepKind::Loop) {
      numberSteps(program, program.loops[step.index].block, next);
      step.end = next++;
    }
  }
}

static void extend(Program &program, uint32_t buffer, uint32_t from, uint32_t to) {
  Program::Buffer &root = program.buffers[program.buffers[buffer].root];
  for (uint32_t block = program.buffers[buffer].block; block != root.block; block = program.blocks[block].parent) {
    const Program::Step &entered = program.steps[program.blocks[block].entryStep];
    from = entered.position;
    to = entered.end;
  }
  bool unused = root.firstUse > root.lastUse;
  root.firstUse = unused ? from : std::min(root.firstUse, from);
  root.lastUse = unused ? to : std::max(root.lastUse, to);
}

static void noteInPlace(Program &program, const Program::Step &step) {
  const Program::Dispatch &dispatch = program.dispatches[step.index];
  std::span<const uint32_t> buffers = program.buffersOf(dispatch);
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    uint32_t with = dispatch.exported->bindings()->Get(i)->in_place_with();
    if (with == kNone)
      continue;
    uint32_t read = buffers[with], written = buffers[i];
    if (program.buffers[read].root == read && program.buffers[written].root == written)
      program.inPlace.push_back({read, written, step.position});
  }
}

void computeLifetimes(Program &program) {
  uint32_t next = 0;
  numberSteps(program, 0, next);
  for (const Program::Step &step : program.steps) {
    forEachUse(program, step,
               [&](uint32_t buffer, plan::Access, uint32_t from, uint32_t to) { extend(program, buffer, from, to); });
    if (step.kind == Program::StepKind::Dispatch)
      noteInPlace(program, step);
  }
  std::sort(program.inPlace.begin(), program.inPlace.end());
}

} // namespace llmc::rt
