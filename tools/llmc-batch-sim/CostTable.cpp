//===- CostTable.cpp - What a run costs, by its rows --------------------------------------------------------------===//

#include "tools/llmc-batch-sim/CostTable.h"
#include "runtime/plan/verify/Verify.h"
#include "runtime/plan/PlanFile.h"
#include "tools/common/Tool.h"
#include "tools/llmc-batch-sim/TextFile.h"
#include <algorithm>

namespace llmc::sim {

CostTable CostTable::fromFormula(std::vector<uint32_t> rows, double fixedMs, double perRowMs) {
  CostTable table;
  for (uint32_t count : rows)
    table.cost.push_back(batch::TimeNs((fixedMs + perRowMs * count) * double(batch::kMillisecond) + 0.5));
  table.rows = std::move(rows);
  return table;
}

CostTable CostTable::fromFile(const std::string &path) {
  CostTable table;
  readLines(path, [&](const std::vector<double> &numbers) {
    if (numbers.size() != 2 || !(numbers[0] >= 1) || !(numbers[1] > 0))
      return false;
    table.rows.push_back(uint32_t(numbers[0]));
    table.cost.push_back(batch::TimeNs(numbers[1] * double(batch::kMillisecond) + 0.5));
    return table.rows.size() < 2 || table.rows[table.rows.size() - 2] < table.rows.back();
  });
  return table;
}

/// The number of the edge of `bucket` that one of `edges` names, or of the last.
static uint32_t chosenEdge(const plan::BucketDim &bucket, const std::vector<std::string> &edges) {
  uint32_t last = bucket.edges()->size() - 1;
  std::string prefix = bucket.name()->str() + "=", known;
  for (const std::string &text : edges) {
    if (!text.starts_with(prefix))
      continue;
    for (uint32_t i = 0; i <= last; ++i)
      if (text == prefix + std::to_string(bucket.edges()->Get(i)))
        return i;
    for (uint64_t edge : *bucket.edges())
      known += (known.empty() ? "" : ", ") + std::to_string(edge);
    tools::badCommand("--bucket " + text + ": the edges are " + known);
  }
  return last;
}

CostTable CostTable::fromArtifact(const std::string &path, const std::vector<std::string> &edges) {
  auto file = rt::PlanFile::open(path.c_str());
  if (!file.ok())
    tools::badData(file.status().message());
  const plan::Batching *batching = (*file)->plan().entries()->Get(0)->batching();
  if (!batching || rt::count(batching->costs()) == 0)
    tools::badData("'" + path + "' has no costs; llmc --batch-dim and llmc-bench --save-costs give it some");
  uint32_t bucket = 0, found = 0;
  for (uint32_t i = 0; i < rt::count(batching->buckets()); ++i) {
    const plan::BucketDim &dim = *batching->buckets()->Get(i);
    bucket = bucket * dim.edges()->size() + chosenEdge(dim, edges);
    found += uint32_t(std::count_if(edges.begin(), edges.end(), [&](auto &text) { return text.starts_with(dim.name()->str() + "="); }));
  }
  if (found != edges.size())
    tools::badCommand("--bucket names a dim that the artifact has no buckets of");
  CostTable table;
  for (uint32_t i = 0; i < batching->sizes()->size(); ++i) {
    table.rows.push_back(uint32_t(batching->sizes()->Get(i)));
    table.cost.push_back(batch::TimeNs(batching->costs()->Get(bucket * batching->sizes()->size() + i)));
  }
  return table;
}

size_t CostTable::pointOf(uint32_t executed) const {
  size_t point = size_t(std::lower_bound(rows.begin(), rows.end(), executed) - rows.begin());
  return std::min(point, cost.size() - 1);
}

batch::TimeNs CostTable::at(uint32_t executed) const {
  size_t point = pointOf(executed);
  if (!anySize || point == 0 || executed >= rows[point])
    return cost[point];
  batch::TimeNs low = cost[point - 1], high = cost[point];
  return low + (high - low) * (executed - rows[point - 1]) / (rows[point] - rows[point - 1]);
}

namespace {

/// Where nothing is known, a size costs as much per row as the nearest one that is.
void fillGaps(CostTable &table) {
  auto known = [&](size_t i) { return table.cost[i] > 0; };
  for (size_t i = 1; i < table.cost.size(); ++i)
    if (!known(i) && known(i - 1))
      table.cost[i] = table.cost[i - 1] * table.rows[i] / table.rows[i - 1];
  for (size_t i = table.cost.size(); i-- > 1;)
    if (!known(i - 1))
      table.cost[i - 1] = known(i) ? std::max<batch::TimeNs>(1, table.cost[i] * table.rows[i - 1] / table.rows[i])
                                   : batch::kMillisecond;
  if (!known(table.cost.size() - 1))
    table.cost.back() = batch::kMillisecond;
}

double mean(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum / double(values.size());
}

CostTable ofBucket(const Recording::Model &model, uint32_t bucket) {
  constexpr size_t kEnough = 8;
  CostTable table;
  table.rows = model.sizes;
  table.anySize = model.anySize;
  table.cost = bucket < model.expected.size() ? model.expected[bucket] : std::vector<batch::TimeNs>(model.sizes.size());
  for (const Recording::Run &run : model.runs) // the first one of a size that nothing is known of
    if (run.bucket == bucket)
      if (batch::TimeNs &cost = table.cost[table.pointOf(run.rows)]; cost == 0)
        cost = run.time;
  fillGaps(table);
  std::vector<std::vector<double>> parts(table.rows.size());
  std::vector<double> all;
  for (const Recording::Run &run : model.runs)
    if (run.bucket == bucket) {
      all.push_back(double(run.time) / double(table.at(run.rows)));
      parts[table.pointOf(run.rows)].push_back(all.back());
    }
  for (size_t i = 0; i < parts.size() && !all.empty(); ++i)
    table.cost[i] = std::max<batch::TimeNs>(
        1, batch::TimeNs(double(table.cost[i]) * mean(parts[i].size() < kEnough ? all : parts[i]) + 0.5));
  return table;
}

} // namespace

std::vector<CostTable> CostTable::fromRecording(const Recording::Model &model) {
  size_t buckets = std::max<size_t>(1, model.expected.size());
  for (const Recording::Run &run : model.runs)
    buckets = std::max<size_t>(buckets, run.bucket + 1);
  for (const TimedRequest &request : model.requests)
    buckets = std::max<size_t>(buckets, request.bucket + 1);
  std::vector<CostTable> result;
  for (uint32_t bucket = 0; bucket < buckets; ++bucket)
    result.push_back(ofBucket(model, bucket));
  return result;
}

} // namespace llmc::sim
