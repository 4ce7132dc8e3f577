//===- BatchSpec.cpp - What an entry of a plan says of batching ---------------------------------------------------===//

#include "runtime/batch/BatchSpec.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::batch {
namespace {

using namespace rt;
using Specs = flatbuffers::Vector<flatbuffers::Offset<plan::TensorSpec>>;

Status invalid(std::string message) { return Status(Code::InvalidArgument, std::move(message)); }

class SpecReader {
public:
  SpecReader(const LoadedPlan &plan, const LoadedEntry &entry)
      : plan(plan), entry(entry), program(entry.bodies.back()->program) {}

  Status read(const char *dim);
  BatchSpec spec;

private:
  void describe(const Specs *specs, std::vector<BatchTensor> &tensors, uint32_t &numDims);
  Status readTable(const plan::Batching &table);
  Status readRowAxes(const flatbuffers::Vector<uint32_t> *axes, std::vector<BatchTensor> &tensors);
  void readPaddedAxes(uint32_t padded, const flatbuffers::Vector<uint32_t> *axes, std::vector<BatchTensor> &tensors);
  void readPacking(const plan::Batching &table);
  void readCosts(const plan::Batching &table);
  Status findRowAxes(std::string_view dim);
  Status findRowAxis(std::string_view dim, const Specs *specs, uint32_t index, BatchTensor &tensor,
                     const char *what) const;
  Status readRange();
  Status readRequestRange();
  Status checkOutputs() const;
  bool findExact() const;
  const Program::Symbol *symbolOf(const Specs *specs, uint32_t tensor, uint32_t axis) const;
  std::string symbolNames() const;

  const LoadedPlan &plan;
  const LoadedEntry &entry;
  const Program &program; // of the most general body
};

/// The symbol that the dim is; null for others.
const Program::Symbol *SpecReader::symbolOf(const Specs *specs, uint32_t tensor, uint32_t axis) const {
  const Program::Node &node = program.nodes[specs->Get(tensor)->dims()->Get(axis)];
  bool isDim = node.kind == Program::Node::Kind::Symbol &&
               program.symbols[node.symbol].source == plan::SymbolSource::INPUT_DIM;
  return isDim ? &program.symbols[node.symbol] : nullptr;
}

std::string SpecReader::symbolNames() const {
  std::string names;
  for (const Program::Symbol &symbol : program.symbols)
    if (symbol.source == plan::SymbolSource::INPUT_DIM)
      names += concat(names.empty() ? "'" : ", '", text(symbol.spec->name()), "'");
  return names.empty() ? "no dim that is not fixed" : names;
}

void SpecReader::describe(const Specs *specs, std::vector<BatchTensor> &tensors, uint32_t &numDims) {
  for (uint32_t i = 0; i < count(specs); ++i) {
    const plan::TensorSpec *from = specs->Get(i);
    BatchTensor tensor;
    tensor.name = text(from->name());
    tensor.type = from->dtype();
    tensor.elementSize = elementSize(from->dtype());
    tensor.firstDim = numDims;
    tensor.rank = count(from->dims());
    tensor.paddedDim.assign(tensor.rank, kNone);
    for (uint32_t d = 0; d < tensor.rank; ++d) {
      uint32_t expr = from->dims()->Get(d), event = program.nodes[expr].event;
      tensor.dims.push_back(event == kLoadEvent ? entry.bodies.back()->loaded.values[expr] : -1);
      tensor.knownBeforeRun &= event <= kBindEvent;
    }
    numDims += tensor.rank;
    tensors.push_back(std::move(tensor));
  }
}

Status SpecReader::read(const char *dim) {
  describe(entry.spec.inputs(), spec.inputs, spec.numInputDims);
  describe(entry.spec.outputs(), spec.outputs, spec.numOutputDims);
  const plan::Batching *table = entry.spec.batching();
  if (dim && !*dim)
    return {};
  if (!dim && !table)
    return invalid(concat("the plan does not say which dim is batched: compile it with --batch-dim, or name one of ",
                          symbolNames()));
  if (table && dim && text(table->dim()) != dim)
    return invalid(concat("the plan is batched in '", text(table->dim()), "', not in '", dim, "'"));
  spec.dim = table ? text(table->dim()) : std::string_view(dim);
  LLMC_TRY(table ? readTable(*table) : findRowAxes(dim));
  LLMC_TRY(readRange());
  LLMC_TRY(checkOutputs());
  spec.isExact = findExact();
  return {};
}

Status SpecReader::readTable(const plan::Batching &table) {
  LLMC_TRY(readRowAxes(table.input_axes(), spec.inputs));
  LLMC_TRY(readRowAxes(table.output_axes(), spec.outputs));
  for (uint32_t i = 0; i < count(table.sizes()); ++i)
    spec.sizes.push_back(uint32_t(table.sizes()->Get(i)));
  for (uint32_t i = 0; i < count(table.buckets()); ++i) {
    const plan::BucketDim *bucket = table.buckets()->Get(i);
    PaddedDim padded = {std::string(text(bucket->name())), {}};
    for (uint32_t e = 0; e < count(bucket->edges()); ++e)
      padded.edges.push_back(int64_t(bucket->edges()->Get(e)));
    spec.padded.push_back(std::move(padded));
    readPaddedAxes(i, bucket->input_axes(), spec.inputs);
    readPaddedAxes(i, bucket->output_axes(), spec.outputs);
  }
  for (uint32_t i = 0; i < count(table.pads()); ++i) {
    const plan::Pad *pad = table.pads()->Get(i);
    const auto *bytes = reinterpret_cast<const std::byte *>(pad->value()->data());
    spec.inputs[pad->input()].pad.assign(bytes, bytes + pad->value()->size());
  }
  readPacking(table);
  readCosts(table);
  return {};
}

void SpecReader::readPacking(const plan::Batching &table) {
  for (uint32_t i = 0; i < count(table.generated()); ++i)
    spec.inputs[table.generated()->Get(i)->input()].generated = table.generated()->Get(i)->kind();
  for (uint32_t i = 0; i < count(table.request_input_axes()); ++i)
    spec.inputs[i].requestAxis = table.request_input_axes()->Get(i);
  for (uint32_t i = 0; i < count(table.request_output_axes()); ++i)
    spec.outputs[i].requestAxis = table.request_output_axes()->Get(i);
}

Status SpecReader::readRowAxes(const flatbuffers::Vector<uint32_t> *axes, std::vector<BatchTensor> &tensors) {
  if (count(axes) != tensors.size())
    return {Code::InvalidPlan, concat(count(axes), " batch axes for ", tensors.size(), " tensors")};
  for (uint32_t i = 0; i < tensors.size(); ++i)
    tensors[i].rowAxis = axes->Get(i);
  return {};
}

void SpecReader::readPaddedAxes(uint32_t padded, const flatbuffers::Vector<uint32_t> *axes,
                                std::vector<BatchTensor> &tensors) {
  for (uint32_t i = 0; i < std::min<size_t>(count(axes), tensors.size()); ++i)
    if (axes->Get(i) < tensors[i].rank)
      tensors[i].paddedDim[axes->Get(i)] = padded;
}

/// What runs cost on another machine, or with other threads, says nothing here.
void SpecReader::readCosts(const plan::Batching &table) {
  size_t wanted = spec.sizes.size();
  for (const PaddedDim &dim : spec.padded)
    wanted *= dim.edges.size();
  if (count(table.costs()) != wanted || text(table.cost_level()) != plan.cpuLevel() ||
      table.cost_threads() != plan.device().threads())
    return;
  for (uint32_t i = 0; i < wanted; ++i)
    spec.costs.push_back(TimeNs(std::clamp<uint64_t>(table.costs()->Get(i), 1, 3600 * kSecond)));
}

Status SpecReader::findRowAxes(std::string_view dim) {
  for (uint32_t i = 0; i < spec.inputs.size(); ++i)
    LLMC_TRY(findRowAxis(dim, entry.spec.inputs(), i, spec.inputs[i], "input"));
  if (std::none_of(spec.inputs.begin(), spec.inputs.end(), [](const BatchTensor &t) { return t.hasRows(); }))
    return invalid(concat("no input has a dim '", dim, "'; there is ", symbolNames()));
  for (uint32_t i = 0; i < spec.outputs.size(); ++i) {
    LLMC_TRY(findRowAxis(dim, entry.spec.outputs(), i, spec.outputs[i], "output"));
    if (!spec.outputs[i].hasRows())
      return invalid(concat("output '", spec.outputs[i].name, "' has no dim '", dim,
                            "', so it can not be told which of it belongs to which row"));
  }
  return {};
}

Status SpecReader::findRowAxis(std::string_view dim, const Specs *specs, uint32_t index, BatchTensor &tensor,
                               const char *what) const {
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    const Program::Symbol *symbol = symbolOf(specs, index, axis);
    if (!symbol || text(symbol->spec->name()) != dim)
      continue;
    if (tensor.hasRows())
      return invalid(concat(what, " '", tensor.name, "' has '", dim, "' in dims ", tensor.rowAxis, " and ", axis));
    tensor.rowAxis = axis;
  }
  return {};
}

/// Row counts that the batch dim allows, in all inputs that have it.
Status SpecReader::readRange() {
  spec.maxRows = 1 << 20;
  for (uint32_t i = 0; i < spec.inputs.size(); ++i) {
    if (!spec.inputs[i].hasRows())
      continue;
    const Program::Symbol *symbol = spec.inputs[i].rowAxis < spec.inputs[i].rank
                                        ? symbolOf(entry.spec.inputs(), i, spec.inputs[i].rowAxis)
                                        : nullptr;
    if (!symbol)
      return {Code::InvalidPlan, concat("the batch dim of input '", spec.inputs[i].name, "' is not a symbol")};
    spec.minRows = std::max(spec.minRows, symbol->lo);
    spec.maxRows = std::min(spec.maxRows, symbol->hi);
  }
  if (spec.minRows > spec.maxRows)
    return invalid(concat("'", spec.dim, "' allows no row count of 1 or more"));
  return readRequestRange();
}

/// What the inputs that the batcher makes allow. A single request of any length runs.
Status SpecReader::readRequestRange() {
  for (uint32_t i = 0; i < spec.inputs.size(); ++i) {
    const std::optional<plan::GeneratedKind> &kind = spec.inputs[i].generated;
    if (!kind || *kind == plan::GeneratedKind::INDEX)
      continue;
    const Program::Symbol *symbol = symbolOf(entry.spec.inputs(), i, 0);
    if (!symbol)
      return {Code::InvalidPlan,
              concat("the dim of input '", spec.inputs[i].name, "', which is generated, is not a symbol")};
    bool hasZero = *kind == plan::GeneratedKind::ACCUMULATED_ZERO;
    if (*kind != plan::GeneratedKind::LONGEST)
      spec.maxRequests = std::min(spec.maxRequests, symbol->hi - hasZero);
    if (symbol->lo > 1 + hasZero || (*kind == plan::GeneratedKind::LONGEST && symbol->hi < spec.maxRows))
      return invalid(concat("the dim of input '", spec.inputs[i].name, "', which is generated, is in ", symbol->lo,
                            "..", symbol->hi));
  }
  if (spec.maxRequests < 1 || (spec.isPacked() && spec.minRows > 1))
    return invalid(concat("a batch of one request of one place of '", spec.dim, "' is not allowed"));
  return {};
}

Status SpecReader::checkOutputs() const {
  for (const BatchTensor &output : spec.outputs)
    if (!output.knownBeforeRun)
      return invalid(concat("output '", output.name,
                            "' has dims that depend on data, so it can not be told which of it belongs to which row"));
  return {};
}

bool SpecReader::findExact() const {
  for (const BatchTensor &input : spec.inputs) {
    for (uint32_t d = 0; d < input.rank; ++d)
      if (!input.varies(d) && input.paddedDim[d] == kNone && input.dims[d] < 0)
        return true;
    if (input.isShared())
      return true;
  }
  return false;
}

} // namespace

bool BatchSpec::isPacked() const {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const BatchTensor &input) { return input.generated.has_value(); });
}

bool BatchSpec::matches(const BatchSpec &other) const {
  return dim == other.dim && minRows == other.minRows && maxRows == other.maxRows && maxRequests == other.maxRequests &&
         sizes == other.sizes && inputs == other.inputs && outputs == other.outputs && padded == other.padded &&
         isExact == other.isExact;
}

Result<BatchSpec> readBatchSpec(const LoadedPlan &plan, uint32_t entry, const char *dim) {
  SpecReader reader(plan, *plan.entries()[entry]);
  LLMC_TRY(reader.read(dim));
  return std::move(reader.spec);
}

} // namespace llmc::batch
