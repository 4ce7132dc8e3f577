//===- Steps.cpp - What one worker does of one step ---------------------------------------------------------------===//

#include "runtime/exec/Steps.h"
#include "runtime/device/KernelCall.h"
#include "runtime/plan/verify/Verify.h"
#include <cstring>

namespace llmc::rt {

int32_t callKernel(RunState &state, uint32_t index, WorkRange range, unsigned worker, llmc_error &error) {
  const Program::Dispatch &dispatch = state.program.dispatches[index];
  void *scratch = state.shape.launches[index].scratch > 0 ? state.scratch[worker].data() : nullptr;
  llmc_args args = {state.pointers.data() + dispatch.buffers.first, state.shape.scalars.data() + dispatch.scalars.first,
                    &error, state.marksOf(index)};
  return callCode(state.body.kernels[index], args, range.begin, range.end, scratch);
}

void submitWork(RunState &state, const Program::Step &step) {
  const Program &program = state.program;
  Queue &queue = *state.queues[step.queue];
  uint32_t number = uint32_t(&step - program.steps.data());
  for (const Program::Point &point : program.pointsOf(step.waits))
    if (program.signallers[point.semaphore] != kHostQueue) // whose steps have ended when they are passed
      queue.wait(state.semaphores[point.semaphore], point.value);
  switch (step.kind) {
  case Program::StepKind::Dispatch: {
    const Program::Dispatch &dispatch = program.dispatches[step.index];
    queue.launch(number, {state.body.kernels[step.index], std::span(state.pointers).subspan(dispatch.buffers.first, dispatch.buffers.size),
                          state.shape.scalars.data() + dispatch.scalars.first, state.shape.launches[step.index].grid, state.marksOf(step.index)});
    break;
  }
  case Program::StepKind::Copy: {
    const Program::Copy &copy = program.copies[step.index];
    CopyRange range = copyRange(state, copy);
    auto deviceOf = [&](uint32_t buffer) { return state.body.devices[program.buffers[buffer].device]; };
    queue.copy(number, {deviceOf(copy.dst), range.dst}, {deviceOf(copy.src), const_cast<std::byte *>(range.src)}, size_t(range.length));
    break;
  }
  default: { // the verifier allows no others
    const Program::Fill &fill = program.fills[step.index];
    queue.fill(number, state.addresses[fill.dst], size_t(state.shape.sizes[fill.dst]), fill.pattern, fill.patternSize);
  }
  }
  for (const Program::Point &point : program.pointsOf(step.signals))
    queue.signal(state.semaphores[point.semaphore], point.value);
}

bool CopyRange::canSplit() const { return length >= kSplitBytes && (src + length <= dst || dst + length <= src); }

void CopyRange::run(WorkRange range) const {
  std::memmove(dst + range.begin, src + range.begin, size_t(range.end - range.begin));
}

CopyRange copyRange(const RunState &state, const Program::Copy &copy) {
  const std::vector<int64_t> &values = state.shape.values;
  return {state.addresses[copy.dst] + values[copy.dstOffset], state.addresses[copy.src] + values[copy.srcOffset],
          values[copy.length]};
}

Status copyBuffer(const RunState &state, uint32_t from, uint32_t to) {
  int64_t size = state.shape.sizes[from];
  if (size != state.shape.sizes[to])
    return {Code::Data,
            concat("a value has ", size, " bytes, its place has ", state.shape.sizes[to])};
  if (state.addresses[from] != state.addresses[to])
    std::memmove(state.addresses[to], state.addresses[from], size_t(size));
  return {};
}

void fillBuffer(const RunState &state, const Program::Fill &fill) {
  fillBytes(state.addresses[fill.dst], size_t(state.shape.sizes[fill.dst]), fill.pattern, fill.patternSize);
}

Status readSymbol(RunState &state, const Program::ReadScalar &read) {
  const std::byte *at = state.addresses[read.src] + state.shape.values[read.offset];
  int64_t value = 0;
  if (state.program.buffers[read.src].dtype == plan::DType::I32) {
    int32_t narrow;
    std::memcpy(&narrow, at, sizeof narrow);
    value = narrow;
  } else {
    std::memcpy(&value, at, sizeof value);
  }
  const Program::Symbol &symbol = state.program.symbols[read.symbol];
  if (value < symbol.lo || value > symbol.hi)
    return {Code::Data, concat("'", text(symbol.spec->name()), "' is ", value, " in the data, its range is ", symbol.lo,
                               "..", symbol.hi)};
  state.shape.symbols[read.symbol] = value;
  return {};
}

} // namespace llmc::rt
