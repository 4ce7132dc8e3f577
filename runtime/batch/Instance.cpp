//===- Instance.cpp - A session of a model that runs batches ------------------------------------------------------===//

#include "runtime/batch/Instance.h"
#include "runtime/batch/Generated.h"
#include "runtime/batch/RowBlocks.h"
#include <algorithm>
#include <cstring>

namespace llmc::batch {

using rt::Status;

void Job::placeRows(const BatchSpec &spec) {
  for (const BatchTensor &input : spec.inputs) {
    if (input.hasRows())
      inputDims[input.firstDim + input.rowAxis] = rows;
    if (input.requestAxis != kNone)
      inputDims[input.firstDim + input.requestAxis] = int64_t(lengths.size());
    if (input.generated)
      inputDims[input.firstDim] = generatedSize(*input.generated, lengths);
  }
}

/// One request that has all rows, and whose inputs are as large as those that run.
bool Instance::runsInPlace(const Job &job) const {
  if (!spec.isBatched())
    return true;
  const Call &only = *job.members[0];
  return job.members.size() == 1 && !only.whole && only.rows == job.rows && only.inputDims == job.inputDims;
}

Status Instance::gather(const Job &job, unsigned set) {
  for (uint32_t i = 0; i < spec.inputs.size(); ++i)
    LLMC_TRY(gatherInput(job, i, gathered[set].blocks[i]));
  return {};
}

Status Instance::gatherInput(const Job &job, uint32_t index, rt::AlignedBlock &block) const {
  const BatchTensor &tensor = spec.inputs[index];
  std::span<const int64_t> dims = inputDims(job, index);
  size_t size = bytesOf(dims, tensor.elementSize);
  LLMC_TRY(block.reserve(std::max<size_t>(size, 1)));
  const Call &first = job.members[0]->owner();
  if (tensor.generated) {
    writeGenerated(*tensor.generated, tensor.type, job.lengths, block.data());
    return {};
  }
  if (tensor.isShared()) {
    std::copy_n(first.inputs[index], size, block.data());
    return {};
  }
  int64_t row = 0;
  if (!tensor.hasRows()) {
    for (Call *member : job.members)
      copyRows(block.data(), {dims, row++}, member->inputs[index], {member->dimsOf(tensor), 0}, tensor.requestAxis, 1,
               tensor.elementSize);
    return {};
  }
  for (Call *member : job.members) {
    const Call &owner = member->owner();
    std::span<const int64_t> own = owner.dimsOf(tensor);
    bool isPadded = false;
    for (uint32_t d = 0; d < tensor.rank; ++d)
      isPadded |= d != tensor.rowAxis && own[d] != dims[d];
    if (isPadded)
      fillRows(block.data(), {dims, row}, tensor.rowAxis, member->rows, tensor.elementSize, tensor.pad);
    copyRows(block.data(), {dims, row}, owner.inputs[index], {own, member->firstRow}, tensor.rowAxis, member->rows,
             tensor.elementSize);
    row += member->rows;
  }
  // Rows that nobody asked for repeat the last one: what a kernel takes there, it takes again.
  for (; row < job.rows; ++row)
    copyRows(block.data(), {dims, row}, block.data(), {dims, row - 1}, tensor.rowAxis, 1, tensor.elementSize);
  return {};
}

/// Of a request that runs in its own memory, the batcher's part.
Status Instance::generateInputs(const Job &job, unsigned set) {
  for (uint32_t i = 0; i < spec.inputs.size(); ++i)
    if (spec.inputs[i].generated)
      LLMC_TRY(gatherInput(job, i, gathered[set].blocks[i]));
  return {};
}

Status Instance::setInputs(const Job &job, unsigned set, bool inPlace) {
  for (uint32_t i = 0; i < spec.inputs.size(); ++i) {
    const BatchTensor &tensor = spec.inputs[i];
    std::span<const int64_t> dims = inputDims(job, i);
    const std::byte *data = inPlace && !tensor.generated ? job.members[0]->inputs[i] : gathered[set].blocks[i].data();
    LLMC_TRY(session.setInput(i, tensor.type, dims, {data, bytesOf(dims, tensor.elementSize)}));
  }
  return {};
}

/// The run may write it where the request wants it.
bool Instance::isWhole(const Job &job, uint32_t index) const {
  std::span<const int64_t> own = job.members[0]->outputDimsOf(spec.outputs[index]), run = outputDims(job, index);
  return spec.outputs[index].knownBeforeRun && std::equal(own.begin(), own.end(), run.begin(), run.end());
}

Status Instance::setOutputs(const Job &job, bool inPlace) {
  const Call &request = *job.members[0]; // may be a part, which has no outputs and does not run in place
  for (uint32_t i = 0; i < spec.outputs.size(); ++i) {
    std::span<std::byte> place;
    if (inPlace && isWhole(job, i))
      place = {request.outputs[i].data, request.outputs[i].size};
    LLMC_TRY(session.setOutput(i, place));
  }
  return {};
}

/// What is cut up by dims must have them.
Status Instance::checkOutputDims(const Job &job, uint32_t index) const {
  std::span<const int64_t> expected = outputDims(job, index), dims = session.outputDims(index);
  if (!spec.isBatched() || std::equal(dims.begin(), dims.end(), expected.begin(), expected.end()))
    return {};
  return {rt::Code::InvalidPlan, rt::concat("output '", spec.outputs[index].name,
                                            "' has other dims than the plan says for ", job.rows, " rows")};
}

Status Instance::scatterOutput(const Job &job, uint32_t index) {
  const BatchTensor &tensor = spec.outputs[index];
  LLMC_TRY(checkOutputDims(job, index));
  std::span<const std::byte> data = session.outputData(index);
  std::span<const int64_t> dims = session.outputDims(index);
  if (!tensor.knownBeforeRun) { // of the one request
    Call &request = *job.members[0];
    std::copy(dims.begin(), dims.end(), request.outputDims.begin() + tensor.firstDim);
    LLMC_TRY(request.placeOutput(index));
  }
  int64_t row = 0, request = 0;
  for (Call *member : job.members) {
    Call &owner = member->owner();
    std::byte *to = owner.outputs[index].data;
    if (to == data.data()) // written in place
      return {};
    if (tensor.requestAxis != kNone)
      copyRows(to, {owner.outputDimsOf(tensor), 0}, data.data(), {dims, request++}, tensor.requestAxis, 1,
               tensor.elementSize);
    else if (!tensor.hasRows())
      std::copy_n(data.data(), std::min(data.size(), owner.outputs[index].size), to);
    else
      copyRows(to, {owner.outputDimsOf(tensor), member->firstRow}, data.data(), {dims, row}, tensor.rowAxis,
               member->rows, tensor.elementSize);
    row += member->rows;
  }
  return {};
}

Status Instance::scatter(const Job &job) {
  for (uint32_t i = 0; i < spec.outputs.size(); ++i)
    LLMC_TRY(scatterOutput(job, i));
  return {};
}

/// Members with a row that a kernel refused; the first one counts. Rows that nobody asked for are nobody's.
void Instance::collectRowFaults(const Job &job, RunResult &result) const {
  auto fault = session.rowFaults().begin(), last = session.rowFaults().end();
  int64_t end = 0;
  for (uint32_t position = 0; position < job.members.size() && fault != last; ++position) {
    end += job.members[position]->rows;
    if (fault->row < end) {
      result.badMembers.push_back(position);
      result.badErrors.push_back(fault->status);
    }
    while (fault != last && fault->row < end)
      ++fault;
  }
}

static BatchFault faultOf(const Status &status) {
  return status.ok()                                ? BatchFault::None
         : status.code() == rt::Code::OutOfMemory ? BatchFault::OutOfMemory
                                                    : BatchFault::Error;
}

void Instance::run(const Job &job, unsigned set, bool isGathered, RunResult &result) {
  auto body = [&]() -> Status {
    bool inPlace = runsInPlace(job);
    if (inPlace)
      LLMC_TRY(generateInputs(job, set));
    else if (!isGathered)
      LLMC_TRY(gather(job, set));
    LLMC_TRY(setInputs(job, set, inPlace));
    LLMC_TRY(setOutputs(job, inPlace));
    LLMC_TRY(session.run());
    collectRowFaults(job, result);
    return scatter(job);
  };
  result.badMembers.clear();
  result.badErrors.clear();
  try {
    result.error = body();
  } catch (const std::bad_alloc &) {
    result.error = Status(rt::Code::OutOfMemory, "host allocation failed");
  }
  result.fault = faultOf(result.error);
}

std::optional<TimeNs> Instance::measure(const Job &job) {
  for (uint32_t i = 0; i < spec.inputs.size(); ++i) {
    size_t size = bytesOf(inputDims(job, i), spec.inputs[i].elementSize);
    if (!gathered[0].blocks[i].reserve(std::max<size_t>(size, 1)).ok())
      return std::nullopt;
    std::fill_n(gathered[0].blocks[i].data(), size, std::byte(0));
    if (spec.inputs[i].generated)
      writeGenerated(*spec.inputs[i].generated, spec.inputs[i].type, job.lengths, gathered[0].blocks[i].data());
  }
  auto runOnce = [&] { return setInputs(job, 0, false).ok() && session.run().ok(); };
  if (!runOnce()) // makes memory and caches ready
    return std::nullopt;
  auto start = std::chrono::steady_clock::now();
  bool ok = runOnce();
  TimeNs time = (std::chrono::steady_clock::now() - start).count();
  return ok ? std::optional(std::max<TimeNs>(1, time)) : std::nullopt;
}

} // namespace llmc::batch
