//===- ProgramEvents.cpp - When each value of a program is known --------------------------------------------------===//

#include "runtime/plan/Program.h"
#include <algorithm>

namespace llmc::rt {
namespace {

using Node = Program::Node;
using StepKind = Program::StepKind;

/// Walks blocks from the root, so that arguments are dated before the frames that take them.
class EventAssigner {
public:
  explicit EventAssigner(Program &program) : program(program) {}
  void assign();

private:
  void numberEvents();
  bool numberResults(const Program::Step &step, uint32_t next);
  void dateSymbols(Program::Block &block);
  void dateNodes(const Program::Block &block);
  void dateBuffer(Program::Buffer &buffer);
  uint32_t stepEvent(const Program::Step &step, uint32_t index) const;
  uint32_t argumentsEvent(uint32_t block) const;
  uint32_t node(uint32_t index) const { return index == kNone ? kLoadEvent : program.nodes[index].event; }
  uint32_t buffer(uint32_t index) const { return index == kNone ? kLoadEvent : program.buffers[index].event; }
  void collectGroups();

  Program &program;
  uint32_t numEvents = 0;
};

/// Gives the symbols that `step` defines the event `next`; false if there are none.
bool EventAssigner::numberResults(const Program::Step &step, uint32_t next) {
  if (step.kind == StepKind::ReadScalar) {
    Program::ReadScalar &read = program.reads[step.index];
    read.event = program.symbols[read.symbol].event = next;
    return true;
  }
  if (step.kind == StepKind::If && program.ifs[step.index].sizes.size) {
    program.ifs[step.index].event = next;
    for (const Program::BranchSize &size : program.sizesOf(program.ifs[step.index]))
      program.symbols[size.symbol].event = next;
    return true;
  }
  if (step.kind == StepKind::Loop && program.loops[step.index].sizes.size) {
    program.loops[step.index].event = next;
    for (const Program::CarriedSize &size : program.sizesOf(program.loops[step.index]))
      program.symbols[size.result].event = next;
    return true;
  }
  return false;
}

void EventAssigner::numberEvents() {
  uint32_t next = kBindEvent; // the root is entered by binding
  for (uint32_t b : program.blockOrder) {
    Program::Block &block = program.blocks[b];
    block.entryEvent = next++;
    for (const Program::Step &step : program.stepsOf(block))
      next += numberResults(step, next);
  }
  numEvents = next;
}

void EventAssigner::dateSymbols(Program::Block &block) {
  for (uint32_t i = 0; i < block.symbols.size; ++i) {
    Program::Symbol &symbol = program.symbols[block.symbols.first + i];
    if (symbol.source == plan::SymbolSource::INPUT_DIM)
      symbol.event = symbol.lo == symbol.hi ? kLoadEvent : kBindEvent;
    if (symbol.source == plan::SymbolSource::FRAME_ARGUMENT) {
      bool early = symbol.argument != kNone && node(symbol.argument) <= kBindEvent;
      symbol.event = early ? node(symbol.argument) : block.entryEvent;
    }
  }
}

void EventAssigner::dateNodes(const Program::Block &block) {
  for (uint32_t i = 0; i < block.exprs.size; ++i) {
    Node &result = program.nodes[block.exprs.first + i];
    if (result.kind == Node::Kind::Symbol || result.kind == Node::Kind::Argument)
      result.event = program.symbols[result.symbol].event;
    if (result.kind == Node::Kind::Operation)
      result.event = std::max(node(result.lhs), node(result.rhs));
  }
}

void EventAssigner::dateBuffer(Program::Buffer &result) {
  result.event = std::max(node(result.size), node(result.offset));
  if (result.kind == plan::BufKind::OUTPUT) // its size is compared with its dims
    if (const auto *dims = program.entry->outputs()->Get(result.index)->dims())
      for (uint32_t dim : *dims)
        result.event = std::max(result.event, node(dim));
  if (result.kind != plan::BufKind::VIEW)
    return;
  const Program::Buffer &parent = program.buffers[result.parent];
  bool known = parent.block == result.block || parent.event <= kBindEvent;
  result.event = std::max(result.event, known ? parent.event : program.blocks[result.block].entryEvent);
}

uint32_t EventAssigner::argumentsEvent(uint32_t block) const {
  uint32_t event = kLoadEvent;
  if (block != kNone)
    for (uint32_t i = 0; i < program.blocks[block].symbols.size; ++i)
      event = std::max(event, node(program.symbols[program.blocks[block].symbols.first + i].argument));
  return event;
}

uint32_t EventAssigner::stepEvent(const Program::Step &step, uint32_t index) const {
  uint32_t event = kLoadEvent;
  switch (step.kind) {
  case StepKind::Dispatch: {
    const Program::Dispatch &dispatch = program.dispatches[index];
    for (uint32_t b : program.buffersOf(dispatch))
      event = std::max(event, buffer(b));
    for (uint32_t i = 0; i < dispatch.scalars.size; ++i)
      event = std::max(event, node(program.scalarExprs[dispatch.scalars.first + i]));
    return event;
  }
  case StepKind::Copy: {
    const Program::Copy &copy = program.copies[index];
    return std::max(
        {buffer(copy.src), buffer(copy.dst), node(copy.srcOffset), node(copy.dstOffset), node(copy.length)});
  }
  case StepKind::Fill:
    return buffer(program.fills[index].dst);
  case StepKind::If: {
    const Program::If &branch = program.ifs[index];
    return std::max({buffer(branch.cond), argumentsEvent(branch.blocks[0]), argumentsEvent(branch.blocks[1])});
  }
  case StepKind::Loop: {
    const Program::Loop &loop = program.loops[index];
    event = std::max({buffer(loop.cond), node(loop.trip), argumentsEvent(loop.block)});
    for (const Program::Carried &carried : program.carriedOf(loop))
      event = std::max({event, buffer(carried.init), carried.argument == kNone ? buffer(carried.out) : kLoadEvent});
    for (const Program::CarriedSize &size : program.sizesOf(loop))
      event = std::max(event, node(size.start));
    return event;
  }
  case StepKind::ReadScalar:
    return std::max(buffer(program.reads[index].src), node(program.reads[index].offset));
  case StepKind::Check:
    return node(program.checks[index].expr);
  case StepKind::Barrier:
    return kLoadEvent;
  }
  return event;
}

void EventAssigner::collectGroups() {
  program.events.assign(numEvents, {});
  std::vector<uint32_t> positionOf(program.blocks.size());
  for (uint32_t at = 0; at < program.blockOrder.size(); ++at)
    positionOf[program.blockOrder[at]] = at;
  for (uint32_t event : {kLoadEvent, kBindEvent})
    for (uint32_t b : program.blockOrder)
      program.events[event].push_back({b, {}, {}, {}});
  auto group = [&](uint32_t event, uint32_t block) -> Program::Group & {
    std::vector<Program::Group> &groups = program.events[event];
    if (event <= kBindEvent)
      return groups[positionOf[block]];
    if (groups.empty())
      groups.push_back({block, {}, {}, {}});
    return groups[0];
  };
  for (uint32_t b : program.blockOrder) {
    const Program::Block &block = program.blocks[b];
    for (uint32_t i = block.exprs.first; i < block.exprs.first + block.exprs.size; ++i)
      group(program.nodes[i].event, b).exprs.push_back(i);
    for (uint32_t i = block.steps.first; i < block.steps.first + block.steps.size; ++i)
      group(program.steps[i].event, b).steps.push_back(i);
  }
  for (uint32_t i : program.bufferOrder)
    group(program.buffers[i].event, program.buffers[i].block).buffers.push_back(i);
}

void EventAssigner::assign() {
  numberEvents();
  for (uint32_t b : program.blockOrder) {
    dateSymbols(program.blocks[b]);
    dateNodes(program.blocks[b]);
  }
  for (uint32_t i : program.bufferOrder)
    dateBuffer(program.buffers[i]);
  for (Program::Step &step : program.steps)
    step.event = stepEvent(step, step.index);
  for (const Program::Buffer &buffer : program.buffers)
    if (buffer.kind == plan::BufKind::ARENA && buffer.event == kBindEvent)
      program.placementEvent = kBindEvent;
  collectGroups();
}

} // namespace

void assignEvents(Program &program) { EventAssigner(program).assign(); }

} // namespace llmc::rt
