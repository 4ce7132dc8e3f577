//===- PlanFile.cpp - A model.llmc file, verified -----------------------------------------------------------------===//

#include "runtime/plan/PlanFile.h"
#include "runtime/base/CheckedMath.h"
#include "runtime/plan/verify/Verify.h"
#include <cstring>

namespace llmc::rt {

constexpr uint64_t kPageSize = 4096;

Result<std::shared_ptr<const PlanFile>> PlanFile::open(const char *path) {
  LLMC_TRY_ASSIGN(MappedFile mapped, MappedFile::open(path));
  auto file = verified(std::move(mapped));
  if (!file.ok())
    return std::move(file).status().in(path);
  return file;
}

Result<std::shared_ptr<const PlanFile>> PlanFile::fromMemory(std::span<const std::byte> bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kPageSize == 0)
    return verified(MappedFile::borrow(bytes));
  LLMC_TRY_ASSIGN(MappedFile copy, MappedFile::copyOf(bytes));
  return verified(std::move(copy));
}

Result<std::shared_ptr<const PlanFile>> PlanFile::verified(MappedFile mapped) {
  std::shared_ptr<PlanFile> file(new PlanFile(std::move(mapped)));
  LLMC_TRY(file->check());
  return std::shared_ptr<const PlanFile>(std::move(file));
}

static bool hasHash(std::span<const std::byte> bytes, uint64_t a, uint64_t b) {
  plan::Hash256 hash = hashOf(bytes);
  return hash.a() == a && hash.b() == b;
}

Status PlanFile::check() {
  LLMC_TRY(checkHeader());
  bool intact = hasHash(planBytes(), head.planHash[0], head.planHash[1]);
  if (Status status = checkPlan(); !status.ok())
    return intact ? std::move(status) : std::move(status).in("the plan was changed after it was written");
  if (!intact)
    return fail("plan-hash", "the plan was changed after it was written: its hash differs from the header's");
  return checkHashes(plan::SegKind::CODE);
}

Status PlanFile::checkHeader() {
  std::span<const std::byte> bytes = mapped.bytes();
  if (bytes.size() < sizeof(ContainerHeader))
    return fail("header-size", "the file has ", bytes.size(), " bytes, a header alone has ", sizeof(ContainerHeader));
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kContainerMagic)
    return fail("magic", "not a plan: the file does not start with LLMCPLAN");
  if (head.major != kContainerMajor)
    return Status(Code::Incompatible, "container-version",
                  concat("the file has container version ", head.major, ".", head.minor, ", this runtime reads ",
                         kContainerMajor, ".x"));
  if (head.checksum != headerChecksum(head))
    return fail("header-checksum", "the header is damaged: its checksum differs");
  if (head.fileSize != bytes.size())
    return fail("file-size", "the file has ", bytes.size(), " bytes, its header says ", head.fileSize);
  if (head.flags != 0)
    return Status(Code::Incompatible, "header-flags", concat("the header has unknown flags ", head.flags));
  if (head.headerSize < sizeof(ContainerHeader) || head.planOffset < head.headerSize ||
      head.planOffset % kPlanAlignment != 0)
    return fail("plan-offset", "the plan starts at ", head.planOffset, " after a header of ", head.headerSize,
                " bytes");
  if (head.planSize >= kPlanSizeLimit || !inRange(head.planOffset, head.planSize, head.segmentsOffset) ||
      head.segmentsOffset > head.fileSize)
    return fail("plan-range", "the plan has ", head.planSize, " bytes at ", head.planOffset, ", segments start at ",
                head.segmentsOffset, " of ", head.fileSize);
  return {};
}

std::span<const std::byte> PlanFile::planBytes() const {
  return mapped.bytes().subspan(head.planOffset, head.planSize);
}

Status PlanFile::checkPlan() {
  std::span<const std::byte> bytes = planBytes();
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size(), /*max_depth=*/32, /*max_tables=*/1000000);
  // The stock verifier reads the identifier before it knows that there are bytes for it.
  if (bytes.size() < 8 || !plan::VerifyPlanBuffer(verifier))
    return fail("flatbuffer", "the plan is not a sound flatbuffer of type LLP1");
  root = plan::GetPlan(data);
  return verifyPlan({*root, head});
}

std::span<const std::byte> PlanFile::segment(uint32_t index) const {
  const plan::Range *range = root->segments()->Get(index)->range();
  return mapped.bytes().subspan(range->offset(), range->length());
}

std::span<const std::byte> PlanFile::bytesOf(const plan::SegRange &range) const {
  return segment(range.segment()).subspan(range.range()->offset(), range.range()->length());
}

uint64_t PlanFile::offsetOf(const plan::SegRange &range) const {
  return uint64_t(bytesOf(range).data() - mapped.bytes().data());
}

Status PlanFile::checkHashes(plan::SegKind kind) const {
  for (uint32_t i = 0; i < root->segments()->size(); ++i) {
    const plan::Segment *segment = root->segments()->Get(i);
    const plan::Hash256 *hash = segment->hash();
    if (segment->kind() == kind && !hasHash(this->segment(i), hash->a(), hash->b()))
      return fail("segment-hash", plan::EnumNameSegKind(kind), " segment ", i,
                  " was changed after it was written: its hash differs");
  }
  return {};
}

Status PlanFile::verifyConstants() const { return checkHashes(plan::SegKind::CONSTANTS); }

} // namespace llmc::rt
