//===- Trace.cpp - A file with a line for each request ------------------------------------------------------------===//

#include "runtime/batch/Trace.h"
#include <cerrno>
#include <cinttypes>
#include <cstring>

namespace llmc::batch {

rt::Result<std::unique_ptr<Trace>> Trace::open(const char *path, TimeNs start) {
  FILE *file = std::fopen(path, "we");
  if (!file)
    return rt::Status(rt::Code::Io, rt::concat("can not write '", path, "': ", std::strerror(errno)));
  std::fputs("# microseconds rows # model bucket priority deadline outcome reason latency\n", file);
  return std::unique_ptr<Trace>(new Trace(file, start));
}

void Trace::write(const TraceLine &line) {
  std::lock_guard lock(mutex);
  std::fprintf(file.get(), "%.3f %" PRId64 " # %s %" PRIu32 " %" PRIu32, double(line.arrival - start) / 1e3, line.rows,
               line.model, line.bucket, line.priority);
  if (line.deadline < kNever)
    std::fprintf(file.get(), " %.3f", double(line.deadline) / 1e3);
  else
    std::fputs(" -", file.get());
  std::fprintf(file.get(), " %s %s %.3f\n", line.outcome, line.reason, double(line.latency) / 1e3);
}

} // namespace llmc::batch
