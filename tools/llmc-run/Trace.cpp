//===- Trace.cpp - Steps of a run as a Chrome trace ---------------------------------------------------------------===//

#include "tools/llmc-run/Trace.h"
#include "tools/common/Tensor.h"

namespace llmc::tools {

void Trace::attach(Session &session) { session.setProfile(&Trace::record, this); }

void Trace::record(void *self, const llmc_profile_event *event) {
  Trace &trace = *static_cast<Trace *>(self);
  if (trace.events.empty())
    trace.firstNs = event->begin_ns;
  nlohmann::json sources = nlohmann::json::array();
  for (int32_t i = 0; i < event->num_sources; ++i)
    sources.push_back(event->sources[i]);
  trace.events.push_back({{"name", *event->op ? event->op : event->kind},
                          {"cat", event->kind},
                          {"ph", "X"},
                          {"pid", 1},
                          {"tid", 1},
                          {"ts", (double(event->begin_ns) - double(trace.firstNs)) / 1000}, // microseconds
                          {"dur", double(event->end_ns - event->begin_ns) / 1000},
                          {"args", {{"step", event->step}, {"nodes", sources}, {"threads", event->threads}}}});
}

void Trace::write(const std::string &path) const {
  nlohmann::json file = {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
  std::string text = file.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  writeFile(path, std::as_bytes(std::span(text)));
}

} // namespace llmc::tools
