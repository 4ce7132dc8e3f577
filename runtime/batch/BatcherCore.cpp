//===- BatcherCore.cpp - Construction, instances and versions -----------------------------------------------------===//

#include "runtime/batch/BatcherCore.h"
#include <algorithm>

namespace llmc::batch {

using rt::concat;
using rt::Result;
using rt::Status;

static Status invalid(std::string message) { return Status(rt::Code::InvalidArgument, std::move(message)); }

BatcherCore::Model::Model(const BatcherConfig &all, uint32_t index)
    : config(all.models[index]), index(index), numDevices(uint32_t(all.devices.size())),
      variants(runnableVariants(config)), cap(batchCap(config)), memoryCap(cap), outOfMemoryCap(cap),
      queues(config.buckets.size(), config.classes.size()), budget(config.retry), adaptive(config, cap),
      stats(std::make_unique<BatchStats>()) {
  for (uint32_t slot = 0; slot < kMaxVersions; ++slot)
    for (const DeviceConfig &device : all.devices)
      lanes.push_back({LatencyModel(config, device.costPercent), Breaker(config.breaker), false});
  quarantine.reserve(all.maxRequests);
}

void BatcherCore::Model::resetLanes(const BatcherConfig &all, uint32_t versionSlot) {
  for (uint32_t device = 0; device < numDevices; ++device)
    lane(versionSlot, device) = {LatencyModel(config, all.devices[device].costPercent), Breaker(config.breaker), false};
}

BatcherCore::BatcherCore(BatcherConfig config)
    : config_(std::move(config)), table(config_.maxRequests), reorder(config_.maxRequests),
      batches(config_.maxRequests + 2) { // each has a member, but for one that is being split
  for (uint32_t i = 0; i < config_.models.size(); ++i)
    models.emplace_back(config_, i);
  for (const DeviceConfig &device : config_.devices)
    shares.emplace_back(device, config_.models.size());
  freeBatches.reserve(batches.size());
  for (uint32_t i = uint32_t(batches.size()); i-- > 0;)
    freeBatches.push_back(i);
  actions.reserve(4 * size_t(config_.maxRequests) + 64);
  size_t members = 0;
  for (const Model &model : models)
    members = std::max<size_t>(members, model.cap);
  pack.members.reserve(members + 1);
  checkPack.members.reserve(members + 1);
}

Result<std::unique_ptr<BatcherCore>> BatcherCore::create(BatcherConfig config) {
  LLMC_TRY(validate(config));
  std::vector<InstanceConfig> instances = std::move(config.instances);
  std::unique_ptr<BatcherCore> core(new BatcherCore(std::move(config)));
  for (const InstanceConfig &instance : instances)
    if (Result<uint32_t> added = core->addInstance(0, instance); !added.ok())
      return std::move(added).status();
  return core;
}

uint32_t BatcherCore::versionSlotOf(const Model &model, uint32_t version) const {
  for (uint32_t slot = 0; slot < kMaxVersions; ++slot)
    if (model.versions[slot].inUse && model.versions[slot].number == version)
      return slot;
  return kNone;
}

/// The slot of a version that is known, or a free one for it. The first version of a model is its present one.
Result<uint32_t> BatcherCore::makeVersionSlot(Model &model, uint32_t version) {
  if (uint32_t slot = versionSlotOf(model, version); slot != kNone)
    return slot;
  bool first = std::none_of(model.versions.begin(), model.versions.end(), [](const VersionSlot &v) { return v.inUse; });
  for (uint32_t slot = 0; slot < kMaxVersions; ++slot) {
    if (model.versions[slot].inUse)
      continue;
    model.versions[slot] = {version, true, false, 0, 0};
    model.resetLanes(config_, slot);
    if (first)
      model.current = slot;
    return slot;
  }
  return invalid(concat("model '", model.config.name, "' has ", kMaxVersions, " versions in use already"));
}

Result<uint32_t> BatcherCore::addInstance(TimeNs now, const InstanceConfig &instance) {
  BatcherConfig probe; // the rules for an instance are those of a whole configuration
  probe.devices = config_.devices;
  probe.models = config_.models;
  probe.instances = {instance};
  LLMC_TRY(validate(probe));
  Model &model = models[instance.model];
  LLMC_TRY_ASSIGN(uint32_t slot, makeVersionSlot(model, instance.version));
  ++model.versions[slot].instances;
  int64_t memory = shares[instance.device].memoryFor(model.config.critical);
  for (size_t i = 0; i < model.config.arenaBytes.size(); ++i)
    if (model.config.arenaBytes[i] > memory)
      model.memoryCap = std::min(model.memoryCap, i == 0 ? 0 : model.config.variants[i - 1]);
  uint32_t id = uint32_t(instances.size());
  for (uint32_t i = 0; i < id; ++i) // a removed one's place is free
    if (instances[i].state == InstanceState::Removed) {
      std::erase(models[instances[i].model].instances, i);
      id = i;
      break;
    }
  if (id == instances.size())
    instances.emplace_back();
  instances[id] = Instance();
  instances[id].model = instance.model;
  instances[id].versionSlot = slot;
  instances[id].device = instance.device;
  model.instances.push_back(id);
  return id;
}

void BatcherCore::instanceUp(TimeNs now, uint32_t id) {
  Instance &instance = instances[id];
  if (instance.state != InstanceState::Warming && instance.state != InstanceState::Failed)
    return;
  Model &model = models[instance.model];
  instance.state = InstanceState::Idle;
  ++model.liveInstances;
  model.rowLimitAt = -kSecond;
}

void BatcherCore::setInstanceDown(TimeNs now, uint32_t id, InstanceState state) {
  Instance &instance = instances[id];
  Model &model = models[instance.model];
  if (isLive(instance)) {
    --model.liveInstances;
    model.rowLimitAt = -kSecond;
  }
  if (instance.staged != kNone)
    unstage(now, id);
  instance.state = state;
  if (state == InstanceState::Removed)
    --model.versions[instance.versionSlot].instances;
}

void BatcherCore::instanceDrain(TimeNs now, uint32_t id) {
  InstanceState state = instances[id].state;
  if (state == InstanceState::Removed || state == InstanceState::Draining)
    return;
  setInstanceDown(now, id, instances[id].running == kNone ? InstanceState::Removed : InstanceState::Draining);
}

void BatcherCore::instanceFailed(TimeNs now, uint32_t id) {
  Instance &instance = instances[id];
  if (instance.state == InstanceState::Removed || instance.state == InstanceState::Failed)
    return;
  if (instance.running != kNone)
    complete(now, instance.running, {BatchFault::DeviceLost, {}});
  else
    setInstanceDown(now, id, InstanceState::Failed);
}

Status BatcherCore::configure(TimeNs now, uint32_t index, ModelConfig config) {
  if (index >= models.size())
    return invalid(concat("there is no model ", index, ", only ", models.size()));
  LLMC_TRY(validate(config, models.size()));
  Model &model = models[index];
  const ModelConfig &old = model.config;
  if (config.variants != old.variants || config.buckets.size() != old.buckets.size() || config.anySize != old.anySize)
    return invalid(concat("model '", old.name, "': its buckets and variants are those of the artifact"));
  if (config.classes.size() != old.classes.size() || config.order != old.order)
    return invalid(concat("model '", old.name, "': classes and order of responses can not change while it runs"));
  if (config.arenaBytes != old.arenaBytes || config.critical != old.critical)
    return invalid(concat("model '", old.name, "': its memory can not change while it runs"));
  if (!(config.breaker == old.breaker))
    for (Lane &lane : model.lanes)
      lane.breaker = Breaker(config.breaker);
  if (!(config.retry == old.retry))
    model.budget = RetryBudget(config.retry);
  model.config = config_.models[index] = std::move(config);
  model.variants = runnableVariants(model.config);
  uint32_t cap = batchCap(model.config);
  if (model.memoryCap == model.cap || model.memoryCap > cap)
    model.memoryCap = cap;
  model.cap = model.outOfMemoryCap = cap;
  model.adaptive = AdaptiveControl(model.config, cap);
  model.rowLimitAt = -kSecond;
  pack.members.reserve(cap + 1);
  checkPack.members.reserve(cap + 1);
  return {};
}

Status BatcherCore::swapVersion(TimeNs now, uint32_t index, uint32_t version) {
  if (index >= models.size())
    return invalid(concat("there is no model ", index, ", only ", models.size()));
  Model &model = models[index];
  uint32_t slot = versionSlotOf(model, version);
  if (slot == kNone || model.versions[slot].instances == 0)
    return invalid(concat("model '", model.config.name, "' has no instance of version ", version));
  model.versions[model.current].retired = true;
  model.versions[slot].retired = false;
  model.current = slot;
  return {};
}

void BatcherCore::drain(TimeNs now, TimeNs deadline, bool endsRuns) {
  draining = true;
  drainEndsRuns = endsRuns;
  drainDeadline = std::min(drainDeadline, deadline);
}

Breaker::State BatcherCore::breakerState(TimeNs now, uint32_t model, uint32_t version, uint32_t device) const {
  return models[model].lane(versionSlotOf(models[model], version), device).breaker.state(now);
}

TimeNs BatcherCore::predict(uint32_t model, uint32_t device, uint32_t bucket, uint32_t rows) const {
  return models[model].lane(models[model].current, device).latency.predict(bucket, rows);
}

void BatcherCore::push(const Action &action) {
  if (actionsSeen) {
    actions.clear();
    actionsSeen = false;
  }
  actions.push_back(action);
}

/// A retired version that nothing needs any more is told of once; its slot is free when its instances are gone.
void BatcherCore::reportIdleVersions() {
  for (Model &model : models)
    for (uint32_t slot = 0; slot < kMaxVersions; ++slot) {
      VersionSlot &version = model.versions[slot];
      if (!version.inUse || slot == model.current || version.batches > 0)
        continue;
      if (version.retired && !model.queues.hasPinned(slot)) {
        version.retired = false;
        push({.kind = ActionKind::VersionIdle, .model = model.index, .version = version.number});
      }
      if (version.instances == 0 && !model.queues.hasPinned(slot))
        version.inUse = false;
    }
}

} // namespace llmc::batch
