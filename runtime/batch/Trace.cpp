//===- Trace.cpp - A file with what was asked of a batcher, and what runs took ------------------------------------===//

#include "runtime/batch/Trace.h"
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>

namespace llmc::batch {

static double microseconds(TimeNs time) { return double(time) / 1e3; }

/// A name with line breaks would end its line.
static std::string onOneLine(std::string name) {
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return name;
}

rt::Result<std::unique_ptr<Trace>> Trace::open(const char *path, TimeNs start, uint32_t parallelRuns) {
  FILE *file = std::fopen(path, "we");
  if (!file)
    return rt::Status(rt::Code::Io, rt::concat("can not write '", path, "': ", std::strerror(errno)));
  std::fprintf(file, "# llmc-record 1\nbatcher %u\n", parallelRuns);
  return std::unique_ptr<Trace>(new Trace(file, start));
}

void Trace::add(const ModelConfig &model, uint32_t instances, bool costs) {
  std::lock_guard lock(mutex);
  std::string name = onOneLine(model.name),
              requests = model.maxElements == kUnlimitedBytes ? "-" : std::to_string(model.maxElements),
              queue = model.maxQueuedRows == kUnlimited ? "-" : std::to_string(model.maxQueuedRows);
  std::fprintf(file.get(), "model %u %s %.3f %s %.3f %u %s ", batchCap(model), requests.c_str(),
               microseconds(model.delay), queue.c_str(), microseconds(model.sloP99), instances,
               model.anySize ? "any" : "some");
  for (size_t i = 0; i < model.variants.size(); ++i)
    std::fprintf(file.get(), i ? ",%u" : "%u", model.variants[i]);
  std::fprintf(file.get(), " %s\n", name.c_str());
  for (size_t bucket = 0; costs && bucket < model.buckets.size(); ++bucket)
    for (size_t i = 0; i < model.variants.size(); ++i)
      std::fprintf(file.get(), "cost %zu %u %.3f %s\n", bucket, model.variants[i],
                   microseconds(model.buckets[bucket].cost[i]), name.c_str());
}

void Trace::add(const std::string &model, const RecordedRun &run) {
  std::lock_guard lock(mutex);
  std::fprintf(file.get(), "run %.3f %u %u %u %.3f %s\n", microseconds(run.start - start), run.bucket, run.rows,
               run.executed, microseconds(run.time), onOneLine(model).c_str());
}

void Trace::add(const std::string &model, const RecordedRequest &request) {
  std::lock_guard lock(mutex);
  std::fprintf(file.get(), "request %.3f %" PRId64 " %u %u ", microseconds(request.arrival - start), request.rows,
               request.bucket, request.priority);
  if (request.deadline < kNever)
    std::fprintf(file.get(), "%.3f", microseconds(request.deadline));
  else
    std::fputc('-', file.get());
  std::fprintf(file.get(), " %.3f %s %s %s\n", microseconds(request.latency), request.outcome, request.reason,
               onOneLine(model).c_str());
}

} // namespace llmc::batch
