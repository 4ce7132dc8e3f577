//===- CostTable.cpp - What a run costs, by its rows --------------------------------------------------------------===//

#include "tools/llmc-batch-sim/CostTable.h"
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

batch::TimeNs CostTable::at(uint32_t executed) const {
  size_t point = size_t(std::lower_bound(rows.begin(), rows.end(), executed) - rows.begin());
  return cost[std::min(point, cost.size() - 1)];
}

} // namespace llmc::sim
