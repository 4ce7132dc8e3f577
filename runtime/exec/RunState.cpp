//===- RunState.cpp - What one request writes ---------------------------------------------------------------------===//

#include "runtime/exec/RunState.h"
#include "runtime/plan/verify/Verify.h"

namespace llmc::rt {

using plan::BufKind;

/// A valid address for tensors without elements, whose memory may be null.
alignas(64) static std::byte nothing[64];

Result<std::byte *> OutputMemory::ensure(size_t size, std::string_view name) {
  if (user && userBytes < size)
    return Status(Code::InvalidArgument,
                  concat("the memory given for output '", name, "' has ", userBytes, " bytes, it needs ", size));
  if (user)
    return user;
  LLMC_TRY(own.reserve(std::max<size_t>(size, 1)));
  return own.data();
}

RunState::RunState(const LoadedBody &body)
    : body(body), program(body.program), shape(body.loaded), addresses(program.buffers.size(), nullptr),
      pointers(program.bindingBuffers.size(), nullptr), semaphores(program.signallers.size()),
      carriedBytes(program.carriedLists.size()), collectedBytes(program.collectedLists.size()),
      nextSizes(program.carriedSizes.size()), arenas(shape.arenaSizes.size()), late(program.buffers.size()) {}

void RunState::markRows(int64_t count) {
  numRows = count;
  marks.assign(program.rowSteps.size() * size_t(count), LLMC_KERNEL_OK);
}

/// Only where the launch works on the rows of the batch, which its kernel says.
int32_t *RunState::marksOf(uint32_t index) {
  uint32_t list = program.dispatches[index].rowMarks;
  bool hasMarks = numRows > 0 && list != kNone && shape.launches[index].rows == numRows;
  return hasMarks ? marks.data() + size_t(list) * size_t(numRows) : nullptr;
}

Status RunState::reserveLate(uint32_t index, int64_t bytes) {
  const Program::Buffer &buffer = program.buffers[index];
  LLMC_TRY(late[index].reserve(*body.devices[buffer.device], std::max<size_t>(1, size_t(bytes)), alignmentOf(buffer)));
  addresses[index] = late[index].data();
  return {};
}

Status RunState::growLate(uint32_t index, int64_t kept, int64_t bytes) {
  const Program::Buffer &buffer = program.buffers[index];
  LLMC_TRY(late[index].grow(*body.devices[buffer.device], size_t(kept), std::max<size_t>(1, size_t(bytes)), alignmentOf(buffer)));
  addresses[index] = late[index].data();
  return {};
}

size_t RunState::alignmentOf(const Program::Buffer &buffer) const { return program.body->arenas()->Get(buffer.arena)->alignment(); }

/// Each step is one call with its waits and signals; each arena is discarded once.
Status RunState::makeQueues() {
  if (!queues.empty())
    return {};
  std::vector<size_t> calls(count(program.body->queues()), arenas.size());
  for (const Program::Step &step : program.steps)
    calls[step.queue] += 1 + step.waits.size + step.signals.size;
  std::vector<std::unique_ptr<Queue>> made;
  for (uint32_t i = 0; i < calls.size(); ++i) {
    LLMC_TRY_ASSIGN(std::unique_ptr<Queue> queue, body.devices[program.deviceOfQueue(i)]->makeQueue(calls[i]));
    made.push_back(std::move(queue));
  }
  queues = std::move(made);
  return {};
}

/// For the threads of the host, or for the queue that runs it.
Status RunState::ensureScratch(size_t dispatch) {
  int64_t bytes = shape.launches[dispatch].scratch;
  if (bytes == 0)
    return {};
  if (Queue *queue = queues[program.dispatches[dispatch].queue].get())
    return queue->reserveScratch(size_t(bytes));
  for (AlignedBlock &block : scratch)
    LLMC_TRY(block.reserve(size_t(bytes)));
  return {};
}

Status RunState::apply(std::shared_ptr<const Binding> binding, unsigned workers) {
  if (applied == binding)
    return {};
  applied = nullptr; // until all of it is there
  shape = binding->shape;
  scratch.resize(workers);
  LLMC_TRY(makeQueues());
  for (uint32_t i = 0; i < arenas.size(); ++i) {
    const plan::Arena *arena = program.body->arenas()->Get(i);
    bool isHost = arena->device() == program.deviceOfQueue(kHostQueue);
    size_t size = std::max<size_t>(size_t(shape.arenaSizes[i]), isHost ? 0 : 1); // empty buffers of devices have an address, too
    LLMC_TRY(arenas[i].reserve(*body.devices[arena->device()], size, arena->alignment()));
  }
  for (size_t i = 0; i < shape.launches.size(); ++i)
    LLMC_TRY(ensureScratch(i));
  applied = std::move(binding);
  return {};
}

void RunState::begin() {
  for (Semaphore &semaphore : semaphores)
    semaphore.reset();
  for (uint32_t q = 0; q < queues.size(); ++q) {
    if (!queues[q])
      continue;
    queues[q]->begin();
    for (uint32_t i = 0; i < arenas.size(); ++i)
      if (arenas[i].data() && program.body->arenas()->Get(i)->device() == program.deviceOfQueue(q))
        queues[q]->discard(arenas[i].data(), arenas[i].capacity());
  }
}

Status RunState::bindOutput(uint32_t index, std::span<OutputMemory> outputs) {
  uint32_t output = program.buffers[index].index;
  LLMC_TRY_ASSIGN(addresses[index], outputs[output].ensure(size_t(shape.sizes[index]),
                                                           text(program.entry->outputs()->Get(output)->name())));
  return {};
}

Status RunState::bindBuffer(uint32_t index, std::span<OutputMemory> outputs) {
  const Program::Buffer &buffer = program.buffers[index];
  switch (buffer.kind) {
  case BufKind::OUTPUT:
    return bindOutput(index, outputs);
  case BufKind::VIEW:
    addresses[index] = addresses[buffer.root] + shape.offsets[index];
    return {};
  case BufKind::ARENA:
    if (buffer.isLate()) {
      LLMC_TRY(reserveLate(index, shape.sizes[index]));
    } else {
      std::byte *base = arenas[buffer.arena].data();
      addresses[index] = base ? base + shape.places[index] : nothing;
    }
    return {};
  default:
    return {}; // inputs and constants have their addresses from the start
  }
}

void RunState::bindPointers(const Program::Dispatch &dispatch) {
  for (uint32_t i = dispatch.buffers.first; i < dispatch.buffers.first + dispatch.buffers.size; ++i)
    pointers[i] = addresses[program.bindingBuffers[i]];
}

Status RunState::bindAddresses(std::span<const std::byte *const> inputs, std::span<OutputMemory> outputs) {
  for (uint32_t index : program.bufferOrder) {
    const Program::Buffer &buffer = program.buffers[index];
    if (buffer.kind == BufKind::INPUT) // never written: the verifier saw to it
      addresses[index] = inputs[buffer.index] ? const_cast<std::byte *>(inputs[buffer.index]) : nothing;
    else if (buffer.kind == BufKind::CONSTANT)
      addresses[index] = const_cast<std::byte *>(body.constants[index]);
    else if (buffer.event <= kBindEvent)
      LLMC_TRY(bindBuffer(index, outputs));
  }
  for (const Program::Dispatch &dispatch : program.dispatches)
    bindPointers(dispatch);
  return {};
}

Status RunState::resolve(uint32_t event, std::span<OutputMemory> outputs) {
  LLMC_TRY(resolveEvent(program, event, shape, nullptr));
  for (const Program::Group &group : program.events[event]) {
    for (uint32_t index : group.buffers)
      LLMC_TRY(bindBuffer(index, outputs));
    for (uint32_t index : group.steps) {
      const Program::Step &step = program.steps[index];
      if (step.kind != Program::StepKind::Dispatch)
        continue;
      bindPointers(program.dispatches[step.index]);
      LLMC_TRY(ensureScratch(step.index));
    }
  }
  return {};
}

} // namespace llmc::rt
