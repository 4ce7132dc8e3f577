//===- Session.cpp - One request at a time ------------------------------------------------------------------------===//

#include "runtime/exec/Session.h"
#include "runtime/base/CheckedMath.h"
#include "runtime/device/KernelCall.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::rt {

Session::Session(std::shared_ptr<LoadedPlan> loaded, uint32_t entryIndex)
    : plan(std::move(loaded)), entry(*plan->entries()[entryIndex]) {
  size_t numDims = 0;
  for (uint32_t i = 0; i < count(entry.spec.inputs()); ++i) {
    firstDim.push_back(numDims);
    numDims += count(entry.spec.inputs()->Get(i)->dims());
  }
  dims.resize(numDims);
  inputs.resize(firstDim.size());
  inputSet.resize(firstDim.size());
  inputSizes.resize(firstDim.size());
  outputs.resize(count(entry.spec.outputs()));
  for (uint32_t i = 0; i < outputs.size(); ++i)
    outputShapes.emplace_back(count(entry.spec.outputs()->Get(i)->dims()), -1);
  outputBytes.resize(outputs.size());
  states.resize(entry.bodies.size());
  clocks.resize(entry.bodies.size());
  errors.resize(plan->device().threads());
}

static std::string_view typeName(plan::DType type) { return plan::EnumNameDType(type); }

Status Session::setInput(uint32_t index, plan::DType type, std::span<const int64_t> newDims,
                         std::span<const std::byte> data) {
  if (index >= inputs.size())
    return {Code::InvalidArgument, concat("there is no input ", index, " among ", inputs.size())};
  const plan::TensorSpec *spec = entry.spec.inputs()->Get(index);
  std::string_view name = text(spec->name());
  if (type != spec->dtype())
    return {Code::Shape,
            concat("input '", name, "' has type ", typeName(type), ", expected ", typeName(spec->dtype()))};
  if (newDims.size() != count(spec->dims()))
    return {Code::Shape, concat("input '", name, "' has rank ", newDims.size(), ", expected ", count(spec->dims()))};
  std::optional<int64_t> bytes = elementSize(type);
  for (int64_t dim : newDims) {
    if (dim < 0)
      return {Code::Shape, concat("input '", name, "' has a dim of ", dim)};
    bytes = bytes ? checkedMul(*bytes, dim) : bytes;
  }
  if (!bytes || uint64_t(*bytes) != data.size())
    return {Code::InvalidArgument, concat("input '", name, "' has ", data.size(), " bytes, its dims and type ask for ",
                                          bytes ? std::to_string(*bytes) : "too many")};
  if (reinterpret_cast<uintptr_t>(data.data()) % uintptr_t(elementSize(type)) != 0)
    return {Code::InvalidArgument,
            concat("the memory of input '", name, "' is not aligned to its elements of ", elementSize(type), " bytes")};
  auto own = dims.begin() + ptrdiff_t(firstDim[index]);
  dimsChanged |= !inputSet[index] || !std::equal(newDims.begin(), newDims.end(), own);
  std::copy(newDims.begin(), newDims.end(), own);
  memoryChanged |= inputs[index] != data.data();
  inputs[index] = data.data();
  inputSizes[index] = data.size();
  inputSet[index] = true;
  return {};
}

Status Session::setOutput(uint32_t index, std::span<std::byte> data) {
  if (index >= outputs.size())
    return {Code::InvalidArgument, concat("there is no output ", index, " among ", outputs.size())};
  const plan::TensorSpec *spec = entry.spec.outputs()->Get(index);
  if (reinterpret_cast<uintptr_t>(data.data()) % uintptr_t(elementSize(spec->dtype())) != 0)
    return {Code::InvalidArgument,
            concat("the memory for output '", text(spec->name()), "' is not aligned to its elements")};
  outputs[index].user = data.data();
  outputs[index].userBytes = data.size();
  memoryChanged = true;
  return {};
}

/// Outputs that the caller gave overlap neither inputs nor each other: runs write them while they read those.
Status Session::checkMemory() const {
  auto overlap = [](const std::byte *a, size_t aSize, const std::byte *b, size_t bSize) {
    return a && b && a < b + bSize && b < a + aSize;
  };
  auto name = [&](const auto *specs, size_t i) { return text(specs->Get(uint32_t(i))->name()); };
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (overlap(outputs[o].user, outputs[o].userBytes, inputs[i], inputSizes[i]))
        return {Code::InvalidArgument, concat("the memory for output '", name(entry.spec.outputs(), o),
                                              "' overlaps that of input '", name(entry.spec.inputs(), i), "'")};
    for (size_t p = 0; p < o; ++p)
      if (overlap(outputs[o].user, outputs[o].userBytes, outputs[p].user, outputs[p].userBytes))
        return {Code::InvalidArgument, concat("the memory for output '", name(entry.spec.outputs(), o),
                                              "' overlaps that of output '", name(entry.spec.outputs(), p), "'")};
  }
  return {};
}

Status Session::bindInputs() {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputSet[i])
      return {Code::InvalidArgument,
              concat("input '", text(entry.spec.inputs()->Get(uint32_t(i))->name()), "' is missing")};
  if (!dimsChanged)
    return {};
  LLMC_TRY_ASSIGN(binding, entry.bind(dims));
  for (size_t i = 0; i < states.size(); ++i)
    if (entry.bodies[i].get() == binding->body) {
      if (!states[i]) {
        states[i] = std::make_unique<RunState>(*binding->body);
        clocks[i] = plan->makeClock(*binding->body);
      }
      state = states[i].get();
      clock = clocks[i].get();
    }
  dimsChanged = false;
  memoryChanged = true;
  return {};
}

Status Session::prepare() {
  LLMC_TRY(bindInputs());
  if (!memoryChanged)
    return {};
  LLMC_TRY(checkMemory());
  LLMC_TRY(state->apply(binding, plan->device().threads()));
  LLMC_TRY(state->bindAddresses(inputs, outputs));
  memoryChanged = false;
  describeOutputs(false);
  return {};
}

Status Session::run() {
  LLMC_TRY(prepare());
  TeamPool::Lease lease(nullptr, nullptr);
  if (binding->isParallel) {
    LLMC_TRY_ASSIGN(lease, plan->device().teams().acquire());
  }
  cancelled.store(false, std::memory_order_relaxed);
  faults.clear();
  state->markRows(marksRows ? batchRows() : 0);
  LLMC_TRY(execute({*state, outputs, *binding, errors, cancelled, profile, clock}, lease.team()));
  describeOutputs(true);
  collectRowFaults();
  return {};
}

/// Places along the batch dim; 0 if there is none.
int64_t Session::batchRows() const {
  const plan::Batching *batching = entry.spec.batching();
  for (uint32_t i = 0; batching && i < firstDim.size(); ++i)
    if (uint32_t axis = batching->input_axes()->Get(i); axis != kNone)
      return dims[firstDim[i] + axis];
  return 0;
}

void Session::collectRowFaults() {
  const Program &program = state->program;
  for (int64_t row = 0; row < state->numRows; ++row)
    for (size_t list = 0; list < program.rowSteps.size(); ++list)
      if (int32_t code = state->marks[list * size_t(state->numRows) + size_t(row)]; code != LLMC_KERNEL_OK) {
        std::string step = describeStep(program, program.steps[program.rowSteps[list]]);
        faults.push_back({row, rowStatus(code).in(step)});
        break;
      }
}

void Session::describeOutputs(bool afterRun) {
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const plan::TensorSpec *spec = entry.spec.outputs()->Get(i);
    for (uint32_t d = 0; d < count(spec->dims()); ++d) {
      uint32_t expr = spec->dims()->Get(d);
      bool known = afterRun || state->program.nodes[expr].event <= kBindEvent;
      outputShapes[i][d] = known ? state->shape.values[expr] : -1;
    }
    bool known = afterRun || state->program.buffers[spec->buffer()].event <= kBindEvent;
    outputBytes[i] = {state->addresses[spec->buffer()], known ? size_t(state->shape.sizes[spec->buffer()]) : 0};
  }
}

size_t Session::arenaBytes() const {
  size_t bytes = 0;
  if (state)
    for (int64_t size : state->shape.arenaSizes)
      bytes += size_t(size);
  return bytes;
}

} // namespace llmc::rt
