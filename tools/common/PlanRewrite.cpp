//===- PlanRewrite.cpp - Header and plan anew, segments as they are -----------------------------------------------===//

#include "tools/common/PlanRewrite.h"
#include "tools/common/Tool.h"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc::tools {
namespace {

std::vector<std::byte> pack(const plan::PlanT &plan) {
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  builder.Finish(plan::Plan::Pack(builder, &plan), plan::PlanIdentifier());
  auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return {data, data + builder.GetSize()};
}

/// A new file beside the one that it is to replace; gone again unless it does.
class Replacement {
public:
  explicit Replacement(const std::string &path) : path(path), target(std::filesystem::canonical(path)), temporary(target + ".XXXXXX") {
    descriptor = mkstemp(temporary.data());
    if (descriptor < 0)
      give("create a file beside it");
  }
  ~Replacement() {
    if (descriptor >= 0)
      close(descriptor);
    if (!done)
      unlink(temporary.c_str());
  }
  Replacement(const Replacement &) = delete;

  void write(uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      ssize_t written = pwrite(descriptor, bytes.data(), bytes.size(), off_t(offset));
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        give("write the new file");
      offset += uint64_t(written);
      bytes = bytes.subspan(size_t(written));
    }
  }

  /// With the mode of the old file.
  void commit() {
    struct stat old;
    if (stat(target.c_str(), &old) != 0 || fchmod(descriptor, old.st_mode & 07777) != 0)
      give("set the mode of the new file");
    auto written = rt::PlanFile::open(temporary.c_str());
    rt::Status status = written.ok() ? (*written)->verifyConstants() : written.status();
    if (!status.ok())
      throw ToolError(kOurFault, "the new file is not sound: " + status.message());
    if (rename(temporary.c_str(), target.c_str()) != 0)
      give("rename the new file");
    done = true;
  }

private:
  [[noreturn]] void give(const char *what) { badData(path + ": can not " + what + ": " + std::strerror(errno)); }

  std::string path, target, temporary;
  int descriptor = -1;
  bool done = false;
};

} // namespace

void rewritePlan(const std::string &path, const rt::PlanFile &file, plan::PlanT &plan) {
  std::vector<std::byte> bytes = pack(plan);
  uint64_t old = file.header().segmentsOffset, segments = std::max(old, alignUp(sizeof(ContainerHeader) + bytes.size(), kSegmentAlignment));
  for (auto &segment : plan.segments)
    *segment->range = plan::Range(segment->range->offset() + segments - old, segment->range->length());
  if (segments != old)
    bytes = pack(plan);
  Replacement replacement(path);
  ContainerHeader header = makeContainerHeader(sizeof header, bytes, segments, file.header().fileSize + segments - old);
  replacement.write(0, std::as_bytes(std::span(&header, 1)));
  replacement.write(sizeof header, bytes);
  replacement.write(segments, file.file().bytes().subspan(size_t(old)));
  replacement.commit();
}

} // namespace llmc::tools
