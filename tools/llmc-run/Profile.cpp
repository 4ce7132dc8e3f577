//===- Profile.cpp - Collects the steps, writes them as a Chrome trace --------------------------------------------===//

#include "tools/llmc-run/Profile.h"
#include "tools/common/Tensor.h"
#include <chrono>
#include <nlohmann/json.hpp>

namespace llmc::tools {

static uint64_t now() {
  return uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

std::string StepInfo::label() const {
  if (nodes.empty())
    return op.empty() ? kind : op;
  std::string text = nodes.front();
  if (nodes.size() > 1)
    text += (nodes.size() == 2 ? ", " : " ... ") + nodes.back();
  return nodes.size() > 2 ? text + " (" + std::to_string(nodes.size()) + " nodes)" : text;
}

void Profile::attach(Session &session) { session.setProfile(&Profile::record, this); }

void Profile::beginRun() { runs.push_back({{now(), 0}, {}}); }

void Profile::endRun() { runs.back().time.end = now(); }

void Profile::record(void *self, const llmc_profile_event *event) {
  Profile &profile = *static_cast<Profile *>(self);
  auto [known, isNew] = profile.steps.try_emplace(event->step);
  if (isNew)
    known->second = {event->step, event->kind, event->op, {event->sources, event->sources + event->num_sources}};
  std::vector<StepTime> &times = profile.runs.back().steps;
  StepTime time{&known->second, event->threads, {event->begin_ns, event->end_ns}, event->end_ns - event->begin_ns};
  // Steps inside came before. What each took by itself adds up to what all took.
  for (auto inner = times.rbegin(); inner != times.rend() && inner->time.begin >= event->begin_ns; ++inner)
    time.self -= std::min(time.self, inner->self);
  times.push_back(time);
}

void Profile::write(const std::string &path) const {
  std::string text = path.ends_with(".json") ? formatTrace(runs) : formatTable(runs);
  writeFile(path, std::as_bytes(std::span(text)));
}

std::string formatTrace(const std::vector<RunTime> &runs) {
  nlohmann::json events = nlohmann::json::array();
  uint64_t origin = runs.empty() ? 0 : runs.front().time.begin;
  auto add = [&](const std::string &name, const std::string &category, TimeSpan time, nlohmann::json arguments) {
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", double(time.begin - origin) / 1000}, // microseconds
                      {"dur", double(time.length()) / 1000},
                      {"args", std::move(arguments)}});
  };
  for (size_t i = 0; i < runs.size(); ++i) {
    add("run " + std::to_string(i), "Run", runs[i].time, {{"steps", runs[i].steps.size()}});
    for (const StepTime &time : runs[i].steps) {
      const StepInfo &step = *time.step;
      add(step.label(), step.kind, time.time,
          {{"step", step.position}, {"op", step.op}, {"nodes", step.nodes}, {"threads", time.threads}});
    }
  }
  nlohmann::json file = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  return file.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace llmc::tools
