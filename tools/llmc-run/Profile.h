//===- Profile.h - What each step of a session's runs took --------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_RUN_PROFILE_H
#define LLMC_TOOLS_LLMC_RUN_PROFILE_H

#include "llmc/llmc.hpp"
#include <map>
#include <string>
#include <vector>

namespace llmc::tools {

/// Nanoseconds of the clock of profile events.
struct TimeSpan {
  uint64_t begin = 0, end = 0;
  uint64_t length() const { return end - begin; }
};

/// As in llmc_profile_event.
struct StepInfo {
  int position;
  std::string kind, op;
  std::vector<std::string> nodes;

  std::string label() const; // its ONNX nodes, shortened
};

struct StepTime {
  const StepInfo *step;
  int threads;
  TimeSpan time;
  uint64_t self; // without the steps inside, of a Loop or If
};

struct RunTime {
  TimeSpan time;
  std::vector<StepTime> steps; // in the order of their ends
};

class Profile {
public:
  void attach(Session &session);
  void beginRun();
  void endRun();

  /// A Chrome trace if `path` ends in .json (chrome://tracing and ui.perfetto.dev show it), else a table.
  void write(const std::string &path) const;

private:
  static void record(void *self, const llmc_profile_event *event);
  std::map<int, StepInfo> steps; // kept once each, so that recording takes little of the run's time
  std::vector<RunTime> runs;
};

std::string formatTrace(const std::vector<RunTime> &runs);
/// Steps and kinds of steps by falling time: means of the runs, without the first, which prepares the shape, if there
/// are more.
std::string formatTable(std::span<const RunTime> runs);

} // namespace llmc::tools

#endif // LLMC_TOOLS_LLMC_RUN_PROFILE_H
