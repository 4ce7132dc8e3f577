//===- ProfileTable.cpp - A profile as text: where the time went --------------------------------------------------===//

#include "tools/llmc-run/Profile.h"
#include <algorithm>
#include <cstdio>
#include <map>

namespace llmc::tools {
namespace {

/// Sum over the runs of a step, or of all steps of a kind.
struct Row {
  const StepInfo *step; // the first of them
  uint64_t time = 0;
  int64_t count = 0;
  int threads = 0;

  void add(const StepTime &other) {
    time += other.self;
    count += 1;
    threads = std::max(threads, other.threads);
  }
};

/// "matmul" of "matmul_12": kernels of a kind are numbered.
std::string kindOf(const StepInfo &step) {
  if (step.kind != "Dispatch" || step.op.empty())
    return step.kind;
  size_t end = step.op.find_last_not_of("0123456789");
  bool isNumbered = end != std::string::npos && end + 1 < step.op.size() && end > 0 && step.op[end] == '_';
  return isNumbered ? step.op.substr(0, end) : step.op;
}

template <typename Key, typename KeyOf> std::vector<Row> sumBy(std::span<const RunTime> runs, KeyOf keyOf) {
  std::map<Key, Row> rows;
  for (const RunTime &run : runs)
    for (const StepTime &step : run.steps)
      rows.try_emplace(keyOf(*step.step), Row{step.step}).first->second.add(step);
  std::vector<Row> sorted;
  for (auto &[key, row] : rows)
    sorted.push_back(row);
  std::sort(sorted.begin(), sorted.end(), [](const Row &a, const Row &b) {
    return a.time != b.time ? a.time > b.time : a.step->position < b.step->position;
  });
  return sorted;
}

template <typename... Values> void print(std::string &text, const char *format, Values... values) {
  char line[256];
  std::snprintf(line, sizeof line, format, values...);
  text += line;
}

double share(uint64_t part, uint64_t whole) { return whole ? 100.0 * double(part) / double(whole) : 0; }

} // namespace

std::string formatTable(std::span<const RunTime> runs) {
  if (runs.size() > 1)
    runs = runs.subspan(1);
  uint64_t whole = 0, inSteps = 0;
  for (const RunTime &run : runs) {
    whole += run.time.length();
    for (const StepTime &step : run.steps)
      inSteps += step.self;
  }
  double milliseconds = 1e6 * double(std::max<size_t>(runs.size(), 1));
  std::string text;
  print(text, "run %.3f ms, %.3f ms of it in steps (%.1f %%)", double(whole) / milliseconds,
        double(inSteps) / milliseconds, share(inSteps, whole));
  text += runs.size() > 1 ? "; means of " + std::to_string(runs.size()) + " runs after the first\n" : "\n";

  text += "\n       ms  share   runs  kind\n";
  for (const Row &row : sumBy<std::string>(runs, kindOf)) {
    print(text, "%9.3f %5.1f%% %6.0f  ", double(row.time) / milliseconds, share(row.time, inSteps),
          double(row.count) / double(runs.size()));
    text += kindOf(*row.step) + "\n";
  }
  text += "\n       ms  share    sum   runs threads step  kernel: ONNX nodes\n";
  uint64_t sum = 0;
  for (const Row &row : sumBy<int>(runs, [](const StepInfo &step) { return step.position; })) {
    sum += row.time;
    print(text, "%9.3f %5.1f%% %5.1f%% %6.0f %7d %4d  ", double(row.time) / milliseconds, share(row.time, inSteps),
          share(sum, inSteps), double(row.count) / double(runs.size()), row.threads, row.step->position);
    text += (row.step->op.empty() ? row.step->kind : row.step->op) + (row.step->nodes.empty() ? "" : ": ");
    for (const std::string &node : row.step->nodes)
      text += (&node == &row.step->nodes.front() ? "" : ", ") + node;
    text += "\n";
  }
  return text;
}

} // namespace llmc::tools
