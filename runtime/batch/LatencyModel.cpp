//===- LatencyModel.cpp - How long a run will take ----------------------------------------------------------------===//

#include "runtime/batch/LatencyModel.h"
#include <algorithm>

namespace llmc::batch {

void LinearFit::account(const Run &run, int sign) {
  sumRows += sign * run.rows;
  sumTime += sign * run.time;
  sumRowsRows += sign * run.rows * run.rows;
  sumRowsTime += __int128(sign * run.rows) * run.time;
}

void LinearFit::add(uint32_t rows, TimeNs time) {
  if (count == kWindow)
    account(runs[next], -1);
  else
    ++count;
  runs[next] = {int64_t(rows), time};
  account(runs[next], 1);
  next = (next + 1) % kWindow;
}

TimeNs LinearFit::predict(uint32_t rows) const {
  __int128 determinant = count * sumRowsRows - sumRows * sumRows;
  if (count < kEnough || determinant == 0)
    return 0;
  __int128 slope = count * sumRowsTime - sumRows * sumTime; // over `determinant`
  __int128 time = (sumTime * determinant + slope * (__int128(rows) * count - sumRows)) / (determinant * count);
  return TimeNs(std::max<__int128>(time, 1));
}

LatencyModel::LatencyModel(const ModelConfig &model, uint32_t costPercent)
    : variants(model.variants), anySize(model.anySize) {
  for (const BucketConfig &bucket : model.buckets)
    for (TimeNs cost : bucket.cost)
      table.push_back(std::max<TimeNs>(1, cost * TimeNs(costPercent) / 100));
  if (anySize)
    fits.resize(model.buckets.size());
}

size_t LatencyModel::variantOf(uint32_t rows) const {
  size_t variant = size_t(std::lower_bound(variants.begin(), variants.end(), rows) - variants.begin());
  return std::min(variant, variants.size() - 1);
}

/// Between two points of the table, the line through them.
TimeNs LatencyModel::tableAt(uint32_t bucket, uint32_t rows) const {
  size_t variant = variantOf(rows);
  const TimeNs *costs = &table[bucket * variants.size()];
  if (variants[variant] == rows || variant == 0)
    return costs[variant];
  TimeNs low = costs[variant - 1], high = costs[variant];
  return low + (high - low) * TimeNs(rows - variants[variant - 1]) / TimeNs(variants[variant] - variants[variant - 1]);
}

TimeNs LatencyModel::predict(uint32_t bucket, uint32_t rows) const {
  if (!anySize)
    return table[bucket * variants.size() + variantOf(rows)];
  TimeNs fitted = fits[bucket].predict(rows);
  return fitted ? fitted : tableAt(bucket, rows);
}

void LatencyModel::learn(uint32_t bucket, uint32_t rows, TimeNs measured) {
  TimeNs expected = predict(bucket, rows);
  measured = std::clamp(measured, std::max<TimeNs>(1, expected / 4), expected * 4);
  if (anySize) {
    fits[bucket].add(rows, measured);
    return;
  }
  TimeNs &cost = table[bucket * variants.size() + variantOf(rows)];
  cost = std::max<TimeNs>(1, cost + (measured - cost) / 16);
}

} // namespace llmc::batch
