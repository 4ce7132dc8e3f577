//===- ShapeState.cpp - Evaluating and checking what an event makes known -----------------------------------------===//

#include "runtime/plan/ShapeState.h"
#include "runtime/base/CheckedMath.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::rt {
namespace {

using plan::BufKind;
using StepKind = Program::StepKind;

/// The largest power of two that divides `value`; `limit` for 0.
int64_t lowBit(int64_t value, int64_t limit) { return value == 0 ? limit : std::min(value & -value, limit); }

/// Who is to blame for a number that is out of bounds: the plan's constants, the dims of the inputs, or the data.
Code blame(uint32_t event) {
  return event == kLoadEvent ? Code::InvalidPlan : event == kBindEvent ? Code::Shape : Code::Data;
}

class Resolver {
public:
  Resolver(const Program &program, uint32_t event, ShapeState &state) : program(program), event(event), state(state) {}
  Status resolve(const Program::Group &group);

private:
  template <typename... Pieces> Status error(const char *rule, const Pieces &...pieces) const {
    return {blame(event), rule, concat("[", rule, "] ", pieces...)};
  }
  Status node(uint32_t index);
  Status buffer(uint32_t index);
  Status boundary(const Program::Buffer &buffer, int64_t size) const;
  Status check(const Program::Check &check) const;
  Status step(const Program::Step &step);
  Status dispatch(const Program::Step &step, const Program::Dispatch &dispatch, Launch &launch);
  Status binding(const Program::Dispatch &dispatch, uint32_t i) const;
  Status aliasing(const Program::Dispatch &dispatch) const;
  Status bytes(const char *what, uint32_t buffer, int64_t offset, int64_t length) const;
  int64_t value(uint32_t expr) const { return state.values[expr]; }

  const Program &program;
  uint32_t event;
  ShapeState &state;
};

Status Resolver::node(uint32_t index) {
  const Program::Node &node = program.nodes[index];
  int64_t &result = state.values[index];
  switch (node.kind) {
  case Program::Node::Kind::Constant:
    result = node.imm;
    return {};
  case Program::Node::Kind::Symbol:
    result = state.symbols[node.symbol];
    return {};
  case Program::Node::Kind::Argument: {
    const Program::Symbol &symbol = program.symbols[node.symbol];
    result = value(node.lhs);
    if (result < symbol.lo || result > symbol.hi)
      return error("argument-range", "'", text(symbol.spec->name()), "' of block ", symbol.block, " is ", result,
                   ", its range is ", symbol.lo, "..", symbol.hi);
    return {};
  }
  case Program::Node::Kind::Operation:
    break;
  }
  std::optional<int64_t> known = applyExprOp(node.op, value(node.lhs), value(node.rhs));
  if (!known)
    return error("expr-value", "expression ", index, " has no value: ", value(node.lhs), " ", spelling(node.op), " ",
                 value(node.rhs));
  result = *known;
  return {};
}

/// The caller's memory has the size that dims and type say.
Status Resolver::boundary(const Program::Buffer &buffer, int64_t size) const {
  bool isInput = buffer.kind == BufKind::INPUT;
  const plan::TensorSpec *spec = (isInput ? program.entry->inputs() : program.entry->outputs())->Get(buffer.index);
  std::optional<int64_t> bytes = elementSize(spec->dtype());
  for (uint32_t d = 0; bytes && d < count(spec->dims()); ++d) {
    int64_t dim = value(spec->dims()->Get(d));
    bytes = dim < 0 ? std::nullopt : checkedMul(*bytes, dim);
  }
  if (bytes != size)
    return error("boundary-size", isInput ? "input '" : "output '", text(spec->name()), "' has a buffer of ", size,
                 " bytes, its dims and type ask for ", bytes ? std::to_string(*bytes) : "what does not exist");
  return {};
}

Status Resolver::buffer(uint32_t index) {
  const Program::Buffer &buffer = program.buffers[index];
  int64_t size = state.sizes[index] = value(buffer.size);
  if (size < 0 || size > kMaxBytes)
    return error("buffer-size", "buffer ", index, " '", text(buffer.spec->name()), "' has ", size, " bytes");
  switch (buffer.kind) {
  case BufKind::INPUT:
  case BufKind::OUTPUT:
    return boundary(buffer, size);
  case BufKind::CONSTANT: {
    uint64_t length = program.plan->constants()->Get(buffer.index)->data()->range()->length();
    if (uint64_t(size) > length)
      return error("constant-bounds", "buffer ", index, " has ", size, " bytes, its constant has ", length);
    return {};
  }
  case BufKind::VIEW: {
    int64_t offset = value(buffer.offset), parentSize = state.sizes[buffer.parent];
    if (offset < 0 || !inRange(uint64_t(offset), uint64_t(size), uint64_t(parentSize)))
      return error("view-bounds", "buffer ", index, " '", text(buffer.spec->name()), "' views ", size, " bytes at ",
                   offset, " of ", parentSize);
    state.offsets[index] = state.offsets[buffer.parent] + offset;
    return {};
  }
  case BufKind::ARENA:
    if (int64_t offset = buffer.offset == kNone ? 0 : value(buffer.offset); offset < 0 || offset > kMaxBytes)
      return error("arena-offset", "buffer ", index, " '", text(buffer.spec->name()), "' lies at ", offset);
    return {};
  default:
    return {};
  }
}

Status Resolver::binding(const Program::Dispatch &dispatch, uint32_t i) const {
  const plan::Binding *binding = dispatch.exported->bindings()->Get(i);
  uint32_t buffer = program.bindingBuffers[dispatch.buffers.first + i];
  int64_t extent = state.exportValues[binding->extent()], size = state.sizes[buffer];
  if (extent < 0 || extent > size)
    return error("extent", "binding ", i, " of '", text(dispatch.exported->name()), "' touches ", extent,
                 " bytes of buffer ", buffer, ", which has ", size);
  int64_t alignment = alignmentOf(program, state, buffer);
  if (extent > 0 && alignment < int64_t(binding->alignment()))
    return error("alignment", "binding ", i, " of '", text(dispatch.exported->name()), "' needs alignment ",
                 binding->alignment(), ", buffer ", buffer, " has ", alignment);
  return {};
}

/// No binding is written while another of the same launch sees the same bytes, but for what the export allows.
Status Resolver::aliasing(const Program::Dispatch &dispatch) const {
  std::span<const uint32_t> buffers = program.buffersOf(dispatch);
  const auto &bindings = *dispatch.exported->bindings();
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (bindings.Get(i)->access() == plan::Access::READ)
      continue;
    for (uint32_t j = 0; j < buffers.size(); ++j) {
      if (i == j || program.buffers[buffers[i]].root != program.buffers[buffers[j]].root)
        continue;
      int64_t a = state.offsets[buffers[i]], b = state.offsets[buffers[j]];
      bool overlap = a < b + state.exportValues[bindings.Get(j)->extent()] &&
                     b < a + state.exportValues[bindings.Get(i)->extent()];
      bool allowed = a == b && (bindings.Get(i)->in_place_with() == j || bindings.Get(j)->in_place_with() == i);
      if (overlap && !allowed)
        return error("aliasing", "bindings ", i, " and ", j, " of '", text(dispatch.exported->name()),
                     "' overlap and one is written");
    }
  }
  return {};
}

Status Resolver::dispatch(const Program::Step &step, const Program::Dispatch &dispatch, Launch &launch) {
  std::span<int64_t> scalars = std::span(state.scalars).subspan(dispatch.scalars.first, dispatch.scalars.size);
  for (uint32_t i = 0; i < scalars.size(); ++i)
    scalars[i] = value(program.scalarExprs[dispatch.scalars.first + i]);
  if (Status status = evaluateNodes(exprNodes(dispatch.exported->exprs()), scalars, state.exportValues); !status.ok())
    return error("export-value", status.message());
  launch.bytes = 0;
  for (uint32_t i = 0; i < dispatch.buffers.size; ++i) {
    LLMC_TRY(binding(dispatch, i));
    launch.bytes += state.exportValues[dispatch.exported->bindings()->Get(i)->extent()];
  }
  LLMC_TRY(aliasing(dispatch));
  launch.grid = state.exportValues[dispatch.grid];
  launch.scratch = state.exportValues[dispatch.scratch];
  launch.grain = std::max<int64_t>(1, state.exportValues[dispatch.grain]);
  launch.rows = dispatch.rowMarks == kNone ? 0 : state.exportValues[dispatch.exported->rows()];
  if (launch.grid < 0 || launch.grid > kMaxGrid)
    return error("grid", launch.grid, " work items");
  if (launch.scratch < 0 || launch.scratch > kMaxScratch)
    return error("scratch", launch.scratch, " bytes of scratch memory per thread");
  return {};
}

Status Resolver::bytes(const char *what, uint32_t buffer, int64_t offset, int64_t length) const {
  if (offset < 0 || length < 0 || !inRange(uint64_t(offset), uint64_t(length), uint64_t(state.sizes[buffer])))
    return error("step-bounds", what, " ", length, " bytes at ", offset, " of buffer ", buffer, ", which has ",
                 state.sizes[buffer]);
  return {};
}

Status Resolver::check(const Program::Check &check) const {
  int64_t found = value(check.expr);
  if (holds(found, check.cmp, check.bound))
    return {};
  std::string message(text(check.spec->message()));
  if (program.nodes[check.expr].kind != Program::Node::Kind::Constant) // a step that always fails has nothing to find
    message += concat(" (found ", found, ", expected ", spelling(check.cmp), " ", check.bound, ")");
  return {Code::Data, "check", message};
}

Status Resolver::step(const Program::Step &step) {
  switch (step.kind) {
  case StepKind::Dispatch:
    return dispatch(step, program.dispatches[step.index], state.launches[step.index]);
  case StepKind::Copy: {
    const Program::Copy &copy = program.copies[step.index];
    LLMC_TRY(bytes("reads", copy.src, value(copy.srcOffset), value(copy.length)));
    return bytes("writes", copy.dst, value(copy.dstOffset), value(copy.length));
  }
  case StepKind::Fill: {
    const Program::Fill &fill = program.fills[step.index];
    if (state.sizes[fill.dst] % fill.patternSize != 0)
      return error("fill-size", state.sizes[fill.dst], " bytes are no multiple of the pattern's ",
                   int(fill.patternSize));
    return {};
  }
  case StepKind::If:
    return bytes("reads", program.ifs[step.index].cond, 0, 1);
  case StepKind::Loop:
    return program.loops[step.index].cond == kNone ? Status() : bytes("reads", program.loops[step.index].cond, 0, 1);
  case StepKind::ReadScalar: {
    const Program::ReadScalar &read = program.reads[step.index];
    return bytes("reads", read.src, value(read.offset), elementSize(program.buffers[read.src].dtype));
  }
  case StepKind::Check:
  case StepKind::Barrier:
    return {};
  }
  return {};
}

/// Checks come first: they say by name what the sizes of buffers would only show.
Status Resolver::resolve(const Program::Group &group) {
  for (uint32_t index : group.exprs)
    LLMC_TRY(node(index));
  auto at = [&](uint32_t index, Status status) {
    return status.ok() ? Status() : std::move(status).inStep(describeStep(program, program.steps[index]));
  };
  for (uint32_t index : group.steps)
    if (const Program::Step &step = program.steps[index]; step.kind == StepKind::Check)
      LLMC_TRY(at(index, check(program.checks[step.index])));
  for (uint32_t index : group.buffers)
    LLMC_TRY(buffer(index));
  for (uint32_t index : group.steps)
    LLMC_TRY(at(index, step(program.steps[index])));
  return {};
}

} // namespace

ShapeState::ShapeState(const Program &program)
    : symbols(program.symbols.size()), values(program.nodes.size()), sizes(program.buffers.size()),
      offsets(program.buffers.size()), places(program.buffers.size()), scalars(program.scalarExprs.size()),
      launches(program.dispatches.size()), arenaSizes(count(program.body->arenas())),
      exportValues(program.maxExportNodes) {
  for (size_t i = 0; i < program.symbols.size(); ++i)
    symbols[i] = program.symbols[i].lo; // the value of a dim with one value only
}

Status resolveEvent(const Program &program, uint32_t event, ShapeState &state, std::vector<BlockError> *blockErrors) {
  for (const Program::Group &group : program.events[event]) {
    Status status = Resolver(program, event, state).resolve(group);
    if (status.ok())
      continue;
    if (group.block == 0 || !blockErrors)
      return status;
    blockErrors->push_back({group.block, std::move(status)});
  }
  return {};
}

int64_t alignmentOf(const Program &program, const ShapeState &state, uint32_t index) {
  uint32_t root = program.buffers[index].root;
  const Program::Buffer &buffer = program.buffers[root];
  int64_t alignment = kMaxAlignment;
  switch (buffer.kind) {
  case BufKind::ARENA:
    alignment = program.body->arenas()->Get(buffer.arena)->alignment();
    if (buffer.offset != kNone)
      alignment = lowBit(state.values[buffer.offset], alignment);
    break;
  case BufKind::CONSTANT: // segments start at multiples of more than kMaxAlignment
    alignment = lowBit(int64_t(program.plan->constants()->Get(buffer.index)->data()->range()->offset()), alignment);
    break;
  default:
    alignment = elementSize(buffer.dtype);
  }
  return lowBit(state.offsets[index], alignment);
}

} // namespace llmc::rt
