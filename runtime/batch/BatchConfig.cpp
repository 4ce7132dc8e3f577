//===- BatchConfig.cpp - The settings of the batcher and what is wrong with them ----------------------------------===//

#include "runtime/batch/BatchConfig.h"
#include <algorithm>

namespace llmc::batch {

using rt::concat;
using rt::Status;

static Status invalid(std::string message) { return Status(rt::Code::InvalidArgument, std::move(message)); }

static bool ascends(const std::vector<uint32_t> &values) {
  return std::adjacent_find(values.begin(), values.end(), [](uint32_t a, uint32_t b) { return a >= b; }) ==
         values.end();
}

static bool contains(const std::vector<uint32_t> &values, uint32_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<uint32_t> runnableVariants(const ModelConfig &model) {
  return model.strictPreferred ? model.preferredRows : model.variants;
}

uint32_t batchCap(const ModelConfig &model) { return model.maxRows ? model.maxRows : runnableVariants(model).back(); }

static Status validateSizes(const ModelConfig &model) {
  if (model.variants.empty() || model.variants[0] == 0 || !ascends(model.variants))
    return invalid("the variants are not positive row counts in ascending order");
  if (model.variants.back() > 1 << 20)
    return invalid(concat("a variant has ", model.variants.back(), " rows, more than ", 1 << 20));
  for (uint32_t rows : model.preferredRows)
    if (!contains(model.variants, rows) && !model.anySize)
      return invalid(concat("preferred size ", rows, " is not among the variants"));
  if (!ascends(model.preferredRows))
    return invalid("the preferred sizes are not in ascending order");
  if (model.strictPreferred && model.preferredRows.empty())
    return invalid("only preferred sizes may run, but none is given");
  if (model.strictPreferred && model.anySize)
    return invalid("only preferred sizes may run, but any size is allowed");
  if (batchCap(model) > runnableVariants(model).back())
    return invalid(concat("a batch may have ", model.maxRows, " rows, more than the largest size that runs, ",
                          runnableVariants(model).back()));
  if (!model.preferredRows.empty() && model.preferredRows.back() > batchCap(model))
    return invalid(
        concat("preferred size ", model.preferredRows.back(), " is over the cap of ", batchCap(model), " rows"));
  if (!model.arenaBytes.empty() && model.arenaBytes.size() != model.variants.size())
    return invalid(concat(model.arenaBytes.size(), " arena sizes for ", model.variants.size(), " variants"));
  if (model.maxElements < 1 || model.maxBatchBytes < 1)
    return invalid("a batch must be allowed at least one element and one byte");
  return {};
}

static Status validateBuckets(const ModelConfig &model) {
  if (model.buckets.empty())
    return invalid("there is no bucket");
  for (const BucketConfig &bucket : model.buckets) {
    if (bucket.cost.size() != model.variants.size())
      return invalid(concat(bucket.cost.size(), " costs for ", model.variants.size(), " variants"));
    for (TimeNs cost : bucket.cost)
      if (cost <= 0 || cost > 3600 * kSecond)
        return invalid(concat("a run costs ", cost, " ns, which is not within 1 ns and one hour"));
  }
  return {};
}

static Status validateOrder(const ModelConfig &model) {
  if (model.classes.empty() || model.classes.size() > kMaxClasses)
    return invalid(concat(model.classes.size(), " priority classes, which is not within 1 and ", kMaxClasses));
  if (model.defaultPriority < 1 || model.defaultPriority > model.classes.size())
    return invalid(concat("default priority ", model.defaultPriority, " is not within 1 and ", model.classes.size()));
  if (model.agingQuantum < 0 || model.agingQuantum > 86400 * kSecond)
    return invalid("the aging quantum is not within 0 and one day");
  if (model.strict && model.strictGuard < 2)
    return invalid("strict priority needs a guard of one in at least 2 batches");
  for (const ClassConfig &policy : model.classes) {
    if (policy.queueTimeout < 0)
      return invalid("a queue timeout is negative");
    if (policy.queueTimeout < model.delay)
      return invalid(
          concat("the delay of ", model.delay, " ns is over a queue timeout of ", policy.queueTimeout, " ns"));
  }
  return {};
}

static Status validateControl(const ModelConfig &model, size_t numModels) {
  if (model.delay < 0 || model.delay > 3600 * kSecond)
    return invalid("the delay is not within 0 and one hour");
  if (model.epsilon < 0 || model.copyTime < 0 || model.sloP99 < 0 || model.execP95 < 0)
    return invalid("a span of time is negative");
  if (model.sloP99 > 0 && model.delay > model.sloP99)
    return invalid(concat("the delay of ", model.delay, " ns is over the deadline of the SLO, ", model.sloP99, " ns"));
  if (model.weight < 1 || model.weight > 10000)
    return invalid(concat("weight ", model.weight, " is not within 1 and 10000"));
  if (model.maxQueuedRows != 0 && model.maxQueuedRows < batchCap(model))
    return invalid(
        concat("at most ", model.maxQueuedRows, " rows may wait, fewer than the ", batchCap(model), " of a batch"));
  if (model.maxWastePercent > 100 || model.breaker.failurePercent > 100)
    return invalid("a share is over 100 percent");
  if (model.retry.runsPerToken < 1)
    return invalid("the retry budget earns nothing");
  if (model.breaker.minRequests > 0 &&
      (model.breaker.window < 10 || model.breaker.openFor < 1 || model.breaker.goodProbes < 1))
    return invalid("the breaker has no window, no time to stay open or no probe");
  for (uint32_t other : model.fallback)
    if (other >= numModels)
      return invalid(concat("fallback ", other, " is not one of the ", numModels, " models"));
  return {};
}

Status validate(const ModelConfig &model, size_t numModels) {
  std::string where = concat("model '", model.name, "'");
  for (Status (*check)(const ModelConfig &) : {validateSizes, validateBuckets, validateOrder})
    if (Status status = check(model); !status.ok())
      return std::move(status).in(where);
  return validateControl(model, numModels).in(where);
}

static Status validateDevice(const DeviceConfig &device) {
  if (device.slots < 1)
    return invalid(concat("device '", device.name, "' runs nothing at a time"));
  if (device.costPercent < 1 || device.costPercent > 1000000)
    return invalid(
        concat("device '", device.name, "': a cost of ", device.costPercent, " % is not within 1 and 1000000"));
  if (device.reservePercent > 100 || device.urgentSharePercent > 100)
    return invalid(concat("device '", device.name, "': a share is over 100 percent"));
  if (device.memoryBytes < 0)
    return invalid(concat("device '", device.name, "' has less than no memory"));
  return {};
}

/// A model can run on the device if its smallest variant fits the memory that it may use.
static Status validateInstance(const BatcherConfig &config, const InstanceConfig &instance) {
  if (instance.model >= config.models.size() || instance.device >= config.devices.size())
    return invalid(concat("an instance names model ", instance.model, " of ", config.models.size(), " and device ",
                          instance.device, " of ", config.devices.size()));
  const ModelConfig &model = config.models[instance.model];
  const DeviceConfig &device = config.devices[instance.device];
  int64_t memory = model.critical ? device.memoryBytes : device.memoryBytes / 100 * (100 - device.reservePercent);
  if (!model.arenaBytes.empty() && model.arenaBytes[0] > memory)
    return invalid(concat("model '", model.name, "' needs ", model.arenaBytes[0], " bytes of device '", device.name,
                          "', which grants it ", memory));
  return {};
}

Status validate(const BatcherConfig &config) {
  if (config.devices.empty() || config.models.empty())
    return invalid("the batcher needs a device and a model");
  if (config.maxRequests < 1 || config.maxRequests > 1 << 24)
    return invalid(concat("room for ", config.maxRequests, " requests, which is not within 1 and ", 1 << 24));
  for (const DeviceConfig &device : config.devices)
    LLMC_TRY(validateDevice(device));
  for (const ModelConfig &model : config.models)
    LLMC_TRY(validate(model, config.models.size()));
  for (const InstanceConfig &instance : config.instances)
    LLMC_TRY(validateInstance(config, instance));
  return {};
}

} // namespace llmc::batch
