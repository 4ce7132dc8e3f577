// Rows alone and among others; lengths as they are and padded to the next edge.
#include "compiler/Batch/BatchTrial.h"
#include "compiler/Batch/TrialRun.h"
#include "runtime/plan/verify/Verify.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace llmc {
namespace {

using rt::Result;

constexpr uint32_t noAxis = UINT32_MAX;
constexpr double padTolerance = 1e-5; // of the output's scale

class Trial {
public:
  Trial(std::shared_ptr<rt::LoadedPlan> plan, BatchPlan &batch) : runs(std::move(plan), batch), batch(batch) {}
  std::string run();

private:
  std::string tryRows();
  std::string tryPacks();
  std::string compareRequest(const TrialOutputs &together, int64_t number, int64_t firstRow, const TrialOutputs &alone, int64_t rows) const;
  std::string compareRow(const TrialOutputs &lhs, int64_t left, const TrialOutputs &rhs, int64_t right) const;
  std::string tryBucket(size_t index);
  std::string tryLength(size_t index, int64_t length, int64_t edge);
  std::string checkCuts(size_t index) const;
  std::string refusal(size_t index, const llvm::Twine &what) const;

  TrialRun runs;
  BatchPlan &batch;
  double worst = 0; // difference, of the bucket under trial
};

/// The bytes of rows along `axis`, or all without one.
std::vector<std::byte> rowOf(const TrialOutput &output, uint32_t axis, int64_t row, int64_t rows = 1) {
  if (axis == noAxis)
    return output.data;
  size_t inner = rt::elementSize(output.type), outer = 1;
  for (auto [i, dim] : llvm::enumerate(output.dims))
    (i < axis ? outer : inner) *= i == axis ? 1 : dim;
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < outer; ++i) {
    auto from = output.data.begin() + (i * output.dims[axis] + row) * inner;
    bytes.insert(bytes.end(), from, from + rows * inner);
  }
  return bytes;
}

std::string Trial::compareRow(const TrialOutputs &lhs, int64_t left, const TrialOutputs &rhs, int64_t right) const {
  for (auto [i, tensor] : llvm::enumerate(batch.outputs))
    if (rowOf(lhs[i], batch.table.output_axes[i], left) != rowOf(rhs[i], batch.table.output_axes[i], right))
      return tensor.name;
  return "";
}

/// Some rows in one batch; then each of them first among others, in the smallest batch; then all in reverse.
std::string Trial::tryRows() {
  size_t most = std::min<size_t>(batch.table.sizes.back(), 5), least = std::min<size_t>(batch.table.sizes.front(), most);
  most = std::max<size_t>(most, batch.table.sizes.front()), least = std::max<size_t>(least, batch.table.sizes.front());
  std::vector<uint64_t> rows(most);
  for (size_t i = 0; i < most; ++i)
    rows[i] = i + 1;
  Result<TrialOutputs> together = runs.run(rows, runs.firstLengths());
  auto refuse = [&](const std::string &output) {
    return "rows of " + batch.dim + " influence each other: in a trial with seeded data output '" + output +
           "' has other bits for a row with other neighbours; " + batch.rowDoubt.reason;
  };
  if (!together.ok())
    return together.status().message();
  for (size_t i = 0; i < most; ++i) {
    std::vector<uint64_t> few(least);
    for (size_t k = 0; k < least; ++k)
      few[k] = k == 0 ? rows[i] : 100 + i + k;
    Result<TrialOutputs> alone = runs.run(few, runs.firstLengths());
    if (!alone.ok())
      return alone.status().message();
    if (std::string output = compareRow(*together, i, *alone, 0); !output.empty())
      return refuse(output);
  }
  Result<TrialOutputs> reversed = runs.run(std::vector<uint64_t>(rows.rbegin(), rows.rend()), runs.firstLengths());
  if (!reversed.ok())
    return reversed.status().message();
  for (size_t i = 0; i < most; ++i)
    if (std::string output = compareRow(*together, i, *reversed, most - 1 - i); !output.empty())
      return refuse(output);
  batch.table.row_proof = "trial: " + std::to_string(most) + " rows of seeded data have the same bits alone, together and in reverse; not proven, since " +
                          batch.rowDoubt.reason;
  return "";
}

/// An output in which a request of so many rows differs; "" if none does.
std::string Trial::compareRequest(const TrialOutputs &together, int64_t number, int64_t firstRow, const TrialOutputs &alone, int64_t rows) const {
  for (auto [i, tensor] : llvm::enumerate(batch.outputs)) {
    uint32_t requestAxis = batch.table.request_output_axes[i], rowAxis = batch.table.output_axes[i];
    bool isSame = requestAxis != noAxis ? rowOf(together[i], requestAxis, number) == rowOf(alone[i], requestAxis, 0)
                                        : rowOf(together[i], rowAxis, firstRow, rows) == rowOf(alone[i], rowAxis, 0, rows);
    if (!isSame)
      return tensor.name;
  }
  return "";
}

/// Requests of several lengths alone, packed, and packed in reverse.
std::string Trial::tryPacks() {
  std::vector<std::vector<uint64_t>> requests;
  int64_t most = std::min<int64_t>(batch.symbols.at(batch.dim).hi, 4096), left = most;
  // Long ones too: sums over many places may be taken apart where the place in the batch decides.
  for (int64_t length : {int64_t(3), int64_t(1), int64_t(5), most / 3, int64_t(2), most / 4, int64_t(7), int64_t(1), left}) {
    length = std::min(length, left);
    if (length == 0 || int64_t(requests.size()) == batch.maxRequests())
      continue;
    left -= length;
    requests.emplace_back();
    for (int64_t place = 0; place < length; ++place)
      requests.back().push_back((requests.size() << 32) + place);
  }
  std::vector<TrialOutputs> alone;
  for (const std::vector<uint64_t> &request : requests) {
    Result<TrialOutputs> outputs = runs.run(request, runs.firstLengths());
    if (!outputs.ok())
      return outputs.status().message();
    alone.push_back(std::move(*outputs));
  }
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  for (bool reversed : {false, true}) {
    std::vector<uint64_t> rows;
    for (size_t request : order)
      rows.insert(rows.end(), requests[request].begin(), requests[request].end());
    Result<TrialOutputs> together = runs.run(rows, runs.firstLengths());
    if (!together.ok())
      return together.status().message();
    int64_t firstRow = 0;
    for (auto [number, request] : llvm::enumerate(order)) {
      int64_t length = requests[request].size();
      if (std::string output = compareRequest(*together, number, firstRow, alone[request], length); !output.empty())
        return "packed requests of " + batch.dim + " influence each other: in a trial with seeded data output '" + output +
               "' has other bits for a request of " + std::to_string(length) + " places as number " + std::to_string(number) + " of " +
               std::to_string(order.size()) + (reversed ? " in reverse" : "") + " than alone";
      firstRow += length;
    }
    std::reverse(order.begin(), order.end());
  }
  batch.table.row_proof = "trial: " + std::to_string(requests.size()) + " packed requests of seeded data have the same bits alone, together and in reverse";
  return "";
}

double valueOf(plan::DType type, const std::byte *at) {
  auto as = [&]<typename T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return double(value);
  };
  auto half = [&](const llvm::fltSemantics &semantics) {
    uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    llvm::APFloat value(semantics, llvm::APInt(16, bits));
    return value.convertToDouble();
  };
  switch (type) {
  case plan::DType::F64: return as(double());
  case plan::DType::F32: return as(float());
  case plan::DType::F16: return half(llvm::APFloat::IEEEhalf());
  case plan::DType::BF16: return half(llvm::APFloat::BFloat());
  case plan::DType::I64: return as(int64_t());
  case plan::DType::U64: return as(uint64_t());
  case plan::DType::I32: return as(int32_t());
  case plan::DType::U32: return as(uint32_t());
  case plan::DType::I16: return as(int16_t());
  case plan::DType::U16: return as(uint16_t());
  case plan::DType::I8: return as(int8_t());
  default: return as(uint8_t());
  }
}

/// The greatest difference of `padded`, cut back to the dims of `exact`, over the greatest value; infinite where there is nothing to compare.
double differenceOf(const TrialOutput &exact, const TrialOutput &padded) {
  size_t size = rt::elementSize(exact.type), rank = exact.dims.size();
  double scale = 0, difference = 0;
  std::vector<int64_t> place(rank);
  for (size_t axis = 0; axis < rank; ++axis)
    if (exact.dims[axis] > padded.dims[axis])
      return INFINITY;
  for (size_t i = 0; i < exact.data.size() / size; ++i) {
    size_t at = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      at = at * padded.dims[axis] + place[axis];
    double lhs = valueOf(exact.type, exact.data.data() + i * size), rhs = valueOf(exact.type, padded.data.data() + at * size);
    if (std::isnan(lhs) != std::isnan(rhs) || (std::isinf(lhs) && lhs != rhs))
      return INFINITY;
    if (std::isfinite(lhs)) {
      scale = std::max(scale, std::abs(lhs));
      difference = std::max(difference, std::abs(lhs - rhs));
    }
    for (size_t axis = rank; axis-- > 0 && ++place[axis] == exact.dims[axis];)
      place[axis] = 0;
  }
  return difference == 0 ? 0 : difference / scale;
}

std::string Trial::refusal(size_t index, const llvm::Twine &what) const {
  std::string reason = batch.bucketDoubts[index].reason;
  return "padding dim " + batch.bucketDims[index] + " is not safe: " + what.str() + "; " + reason +
         ". Leave the dim without --buckets: requests of the same size still share runs";
}

/// One row with `length` places as it is, and padded to `edge`.
std::string Trial::tryLength(size_t index, int64_t length, int64_t edge) {
  Sizes valid = runs.firstLengths(), padded = valid;
  valid[batch.bucketDims[index]] = length;
  padded[batch.bucketDims[index]] = edge;
  std::vector<uint64_t> rows(batch.table.sizes.front());
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = i + length;
  Result<TrialOutputs> exact = runs.run(rows, valid), longer = runs.run(rows, valid, padded);
  if (!exact.ok() || !longer.ok())
    return refusal(index, (exact.ok() ? longer : exact).status().message());
  for (auto [i, tensor] : llvm::enumerate(batch.outputs)) {
    double difference = differenceOf((*exact)[i], (*longer)[i]);
    worst = std::max(worst, difference);
    if (difference > padTolerance) {
      llvm::SmallString<128> text;
      llvm::raw_svector_ostream(text) << "at length " << length << " padded to " << edge << " output '" << tensor.name << "' differs by "
                                      << llvm::format("%.1e", difference) << " of its scale, more than 1e-05";
      return refusal(index, text);
    }
  }
  return "";
}

/// An answer is cut back along axes that are the dim itself.
std::string Trial::checkCuts(size_t index) const {
  const plan::BucketDimT &bucket = *batch.table.buckets[index];
  for (auto [i, output] : llvm::enumerate(batch.outputs))
    for (auto [axis, dim] : llvm::enumerate(output.dims)) {
      bool mentions = false;
      dim.forEachSymbol([&](llvm::StringRef name) { mentions |= name == batch.bucketDims[index]; });
      if (mentions && bucket.output_axes[i] != axis)
        return refusal(index, "axis " + llvm::Twine(axis) + " of output '" + output.name + "' is " + dim.str() + ", so an answer can not be cut back");
    }
  return "";
}

/// For each edge: the shortest and the longest length that is padded to it, and one between.
std::string Trial::tryBucket(size_t index) {
  plan::BucketDimT &bucket = *batch.table.buckets[index];
  int64_t before = std::max<int64_t>(batch.symbols.at(batch.bucketDims[index]).lo, 1) - 1, lengths = 0;
  worst = 0;
  for (uint64_t edge : bucket.edges) {
    std::set<int64_t> tried = {before + 1, (before + int64_t(edge)) / 2, int64_t(edge) - 1};
    for (int64_t length : tried)
      if (length > before && length < int64_t(edge)) {
        if (std::string problem = tryLength(index, length, edge); !problem.empty())
          return problem;
        ++lengths;
      }
    before = edge;
  }
  llvm::SmallString<128> text;
  llvm::raw_svector_ostream(text) << "trial: " << lengths << " lengths of seeded data, padded, differ by at most " << llvm::format("%.1e", worst)
                                  << " of an output's scale; not proven, since " << batch.bucketDoubts[index].reason;
  bucket.proof = text.str();
  return checkCuts(index);
}

std::string Trial::run() {
  if (std::string problem = runs.settle(); !problem.empty())
    return "no run of the model on seeded data succeeds, so nothing can be tried: " + problem;
  if (batch.table.row_proof.empty())
    if (std::string problem = batch.isPacked() ? tryPacks() : tryRows(); !problem.empty())
      return problem;
  for (size_t i = 0; i < batch.table.buckets.size(); ++i)
    if (batch.table.buckets[i]->proof.empty())
      if (std::string problem = tryBucket(i); !problem.empty())
        return problem;
  return "";
}

} // namespace

std::string tryBatches(const std::string &path, unsigned threads, BatchPlan &batch) {
  Result<std::shared_ptr<const rt::PlanFile>> file = rt::PlanFile::open(path.c_str());
  if (!file.ok())
    return file.status().message();
  rt::LoadOptions options;
  options.threads = threads;
  Result<std::shared_ptr<rt::LoadedPlan>> plan = rt::LoadedPlan::load(*file, options);
  if (!plan.ok())
    return "what the graph does not prove is tried on this machine: " + plan.status().message();
  return Trial(*plan, batch).run();
}

} // namespace llmc
