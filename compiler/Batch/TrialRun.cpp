// Data is a function of input, row and place, so that a row is the same row in any batch and at any padding.
#include "compiler/Batch/TrialRun.h"
#include "runtime/batch/Generated.h"
#include "runtime/plan/verify/Verify.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Endian.h"

using namespace mlir;

namespace llmc {

using rt::Result;
using rt::Status;

constexpr uint32_t noAxis = UINT32_MAX;

TrialRun::TrialRun(std::shared_ptr<rt::LoadedPlan> loaded, const BatchPlan &batch)
    : plan(loaded), batch(batch), session(loaded, 0), limits(batch.inputs.size(), 2), memory(batch.inputs.size()) {
  for (auto [dim, bucket] : llvm::zip_equal(batch.bucketDims, batch.table.buckets))
    lengths[dim] = bucket->edges.front();
}

/// splitmix64 of all of `parts`.
static uint64_t draw(std::initializer_list<uint64_t> parts) {
  uint64_t z = 0;
  for (uint64_t part : parts) {
    z += part + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z ^= z >> 31;
  }
  return z;
}

static void putFloat(const llvm::fltSemantics &semantics, double value, std::byte *to, size_t size) {
  llvm::APFloat number(value);
  bool loses;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  std::memcpy(to, &bits, size);
}

/// Floats between -1 and 1, integers below `limit`.
static void putElement(plan::DType type, uint64_t bits, int64_t limit, std::byte *to, size_t size) {
  double value = double(bits >> 11) * 0x1p-52 - 1;
  uint64_t number = type == plan::DType::BOOL ? bits % 2 : bits % uint64_t(size == 1 ? std::min<int64_t>(limit, 100) : limit);
  switch (type) {
  case plan::DType::F64: return putFloat(llvm::APFloat::IEEEdouble(), value, to, size);
  case plan::DType::F32: return putFloat(llvm::APFloat::IEEEsingle(), value, to, size);
  case plan::DType::F16: return putFloat(llvm::APFloat::IEEEhalf(), value, to, size);
  case plan::DType::BF16: return putFloat(llvm::APFloat::BFloat(), value, to, size);
  default: std::memcpy(to, &number, size);
  }
}

static void putOne(plan::DType type, std::byte *to, size_t size) {
  uint64_t one = 1;
  switch (type) {
  case plan::DType::F64: return putFloat(llvm::APFloat::IEEEdouble(), 1, to, size);
  case plan::DType::F32: return putFloat(llvm::APFloat::IEEEsingle(), 1, to, size);
  case plan::DType::F16: return putFloat(llvm::APFloat::IEEEhalf(), 1, to, size);
  case plan::DType::BF16: return putFloat(llvm::APFloat::BFloat(), 1, to, size);
  default: std::memcpy(to, &one, size);
  }
}

Status TrialRun::fill(uint32_t input, llvm::ArrayRef<uint64_t> rows, const Sizes &valid, const Sizes &sizes) {
  const plan::TensorSpec &spec = *session.spec().inputs()->Get(input);
  size_t size = rt::elementSize(spec.dtype());
  std::vector<int64_t> dims, ends; // ends: where padding begins
  int64_t elements = 1;
  for (auto [axis, dim] : llvm::enumerate(batch.inputs[input].dims)) {
    dims.push_back(dim.evaluate([&](llvm::StringRef name) { return std::optional(sizes.at(name.str())); }).value_or(0));
    ends.push_back(dims.back());
    for (auto [name, bucket] : llvm::zip_equal(batch.bucketDims, batch.table.buckets))
      if (bucket->input_axes[input] == axis)
        ends.back() = valid.at(name);
    elements *= dims.back();
  }
  auto pad = llvm::find_if(batch.table.pads, [&](auto &pad) { return pad->input == input; });
  uint32_t batchAxis = batch.table.input_axes[input];
  memory[input].resize(elements * size);
  if (const plan::GeneratedT *generated = batch.generatedOf(input)) {
    batch::writeGenerated(generated->kind, spec.dtype(), requestLengths, memory[input].data());
    return session.setInput(input, spec.dtype(), dims, memory[input]);
  }
  uint32_t requestAxis = batch.isPacked() ? batch.table.request_input_axes[input] : noAxis;
  std::vector<int64_t> place(dims.size());
  for (int64_t i = 0; i < elements; ++i) {
    uint64_t bits = draw({input, batchAxis == noAxis ? 0 : rows[place[batchAxis]]});
    bool isPadding = false;
    for (auto [axis, at] : llvm::enumerate(place)) {
      isPadding |= at >= ends[axis];
      bits = axis == batchAxis ? bits : draw({bits, axis == requestAxis ? requestNumbers[at] : uint64_t(at)});
    }
    std::byte *to = memory[input].data() + i * size;
    if (isPadding)
      std::memcpy(to, (*pad)->value.data(), size);
    else if (batch.inputs[input].isMask)
      putOne(spec.dtype(), to, size);
    else
      putElement(spec.dtype(), bits, limits[input], to, size);
    for (size_t axis = dims.size(); axis-- > 0 && ++place[axis] == dims[axis];)
      place[axis] = 0;
  }
  return session.setInput(input, spec.dtype(), dims, memory[input]);
}

Result<TrialOutputs> TrialRun::run(llvm::ArrayRef<uint64_t> rows, const Sizes &valid, const Sizes &padded) {
  Sizes sizes = others;
  sizes.insert(padded.begin(), padded.end());
  sizes[batch.dim] = rows.size();
  describePacking(rows);
  for (auto &generated : batch.table.generated)
    if (generated->kind != plan::GeneratedKind::INDEX)
      sizes[batch.inputs[generated->input].dims[0].symbolName().str()] = batch::generatedSize(generated->kind, requestLengths);
  for (uint32_t i = 0; i < batch.inputs.size(); ++i)
    LLMC_TRY(fill(i, rows, valid, sizes));
  LLMC_TRY(session.run());
  TrialOutputs outputs;
  for (uint32_t i = 0; i < batch.outputs.size(); ++i) {
    auto data = session.outputData(i);
    auto dims = session.outputDims(i);
    outputs.push_back({session.spec().outputs()->Get(i)->dtype(), {dims.begin(), dims.end()}, {data.begin(), data.end()}});
  }
  return outputs;
}

void TrialRun::describePacking(llvm::ArrayRef<uint64_t> rows) {
  requestNumbers.clear();
  requestLengths.clear();
  for (uint64_t row : rows) {
    if (requestNumbers.empty() || requestNumbers.back() != row >> 32) {
      requestNumbers.push_back(row >> 32);
      requestLengths.push_back(0);
    }
    ++requestLengths.back();
  }
}

/// Whether the size of the dim follows from the rows and the buckets.
bool TrialRun::isSet(llvm::StringRef name) const {
  return name == batch.dim || lengths.count(name.str()) ||
         llvm::any_of(batch.table.generated, [&](auto &generated) { return batch.inputs[generated->input].dims[0].symbolName() == name; });
}

/// All free dims at `free`, as far as their ranges allow.
std::string TrialRun::trySizes(int64_t free) {
  for (auto &[name, range] : batch.symbols)
    if (!isSet(name))
      others[name] = std::clamp(free, range.lo, range.hi);
  std::vector<uint64_t> rows(batch.table.sizes.front(), 1);
  Result<TrialOutputs> outputs = run(rows, lengths);
  return outputs.ok() ? "" : outputs.status().message();
}

std::string TrialRun::settle() {
  std::string problem;
  for (int64_t limit : {2, 1}) {
    std::fill(limits.begin(), limits.end(), limit);
    for (int64_t free : {32, 64, 16, 8, 4, 2, 1, 128, 224, 320, 640})
      if (problem = trySizes(free); problem.empty())
        break;
    if (problem.empty())
      break;
  }
  if (!problem.empty())
    return problem;
  // The more numbers an input may be, the more a trial sees: what a model refuses, such as numbers of words, tells the bound.
  std::vector<uint64_t> rows(batch.table.sizes.front(), 1);
  for (int64_t &limit : limits)
    for (int64_t larger : {1000, 100, 10}) {
      int64_t least = std::exchange(limit, larger);
      if (run(rows, lengths).ok())
        break;
      limit = least;
    }
  return "";
}

} // namespace llmc
