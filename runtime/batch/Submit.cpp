//===- Submit.cpp - What comes in, checked and copied -------------------------------------------------------------===//

#include "runtime/batch/Batcher.h"
#include "runtime/base/CheckedMath.h"
#include "runtime/batch/Generated.h"
#include "runtime/batch/RowBlocks.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>
#include <cstring>

namespace llmc::batch {

using rt::Code;
using rt::concat;
using rt::Result;
using rt::Status;

static Status invalid(std::string message) { return Status(Code::InvalidArgument, std::move(message)); }

static constexpr size_t kInputAlignment = 64;

/// The tensor that an element of a list is for: by its name, or by its place among those that are not generated.
static Result<uint32_t> findTensor(const std::vector<BatchTensor> &tensors, const char *name, int32_t place,
                                   const char *what) {
  std::string names;
  int32_t next = 0;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].generated) {
      if (name && tensors[i].name == name)
        return invalid(concat("input '", name, "' is made by the batcher, requests do not bring it"));
      continue;
    }
    if (name ? tensors[i].name == name : next == place)
      return i;
    ++next;
    names += concat(names.empty() ? "'" : ", '", tensors[i].name, "'");
  }
  if (!name)
    return invalid(concat("there is no ", what, " ", place, " among ", next));
  return invalid(concat("there is no ", what, " '", name, "'; there is ", names));
}

static bool isAligned(const void *data, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % uintptr_t(alignment) == 0;
}

/// Type, rank, fixed dims, size and place of an input.
static Status checkInput(const llmc_batch_input &input, const BatchTensor &tensor) {
  auto type = plan::DType(input.type);
  if (type != tensor.type)
    return {Code::Shape, concat("input '", tensor.name, "' has type ", plan::EnumNameDType(type), ", expected ",
                                plan::EnumNameDType(tensor.type))};
  if (input.rank < 0 || (input.rank > 0 && !input.dims) || uint32_t(input.rank) != tensor.rank)
    return {Code::Shape, concat("input '", tensor.name, "' has rank ", input.rank,
                                input.rank > 0 && !input.dims ? " without dims" : "", ", expected ", tensor.rank)};
  std::optional<int64_t> bytes = tensor.elementSize;
  for (uint32_t d = 0; d < tensor.rank; ++d) {
    if (input.dims[d] < 0 || (tensor.dims[d] >= 0 && input.dims[d] != tensor.dims[d]))
      return {Code::Shape, concat("input '", tensor.name, "' has ", input.dims[d], " in dim ", d,
                                  tensor.dims[d] >= 0 ? concat(", expected ", tensor.dims[d]) : "")};
    bytes = bytes ? rt::checkedMul(*bytes, input.dims[d]) : bytes;
  }
  if (!bytes || uint64_t(*bytes) != input.size)
    return invalid(concat("input '", tensor.name, "' has ", input.size, " bytes, its dims and type ask for ",
                          bytes ? std::to_string(*bytes) : "too many"));
  if (!input.data && input.size > 0)
    return invalid(concat("the data of input '", tensor.name, "' is null"));
  if (!isAligned(input.data, tensor.elementSize))
    return invalid(concat("the memory of input '", tensor.name, "' is not aligned to its elements of ",
                          tensor.elementSize, " bytes"));
  return {};
}

Status Batcher::takeInputs(Call &request, const llmc_submission &what) {
  const BatchSpec &spec = *request.spec;
  if (what.num_inputs < 0 || (what.num_inputs > 0 && !what.inputs))
    return invalid(concat(what.num_inputs, " inputs, at ", what.inputs ? "a place" : "no place"));
  request.inputs.assign(spec.inputs.size(), nullptr);
  request.inputSizes.assign(spec.inputs.size(), SIZE_MAX);
  request.inputDims.resize(spec.numInputDims);
  size_t copied = 0;
  for (int32_t i = 0; i < what.num_inputs; ++i) {
    const llmc_batch_input &input = what.inputs[i];
    LLMC_TRY_ASSIGN(uint32_t index, findTensor(spec.inputs, input.name, i, "input"));
    const BatchTensor &tensor = spec.inputs[index];
    if (request.inputSizes[index] != SIZE_MAX)
      return invalid(concat("input '", tensor.name, "' is given twice"));
    LLMC_TRY(checkInput(input, tensor));
    request.inputs[index] = static_cast<const std::byte *>(input.data);
    request.inputSizes[index] = input.size;
    std::copy_n(input.dims, tensor.rank, request.inputDims.begin() + tensor.firstDim);
    copied += (input.size + kInputAlignment - 1) / kInputAlignment * kInputAlignment;
    request.bytes += int64_t(input.size);
  }
  for (uint32_t i = 0; i < spec.inputs.size(); ++i)
    if (spec.inputs[i].generated)
      request.inputSizes[i] = 0;
    else if (request.inputSizes[i] == SIZE_MAX)
      return invalid(concat("input '", spec.inputs[i].name, "' is missing"));
  if (what.lend) {
    request.lends = true;
    return {};
  }
  LLMC_TRY(request.copies.reserve(std::max<size_t>(copied, 1)));
  std::byte *next = request.copies.data();
  for (uint32_t i = 0; i < spec.inputs.size(); ++i) {
    if (request.inputSizes[i] > 0)
      std::memcpy(next, request.inputs[i], request.inputSizes[i]);
    request.inputs[i] = next;
    next += (request.inputSizes[i] + kInputAlignment - 1) / kInputAlignment * kInputAlignment;
  }
  return {};
}

Status Batcher::takeOutputs(Call &request, const llmc_submission &what) {
  const BatchSpec &spec = *request.spec;
  if (what.num_outputs < 0 || (what.num_outputs > 0 && !what.outputs))
    return invalid(concat(what.num_outputs, " outputs, at ", what.outputs ? "a place" : "no place"));
  request.outputs.resize(spec.outputs.size());
  for (int32_t i = 0; i < what.num_outputs; ++i) {
    const llmc_batch_output &output = what.outputs[i];
    LLMC_TRY_ASSIGN(uint32_t index, findTensor(spec.outputs, output.name, i, "output"));
    if (request.outputs[index].user)
      return invalid(concat("output '", spec.outputs[index].name, "' is given twice"));
    if (!output.data)
      return invalid(concat("the memory for output '", spec.outputs[index].name, "' is null"));
    if (!isAligned(output.data, spec.outputs[index].elementSize))
      return invalid(concat("the memory for output '", spec.outputs[index].name, "' is not aligned to its elements"));
    request.outputs[index].user = static_cast<std::byte *>(output.data);
    request.outputs[index].userBytes = output.size;
    request.lends = true;
  }
  return {};
}

/// The rows that all inputs agree in, and the dims with which they run.
Status Batcher::findShape(Call &request) {
  const BatchSpec &spec = *request.spec;
  request.shapeDims = request.inputDims;
  request.shared.clear();
  if (!spec.isBatched())
    return {};
  request.rows = -1;
  const BatchTensor *first = nullptr;
  for (const BatchTensor &input : spec.inputs) {
    if (input.requestAxis != kNone) {
      int64_t &places = request.shapeDims[input.firstDim + input.requestAxis];
      if (places != 1)
        return {Code::Shape, concat("input '", input.name, "' has ", places, " in dim ", input.requestAxis,
                                    ", expected 1: one place for each request")};
      places = 0;
    }
    if (!input.hasRows() || input.generated)
      continue;
    int64_t rows = request.inputDims[input.firstDim + input.rowAxis];
    if (first && rows != request.rows)
      return {Code::Shape, concat("inputs '", first->name, "' and '", input.name, "' disagree on '", spec.dim, "': ",
                                  request.rows, " and ", rows)};
    first = &input;
    request.rows = rows;
    request.shapeDims[input.firstDim + input.rowAxis] = 0;
  }
  if (request.rows < 1)
    return {Code::Shape, concat("the request has ", request.rows, " rows")};
  for (const BatchTensor &input : spec.inputs)
    if (input.generated) { // as if it ran alone
      request.inputDims[input.firstDim] = generatedSize(*input.generated, {&request.rows, 1});
      request.shapeDims[input.firstDim] = 0;
    }
  for (uint32_t padded = 0; padded < spec.padded.size(); ++padded) {
    const std::vector<int64_t> &edges = spec.padded[padded].edges;
    int64_t value = -1;
    for (const BatchTensor &input : spec.inputs)
      for (uint32_t d = 0; d < input.rank; ++d) {
        if (input.paddedDim[d] != padded)
          continue;
        int64_t &dim = request.shapeDims[input.firstDim + d];
        if (value >= 0 && dim != value)
          return {Code::Shape, concat("dim ", d, " of input '", input.name, "' is ", dim, ", but '",
                                      spec.padded[padded].name, "' is ", value, " elsewhere")};
        value = dim;
        auto edge = std::lower_bound(edges.begin(), edges.end(), dim);
        if (edge == edges.end())
          return {Code::Shape, concat("input '", input.name, "' has ", dim, " in dim ", d, ", the largest bucket of '",
                                      spec.padded[padded].name, "' is ", edges.back())};
        dim = *edge;
      }
  }
  for (uint32_t i = 0; i < spec.inputs.size(); ++i)
    if (spec.inputs[i].isShared())
      request.shared.insert(request.shared.end(), request.inputs[i], request.inputs[i] + request.inputSizes[i]);
  return {};
}

/// Dims of the outputs for a shape that is not in the pool; checks what of the inputs' dims only the plan can tell.
Status Batcher::describeShape(const Call &request, const Model &model, Shape &shape) const {
  const BatchSpec &spec = model.spec;
  Job job;
  job.rows = std::clamp(request.rows, spec.minRows, std::min<int64_t>(spec.maxRows, model.cap));
  job.lengths = {job.rows};
  job.inputDims = request.shapeDims;
  job.placeRows(spec);
  const std::unique_ptr<rt::LoadedEntry> &entry = model.source.plan->entries()[model.source.entry];
  LLMC_TRY_ASSIGN(std::shared_ptr<const rt::Binding> binding, entry->bind(job.inputDims));
  shape.inputDims = request.shapeDims;
  shape.shared = request.shared;
  shape.outputDims.clear();
  for (uint32_t i = 0; i < spec.outputs.size(); ++i)
    for (uint32_t d = 0; d < spec.outputs[i].rank; ++d)
      shape.outputDims.push_back(
          spec.outputs[i].varies(d) ? 0 : binding->shape.values[entry->spec.outputs()->Get(i)->dims()->Get(d)]);
  return {};
}

Status Batcher::checkWhat(const llmc_submission &what, const Model &model) const {
  if (refuses)
    return {kRejected, "the batcher is closed"};
  if (what.priority < 0 || uint32_t(what.priority) > model.numPriorities)
    return invalid(concat("priority ", what.priority, " is not within 1 and ", model.numPriorities));
  if (what.deadline_us < 0)
    return invalid(concat("deadline_us is ", what.deadline_us, ", which is in the past"));
  if (what.queue_timeout_us < 0)
    return invalid(concat("queue_timeout_us is ", what.queue_timeout_us, ", which is in the past"));
  if (what.version < 0)
    return invalid(concat("version is ", what.version));
  return {};
}

/// Everything but its admission.
Status Batcher::fill(Call &request, const llmc_submission &what) {
  Model &model = *models[request.model];
  request.callback = what.callback;
  request.user = what.user;
  request.priority = uint32_t(what.priority);
  LLMC_TRY(takeOutputs(request, what));
  LLMC_TRY(takeInputs(request, what));
  LLMC_TRY(findShape(request));
  if (request.rows > model.cap && !model.splitsLarge)
    return invalid(concat("the request has ", request.rows, " rows, more than the ", model.cap, " of a batch"));
  Shape shape;
  bool isKnown = false;
  if (model.spec.isBatched()) {
    std::lock_guard lock(mutex);
    request.bucket = model.shapes.find(request.shapeDims, request.shared);
    isKnown = request.bucket != kNone;
    if (isKnown) {
      useShape(request);
      request.outputDims = model.shapes[request.bucket].outputDims;
    }
  }
  if (!isKnown) {
    LLMC_TRY(describeShape(request, model, shape));
    request.outputDims = shape.outputDims;
    std::lock_guard lock(mutex);
    if (!model.spec.isBatched())
      request.bucket = 0;
    else if (request.bucket = model.shapes.find(request.shapeDims, request.shared); request.bucket == kNone)
      request.bucket = model.shapes.add(std::move(shape));
    if (request.bucket == kNone)
      return {kRejected, concat("requests of ", model.shapes.numBuckets(),
                                " other shapes are under way, no more are allowed at one time by max_shapes")};
    useShape(request);
  }
  for (const BatchTensor &output : model.spec.outputs) {
    if (output.hasRows())
      request.outputDims[output.firstDim + output.rowAxis] = request.rows;
    if (output.requestAxis != kNone)
      request.outputDims[output.firstDim + output.requestAxis] = 1;
    for (uint32_t d = 0; d < output.rank; ++d)
      if (output.paddedDim[d] != kNone)
        request.outputDims[output.firstDim + d] = paddedSize(request, output.paddedDim[d]);
  }
  if (model.cache)
    request.content = AnswerCache::hashOf(request);
  for (uint32_t i = 0; i < request.outputs.size(); ++i)
    if (model.spec.outputs[i].knownBeforeRun)
      LLMC_TRY(request.placeOutput(i));
  return {};
}

void Batcher::useShape(Call &request) {
  models[request.model]->shapes.use(request.bucket);
  request.usesShape = true;
}

/// What a request has of a padded dim.
int64_t Batcher::paddedSize(const Call &request, uint32_t padded) {
  for (const BatchTensor &input : request.spec->inputs)
    for (uint32_t d = 0; d < input.rank; ++d)
      if (input.paddedDim[d] == padded)
        return request.inputDims[input.firstDim + d];
  return 0;
}

Status Batcher::whyRefused(const Call &request, Reason reason, int32_t version) const {
  const Model &model = *models[request.model];
  switch (reason) {
  case Reason::NotFound:
    return invalid(concat("model '", model.name, "' has no version ", version,
                          " in use; new requests start with version ", model.version));
  case Reason::TooLarge:
    return invalid(concat("the request does not fit a batch of model '", model.name, "'"));
  case Reason::BadInput:
    return invalid("the request has bad rows, bytes, priority or queue timeout");
  case Reason::Deadline:
    return {kDeadline, "the deadline has passed"};
  case Reason::DeadlineInfeasible:
    return {kRejected, concat("the requests of model '", model.name, "' that wait leave no time before the deadline")};
  default:
    return {kRejected, concat("model '", model.name, "' does not take the request now: ", name(reason))};
  }
}

/// A part for each batch that the rows need.
Status Batcher::makeParts(Call &request) {
  uint32_t cap = models[request.model]->cap;
  Call **link = &request.nextPart;
  for (int64_t row = 0; row < request.rows; row += cap) {
    Call *part = takeRequest();
    if (!part)
      return tooManyRequests();
    part->spec = request.spec;
    part->model = request.model;
    part->bucket = request.bucket;
    part->whole = &request;
    part->firstRow = row;
    part->rows = std::min<int64_t>(cap, request.rows - row);
    *link = part;
    link = &part->nextPart;
    ++request.partsLeft;
  }
  return {};
}

Status Batcher::tooManyRequests() const {
  return {kRejected, concat("there are ", maxRequests, " requests that have not been released, max_requests allows no more")};
}

/// Tells the core of the request, or of all of its parts: all or none is admitted. The reason of a refusal comes with the
/// next step.
void Batcher::arrive(Call &request, Arrival arrival) {
  auto tell = [&](Call &r) {
    arrival.id = r.index;
    arrival.rows = uint32_t(r.rows);
    arrival.elements = 1; // of which a packed batch may have no more than its model takes requests
    arrival.bytes = request.bytes * r.rows / request.rows;
    r.handle = core->arrive(lastTime, arrival);
    return r.handle.index != kNone;
  };
  if (!request.nextPart) {
    request.refused = !tell(request);
    return;
  }
  for (Call *part = request.nextPart; part && !request.refused; part = part->nextPart)
    request.refused = !tell(*part);
  if (request.refused)
    for (Call *part = request.nextPart; part; part = part->nextPart)
      core->cancel(lastTime, part->handle);
}

Status Batcher::submit(const llmc_submission &what, llmc_request **handle) {
  LLMC_TRY(checkUsable(uint32_t(what.model)));
  Model &model = *models[uint32_t(what.model)];
  LLMC_TRY(checkWhat(what, model));
  if (!handle && !what.callback)
    return invalid("neither a request nor a callback is asked for, so nobody would hear of the answer");
  std::unique_lock lock(mutex);
  Call *call = takeRequest();
  lock.unlock();
  if (!call)
    return tooManyRequests();
  call->model = uint32_t(what.model);
  call->spec = &model.spec;
  call->releasesItself = !handle;
  Status status = fill(*call, what);
  Effects effects;
  lock.lock();
  if (status.ok()) {
    if (handle)
      *handle = reinterpret_cast<llmc_request *>(call);
    status = admit(*call, what, effects);
  }
  RecordedRequest refused;
  bool isRefused = trace && call->refused;
  if (isRefused)
    refused = recordOf(*call);
  if (!status.ok()) {
    putBack(*call);
    if (handle)
      *handle = nullptr;
  }
  lock.unlock();
  perform(effects);
  if (isRefused)
    trace->add(model.name, refused);
  return status;
}

Status Batcher::admit(Call &request, const llmc_submission &what, Effects &effects) {
  Model &model = *models[request.model];
  TimeNs now = advance();
  request.arrival = now;
  if (model.cache && !what.version && model.cache->find(model.version, request)) {
    request.isShared = request.settled = true;
    ++shares;
    ++untold;
    end(request, effects);
    return {};
  }
  if (request.rows > model.cap)
    LLMC_TRY(makeParts(request));
  Arrival arrival;
  arrival.model = request.model;
  arrival.bucket = request.bucket;
  arrival.priority = request.priority;
  auto later = [](int64_t microseconds) { return std::min(microseconds, kNever / kMicrosecond / 4) * kMicrosecond; };
  if (what.version)
    arrival.version = uint32_t(what.version);
  if (what.stream)
    arrival.stream = what.stream - 1;
  if (what.deadline_us)
    arrival.deadline = now + later(what.deadline_us);
  if (what.queue_timeout_us)
    arrival.queueTimeout = later(what.queue_timeout_us);
  request.deadline = arrival.deadline;
  request.isShared = true;
  ++shares;
  ++untold;
  arrive(request, arrival);
  act(effects);
  if (!request.refused)
    return {};
  request.end = lastTime;
  --shares;
  if (--untold == 0)
    idleWord.raise();
  request.isShared = false;
  return whyRefused(request, request.reason, what.version);
}

} // namespace llmc::batch
