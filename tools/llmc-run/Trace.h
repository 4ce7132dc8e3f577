//===- Trace.h - Steps of a run as a Chrome trace -----------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_RUN_TRACE_H
#define LLMC_TOOLS_LLMC_RUN_TRACE_H

#include "llmc/llmc.hpp"
#include <nlohmann/json.hpp>

namespace llmc::tools {

/// Collects the steps of a session's runs; chrome://tracing and ui.perfetto.dev show the file.
class Trace {
public:
  void attach(Session &session);
  void write(const std::string &path) const;

private:
  static void record(void *self, const llmc_profile_event *event);
  nlohmann::json events = nlohmann::json::array();
  uint64_t firstNs = 0;
};

} // namespace llmc::tools

#endif // LLMC_TOOLS_LLMC_RUN_TRACE_H
