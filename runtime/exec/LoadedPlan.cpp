//===- LoadedPlan.cpp - A plan bound to this machine --------------------------------------------------------------===//

#include "runtime/exec/LoadedPlan.h"
#include "runtime/device/CpuFeatures.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::rt {

Result<std::shared_ptr<LoadedPlan>> LoadedPlan::load(std::shared_ptr<const PlanFile> file, const LoadOptions &options) {
  if (options.verifyConstants)
    LLMC_TRY(file->verifyConstants());
  std::shared_ptr<LoadedPlan> result(new LoadedPlan(std::move(file), options));
  if (!options.deviceProfile.empty()) {
    LLMC_TRY_ASSIGN(result->profile, DeviceProfile::read(options.deviceProfile));
  }
  result->makeDevices();
  LLMC_TRY(result->chooseVariants());
  for (const plan::EntryPoint *entry : *result->plan().entries())
    LLMC_TRY(result->loadEntry(*entry, options.shapeCacheSize));
  // Only now, with all of the plan verified, is code made executable.
  LLMC_TRY(result->loadImages());
  for (const auto &entry : result->loadedEntries)
    for (const auto &body : entry->bodies) {
      LLMC_TRY(result->bindCode(*body));
      LLMC_TRY(result->bindConstants(*body));
    }
  return result;
}

void LoadedPlan::makeDevices() {
  for (const plan::Device *device : *plan().devices()) {
    Device *made = device->kind() == plan::DeviceKind::CPU ? &cpu : nullptr;
    if (device->kind() == plan::DeviceKind::SIM) {
      std::string name = concat("'", text(device->name()), "' (sim:", device->ordinal(), ")");
      int64_t memory = profile.of(plan::DeviceKind::SIM, device->ordinal()).memoryBytes;
      simulated.push_back(std::make_unique<SimDevice>(std::move(name), memory, cpu));
      made = simulated.back().get();
    }
    devices.push_back(made);
  }
}

/// Keeps `list` in falling order of priority; among equals, earlier ones first.
template <typename T> static void insertByPriority(std::vector<const T *> &list, const T *value) {
  auto higher = [](const T *a, const T *b) { return a->priority() > b->priority(); };
  list.insert(std::upper_bound(list.begin(), list.end(), value, higher), value);
}

static bool isForCpu(const plan::Executable &executable) { return executable.device_kind() == plan::DeviceKind::CPU; }

/// The supported variant of `level` with the greatest priority, or kNone.
static uint32_t findVariant(const CpuDevice &cpu, const plan::Executable &executable, std::string_view level) {
  uint32_t best = kNone;
  for (uint32_t i = 0; i < executable.variants()->size(); ++i) {
    const plan::Variant *variant = executable.variants()->Get(i);
    if (text(variant->level()) == level && cpu.supports(*variant).ok() &&
        (best == kNone || variant->priority() > executable.variants()->Get(best)->priority()))
      best = i;
  }
  return best;
}

/// Levels of `executable` that this machine can run, best first. Says why of the others.
static std::vector<std::string_view> supportedLevels(const CpuDevice &cpu, const plan::Executable &executable,
                                                     std::string &refusals) {
  std::vector<const plan::Variant *> fitting;
  for (const plan::Variant *variant : *executable.variants()) {
    if (Status status = cpu.supports(*variant); status.ok())
      insertByPriority(fitting, variant);
    else
      refusals += concat("; ", status.message());
  }
  std::vector<std::string_view> levels;
  for (const plan::Variant *variant : fitting)
    levels.push_back(text(variant->level()));
  return levels;
}

/// One level for all code, so that the bits of a result belong to a level: the best that every executable has.
Status LoadedPlan::chooseVariants() {
  const auto *executables = plan().executables();
  variants.assign(count(executables), 0);
  const plan::Executable *first = nullptr;
  for (uint32_t i = 0; i < count(executables) && !first; ++i)
    first = isForCpu(*executables->Get(i)) ? executables->Get(i) : nullptr;
  if (!first)
    return {};
  std::string refusals;
  for (std::string_view candidate : supportedLevels(cpu, *first, refusals)) {
    bool complete = true;
    for (uint32_t i = 0; i < count(executables) && complete; ++i)
      if (isForCpu(*executables->Get(i)))
        complete = (variants[i] = findVariant(cpu, *executables->Get(i), candidate)) != kNone;
    if (complete) {
      level = candidate;
      return {};
    }
  }
  return {Code::Incompatible, "cpu-level",
          concat("no code in the plan runs on this machine (", hostCpuLevel(), ")", refusals)};
}

Status LoadedPlan::loadImages() {
  for (uint32_t i = 0; i < count(plan().executables()); ++i) {
    images.emplace_back();
    const plan::Executable *executable = plan().executables()->Get(i);
    if (isForCpu(*executable)) {
      LLMC_TRY_ASSIGN(images.back(), cpu.load(*file, *executable->variants()->Get(variants[i])));
    }
  }
  return {};
}

/// All its devices are there, and the host has one queue.
bool LoadedPlan::isRunnable(const plan::Body &body) const {
  for (uint32_t device : *body.devices())
    if (!devices[device])
      return false;
  for (uint32_t i = 1; i < body.queues()->size(); ++i)
    if (devices[body.devices()->Get(body.queues()->Get(i)->device())] == &cpu)
      return false;
  return true;
}

Status LoadedPlan::loadEntry(const plan::EntryPoint &spec, size_t cacheSize) {
  loadedEntries.push_back(std::make_unique<LoadedEntry>(spec, cacheSize));
  std::vector<const plan::Body *> bodies;
  for (const plan::Body *body : *spec.bodies())
    if (isRunnable(*body))
      insertByPriority(bodies, body);
  for (const plan::Body *body : bodies)
    if (Status status = loadBody(spec, *body, *loadedEntries.back()); !status.ok())
      return std::move(status).in(concat("entry '", text(spec.name()), "', body '", text(body->name()), "'"));
  if (bodies.empty())
    return {Code::Incompatible, "devices",
            concat("entry '", text(spec.name()), "' has no body for the devices of this machine")};
  return {};
}

Status LoadedPlan::loadBody(const plan::EntryPoint &spec, const plan::Body &body, LoadedEntry &entry) {
  LLMC_TRY_ASSIGN(Program program, decodeProgram(plan(), spec, body, variants));
  auto loaded = std::make_unique<LoadedBody>(std::move(program));
  for (uint32_t device : *body.devices())
    loaded->devices.push_back(devices[device]);
  LLMC_TRY(resolveEvent(loaded->program, kLoadEvent, loaded->loaded, &loaded->loadErrors));
  if (loaded->program.placementEvent == kLoadEvent)
    LLMC_TRY(placeBuffers(loaded->program, loaded->loaded, loaded->loadErrors));
  entry.bodies.push_back(std::move(loaded));
  return {};
}

Status LoadedPlan::bindCode(LoadedBody &body) const {
  for (const Program::Dispatch &dispatch : body.program.dispatches) {
    const plan::Executable *executable = plan().executables()->Get(dispatch.executable);
    const plan::Variant *variant = executable->variants()->Get(variants[dispatch.executable]);
    auto code = images[dispatch.executable]->entry(variant->entries()->Get(dispatch.exportIndex)->entry());
    if (!code.ok())
      return std::move(code).status().in(concat("export '", text(dispatch.exported->name()), "'"));
    body.kernels.push_back(*code);
  }
  return {};
}

/// The host reads constants where the file is mapped; other devices get a copy.
Result<const std::byte *> LoadedPlan::placeConstant(uint32_t index, Device &device) {
  std::span<const std::byte> bytes = file->bytesOf(*plan().constants()->Get(index)->data());
  if (&device == &cpu)
    return bytes.data();
  DeviceBlock &block = placed[{index, &device}];
  if (!block.data()) {
    LLMC_TRY(block.reserve(device, std::max<size_t>(1, bytes.size()), kMaxAlignment));
    LLMC_TRY_ASSIGN(std::unique_ptr<Queue> queue, device.makeQueue(1));
    queue->copy(0, {&device, block.data()}, {&cpu, const_cast<std::byte *>(bytes.data())}, bytes.size());
    queue->drain();
    if (queue->fault())
      return queue->fault()->status;
  }
  return static_cast<const std::byte *>(block.data());
}

Status LoadedPlan::bindConstants(LoadedBody &body) {
  body.constants.assign(body.program.buffers.size(), nullptr);
  for (size_t i = 0; i < body.constants.size(); ++i)
    if (const Program::Buffer &buffer = body.program.buffers[i]; buffer.kind == plan::BufKind::CONSTANT) {
      auto address = placeConstant(buffer.index, *body.devices[buffer.device]);
      if (!address.ok())
        return std::move(address).status().in(concat("constant '", text(plan().constants()->Get(buffer.index)->name()), "'"));
      body.constants[i] = *address;
    }
  return {};
}

std::unique_ptr<VirtualClock> LoadedPlan::makeClock(const LoadedBody &body) const {
  if (!profile.isGiven())
    return nullptr;
  std::vector<DeviceCosts> costs;
  for (const plan::Queue *queue : *body.program.body->queues()) {
    const plan::Device *device = plan().devices()->Get(body.program.body->devices()->Get(queue->device()));
    costs.push_back(profile.of(device->kind(), device->ordinal()));
  }
  return std::make_unique<VirtualClock>(body.program, std::move(costs));
}

} // namespace llmc::rt
