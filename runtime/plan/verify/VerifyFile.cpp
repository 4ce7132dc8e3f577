//===- VerifyFile.cpp - Compatibility, devices and segments -------------------------------------------------------===//

#include "kernels/abi/kernel_abi.h"
#include "runtime/base/CheckedMath.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>
#include <set>

namespace llmc::rt {

static Status incompatible(const char *rule, std::string message) { return {Code::Incompatible, rule, message}; }

static Status verifyCompat(const plan::Compat &compat) {
  if (compat.plan_major() != kPlanMajor)
    return incompatible("plan-version", concat("the plan has version ", compat.plan_major(), ".", compat.plan_minor(),
                                               ", this runtime reads ", kPlanMajor, ".x"));
  if (compat.kernel_abi() != LLMC_KERNEL_ABI)
    return incompatible("kernel-abi", concat("the plan's kernels have ABI ", compat.kernel_abi(),
                                             ", this runtime calls ABI ", LLMC_KERNEL_ABI));
  // Capabilities name what a plan of this major version needs beyond version 1.0. There are none yet.
  if (count(compat.required_caps()) > 0)
    return incompatible("capability", concat("the plan needs '", text(compat.required_caps()->Get(0)),
                                             "', which this runtime does not know"));
  return {};
}

static Status verifyDevices(const plan::Plan &plan) {
  std::set<std::string_view> names;
  std::set<std::pair<plan::DeviceKind, uint32_t>> known;
  for (uint32_t i = 0; i < plan.devices()->size(); ++i) {
    const plan::Device *device = plan.devices()->Get(i);
    if (device->name()->size() == 0 || !names.insert(text(device->name())).second)
      return fail("device-name", "device ", i, " has an empty name or one used before: '", text(device->name()), "'");
    if (!isKnown(device->kind()))
      return fail("device-kind", "device ", i, " has unknown kind ", int(device->kind()));
    if (!known.insert({device->kind(), device->ordinal()}).second)
      return fail("device-ordinal", "device ", i, " is number ", device->ordinal(), " of its kind, as one before");
  }
  return {};
}

static Status verifySegment(const VerifyContext &context, uint32_t i, const plan::Segment &segment) {
  if (!isKnown(segment.kind()))
    return fail("segment-kind", "segment ", i, " has unknown kind ", int(segment.kind()));
  if (!segment.range() || !segment.hash())
    return fail("segment-range", "segment ", i, " lacks its range or its hash");
  uint64_t begin = segment.range()->offset(), length = segment.range()->length();
  if (begin < context.header.segmentsOffset || !inRange(begin, length, context.header.fileSize))
    return fail("segment-range", "segment ", i, " has ", length, " bytes at ", begin, ", segments lie in ",
                context.header.segmentsOffset, "..", context.header.fileSize);
  uint64_t alignment = segment.kind() == plan::SegKind::DEBUG ? 1 : kSegmentAlignment;
  if (begin % alignment != 0)
    return fail("segment-alignment", "segment ", i, " starts at ", begin, ", not a multiple of ", alignment);
  return {};
}

static Status verifySegments(const VerifyContext &context) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges; // begin, length
  for (uint32_t i = 0; i < context.plan.segments()->size(); ++i) {
    const plan::Segment *segment = context.plan.segments()->Get(i);
    LLMC_TRY(verifySegment(context, i, *segment));
    if (segment->range()->length() > 0)
      ranges.emplace_back(segment->range()->offset(), segment->range()->length());
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first - ranges[i - 1].first < ranges[i - 1].second)
      return fail("segment-overlap", "a segment of ", ranges[i - 1].second, " bytes at ", ranges[i - 1].first,
                  " reaches into the one at ", ranges[i].first);
  return {};
}

Status verifyRange(const VerifyContext &context, const plan::SegRange &range, plan::SegKind kind) {
  const auto *segments = context.plan.segments();
  if (range.segment() >= segments->size())
    return fail("range-segment", "segment ", range.segment(), " of ", segments->size());
  const plan::Segment *segment = segments->Get(range.segment());
  if (segment->kind() != kind)
    return fail("range-kind", "segment ", range.segment(), " holds ", plan::EnumNameSegKind(segment->kind()), ", not ",
                plan::EnumNameSegKind(kind));
  if (!range.range() || !inRange(range.range()->offset(), range.range()->length(), segment->range()->length()))
    return fail("range-bounds", "bytes beyond the end of segment ", range.segment(), ", which has ",
                segment->range()->length());
  return {};
}

Status verifyFile(const VerifyContext &context) {
  LLMC_TRY(verifyCompat(*context.plan.compat()));
  LLMC_TRY(verifyDevices(context.plan));
  return verifySegments(context);
}

} // namespace llmc::rt
