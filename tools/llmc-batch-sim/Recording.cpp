//===- Recording.cpp - What a batcher wrote to its `record` -------------------------------------------------------===//

#include "tools/llmc-batch-sim/Recording.h"
#include "tools/common/Tool.h"
#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <tuple>

namespace llmc::sim {

using batch::TimeNs;

namespace {

constexpr uint32_t kMaxBuckets = 1 << 16, kMaxRows = 1 << 20;

/// Words of one line; a wrong one makes it bad.
class Line {
public:
  explicit Line(const std::string &text) : words(text) {}

  std::string word() {
    std::string result;
    words >> result;
    return result;
  }
  uint32_t number(uint32_t least, uint32_t most) {
    int64_t value = asNumber(word());
    bad |= value < least || value > most;
    return uint32_t(value);
  }
  /// Or `-`.
  int64_t numberOr(int64_t none) {
    std::string text = word();
    return text == "-" ? none : asNumber(text);
  }
  TimeNs time() { return asTime(word()); }
  /// Or `-`.
  TimeNs timeOr(TimeNs none) {
    std::string text = word();
    return text == "-" ? none : asTime(text);
  }
  std::vector<uint32_t> ascending() {
    std::vector<uint32_t> result;
    std::istringstream list(word());
    for (std::string text; std::getline(list, text, ',');)
      result.push_back(uint32_t(std::min<int64_t>(asNumber(text), kMaxRows)));
    bad |= result.empty() || result[0] == 0 || !std::is_sorted(result.begin(), result.end(), std::less_equal<>());
    return result;
  }
  std::string rest() {
    std::string result;
    std::getline(words >> std::ws, result);
    bad |= result.empty();
    return result;
  }
  void expect(bool good) { bad |= !good; }
  bool isBad() const { return bad || words.bad(); }

private:
  int64_t asNumber(const std::string &text) {
    uint32_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bad |= error != std::errc() || end != text.data() + text.size();
    return value;
  }
  TimeNs asTime(const std::string &text) {
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !(value >= 0 && value < 1e15))
      bad = true;
    return bad ? 0 : TimeNs(value * 1e3 + 0.5);
  }
  std::istringstream words;
  bool bad = false;
};

class Reader {
public:
  void take(Line &line) {
    std::string kind = line.word();
    if (kind == "batcher")
      recording.parallelRuns = line.number(1, kMaxRows);
    else if (kind == "model")
      takeModel(line);
    else if (kind == "cost")
      takeCost(line);
    else if (kind == "run")
      takeRun(line);
    else if (kind == "request")
      takeRequest(line);
    else
      line.expect(false);
  }

  Recording finish() {
    for (Recording::Model &model : recording.models) { // they came as they ended
      std::sort(model.runs.begin(), model.runs.end(), [](const auto &a, const auto &b) {
        return std::tie(a.start, a.bucket, a.rows) < std::tie(b.start, b.bucket, b.rows);
      });
      std::sort(model.requests.begin(), model.requests.end(), [](const auto &a, const auto &b) {
        return std::tie(a.time, a.bucket, b.rows) < std::tie(b.time, b.bucket, a.rows); // full parts first
      });
    }
    std::sort(recording.latencies.begin(), recording.latencies.end());
    return std::move(recording);
  }

private:
  void takeModel(Line &line) {
    Recording::Model model;
    model.maxRows = line.number(1, kMaxRows);
    model.maxRequests = line.numberOr(batch::kUnlimitedBytes);
    model.delay = line.time();
    model.queuedRows = uint32_t(line.numberOr(batch::kUnlimited));
    model.sloP99 = line.time();
    model.instances = line.number(1, 1024);
    std::string which = line.word();
    line.expect(which == "any" || which == "some");
    model.anySize = which == "any";
    model.sizes = line.ascending();
    model.name = line.rest();
    recording.models.push_back(std::move(model));
  }

  void takeCost(Line &line) {
    uint32_t bucket = line.number(0, kMaxBuckets), rows = line.number(1, kMaxRows);
    TimeNs time = line.time();
    Recording::Model *model = find(line);
    if (!model || line.isBad())
      return;
    auto size = std::find(model->sizes.begin(), model->sizes.end(), rows);
    line.expect(size != model->sizes.end());
    if (line.isBad())
      return;
    while (model->expected.size() <= bucket)
      model->expected.emplace_back(model->sizes.size(), 0);
    model->expected[bucket][size_t(size - model->sizes.begin())] = time;
  }

  void takeRun(Line &line) {
    Recording::Run run;
    run.start = line.time();
    run.bucket = line.number(0, kMaxBuckets);
    line.number(1, kMaxRows);
    run.rows = line.number(1, kMaxRows);
    run.time = line.time();
    if (Recording::Model *model = find(line); model && !line.isBad())
      model->runs.push_back(run);
  }

  /// Large ones run in parts; answers that were kept need no run.
  void takeRequest(Line &line) {
    TimedRequest request;
    request.time = line.time();
    uint32_t rows = line.number(1, kMaxRows);
    request.bucket = line.number(0, kMaxBuckets);
    request.priority = line.number(0, batch::kMaxClasses);
    request.deadline = line.timeOr(batch::kNever);
    TimeNs latency = line.time();
    std::string outcome = line.word();
    line.word();
    Recording::Model *model = find(line);
    if (!model || line.isBad() || outcome == "kept")
      return;
    if (outcome == "cancelled")
      request.cancelAfter = latency;
    if (outcome == "done")
      recording.latencies.push_back(latency);
    for (; rows > 0; rows -= request.rows) {
      request.rows = std::min(rows, model->maxRows);
      model->requests.push_back(request);
    }
  }

  Recording::Model *find(Line &line) {
    std::string name = line.rest();
    auto model = std::find_if(recording.models.begin(), recording.models.end(),
                              [&](const Recording::Model &m) { return m.name == name; });
    line.expect(model != recording.models.end());
    return line.isBad() ? nullptr : &*model;
  }

  Recording recording;
};

} // namespace

Recording Recording::read(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    tools::badData("can not open '" + path + "'");
  std::string text;
  if (!std::getline(file, text) || text != "# llmc-record 1")
    tools::badData("'" + path + "' is not a record of a batcher: it does not begin with '# llmc-record 1'");
  Reader reader;
  for (size_t number = 2; std::getline(file, text); ++number) {
    Line line(text);
    reader.take(line);
    if (line.isBad())
      tools::badData(path + ":" + std::to_string(number) + ": not a line of a record: '" + text + "'");
  }
  Recording result = reader.finish();
  if (result.models.empty())
    tools::badData("'" + path + "' names no model");
  return result;
}

} // namespace llmc::sim
