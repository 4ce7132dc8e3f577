//===- VerifyEntries.cpp - Names, inputs and outputs of entries; what their bodies run on -------------------------===//

#include "runtime/base/CheckedMath.h"
#include "runtime/plan/verify/Verify.h"
#include <set>

namespace llmc::rt {

using TensorSpecs = flatbuffers::Vector<flatbuffers::Offset<plan::TensorSpec>>;

static Status verifySpec(const plan::TensorSpec &spec) {
  if (!isKnown(spec.dtype()))
    return fail("spec-type", "unknown element type ", int(spec.dtype()));
  uint32_t rank = count(spec.dims());
  if (rank > kMaxRank)
    return fail("spec-rank", "rank ", rank, " is above ", kMaxRank);
  if (count(spec.dim_names()) != 0 && count(spec.dim_names()) != rank)
    return fail("spec-dim-names", count(spec.dim_names()), " dim names for rank ", rank);
  return {};
}

static Status verifySpecs(const TensorSpecs *specs, const char *what) {
  std::set<std::string_view> names;
  for (uint32_t i = 0; i < count(specs); ++i) {
    const plan::TensorSpec *spec = specs->Get(i);
    if (spec->name()->size() == 0 || !names.insert(text(spec->name())).second)
      return fail("spec-name", what, " ", i, " has an empty name or one used before: '", text(spec->name()), "'");
    if (Status status = verifySpec(*spec); !status.ok())
      return std::move(status).in(concat(what, " '", text(spec->name()), "'"));
  }
  return {};
}

static Status verifyArenas(const plan::Body &body) {
  for (uint32_t i = 0; i < count(body.arenas()); ++i) {
    const plan::Arena *arena = body.arenas()->Get(i);
    if (arena->device() >= body.devices()->size())
      return fail("arena-device", "arena ", i, " names device ", arena->device(), " of ", body.devices()->size());
    if (!isKnown(arena->space()))
      return fail("arena-space", "arena ", i, " has unknown memory space ", int(arena->space()));
    bool isHost = arena->device() == body.queues()->Get(0)->device();
    if (isHost && arena->space() == plan::MemSpace::DEVICE)
      return fail("arena-space", "arena ", i, " is of the host, but in memory of a device");
    if (!isPowerOfTwo(arena->alignment()) || arena->alignment() > kMaxAlignment)
      return fail("arena-alignment", "arena ", i, " has alignment ", arena->alignment());
  }
  return {};
}

/// Arena.device and Queue.device count within the body's own list of devices.
static Status verifyResources(const plan::Plan &plan, const plan::Body &body) {
  if (body.devices()->size() == 0 || body.queues()->size() == 0)
    return fail("body-resources", body.devices()->size(), " devices and ", body.queues()->size(), " queues");
  for (uint32_t device : *body.devices())
    if (device >= plan.devices()->size())
      return fail("body-device", "device ", device, " of ", plan.devices()->size());
  for (const plan::Queue *queue : *body.queues())
    if (queue->device() >= body.devices()->size())
      return fail("queue-device", "queue on device ", queue->device(), " of ", body.devices()->size());
  if (body.queues()->size() > kMaxQueues || body.semaphores() > kMaxSemaphores)
    return fail("body-resources", body.queues()->size(), " queues and ", body.semaphores(), " semaphores are more than ", kMaxQueues,
                " and ", kMaxSemaphores);
  uint32_t host = body.devices()->Get(body.queues()->Get(0)->device());
  if (plan.devices()->Get(host)->kind() != plan::DeviceKind::CPU)
    return fail("queue-host", "queue 0 is the host's, but its device '", text(plan.devices()->Get(host)->name()), "' is a ",
                plan::EnumNameDeviceKind(plan.devices()->Get(host)->kind()));
  return verifyArenas(body);
}

static Status verifyEntry(const VerifyContext &context, const plan::EntryPoint &entry) {
  LLMC_TRY(verifySpecs(entry.inputs(), "input"));
  LLMC_TRY(verifySpecs(entry.outputs(), "output"));
  if (count(entry.states()) > 0)
    return Status(Code::Incompatible, "entry-states", "[entry-states] this runtime keeps no state between runs");
  if (entry.bodies()->size() == 0)
    return fail("entry-bodies", "no body");
  LLMC_TRY(verifyBatching(entry));
  for (const plan::Body *body : *entry.bodies())
    if (Status status = verifyResources(context.plan, *body); !status.ok())
      return std::move(status).in(concat("body '", text(body->name()), "'"));
  return {};
}

Status verifyEntries(const VerifyContext &context) {
  std::set<std::string_view> names;
  if (context.plan.entries()->size() == 0)
    return fail("entries", "the plan has no entry");
  for (const plan::EntryPoint *entry : *context.plan.entries()) {
    if (entry->name()->size() == 0 || !names.insert(text(entry->name())).second)
      return fail("entry-name", "an entry has an empty name or one used before: '", text(entry->name()), "'");
    if (Status status = verifyEntry(context, *entry); !status.ok())
      return std::move(status).in(concat("entry '", text(entry->name()), "'"));
  }
  return {};
}

} // namespace llmc::rt
