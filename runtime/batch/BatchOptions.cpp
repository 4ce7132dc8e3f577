//===- BatchOptions.cpp - The settings of the C API as those of the core ------------------------------------------===//

#include "runtime/batch/BatchOptions.h"
#include <algorithm>

namespace llmc::batch {
namespace {

using rt::concat;
using rt::Result;
using rt::Status;

constexpr int64_t kDefaultMaxRows = 32;

Status invalid(std::string message) { return Status(rt::Code::InvalidArgument, std::move(message)); }

/// Microseconds of a caller, who may give any number.
Result<TimeNs> span(int64_t microseconds, const char *what) {
  if (microseconds < 0 || microseconds > kNever / kMicrosecond)
    return invalid(concat(what, " is ", microseconds, " microseconds"));
  return microseconds * kMicrosecond;
}

Result<uint32_t> number(int32_t value, const char *what, uint32_t otherwise) {
  if (value < 0)
    return invalid(concat(what, " is ", value));
  return value == 0 ? otherwise : uint32_t(value);
}

Result<std::vector<uint32_t>> rowCounts(const int32_t *values, int32_t count, const char *what) {
  if (count < 0 || (count > 0 && !values))
    return invalid(concat(what, ": ", count, " of them, at ", values ? "a place" : "no place"));
  std::vector<uint32_t> result;
  for (int32_t i = 0; i < count; ++i) {
    if (values[i] < 1)
      return invalid(concat(what, " has ", values[i]));
    result.push_back(uint32_t(values[i]));
  }
  return result;
}

/// A geometric series up to the cap: points for the costs, where any row count runs, else all that run.
std::vector<uint32_t> series(uint32_t from, uint32_t upto) {
  std::vector<uint32_t> sizes;
  for (uint64_t rows = from; rows < upto; rows *= 2)
    sizes.push_back(uint32_t(rows));
  sizes.push_back(upto);
  return sizes;
}

Status readSizes(const llmc_batch_model &options, const BatchSpec &spec, ModelConfig &config) {
  LLMC_TRY_ASSIGN(config.variants, rowCounts(options.sizes, options.num_sizes, "sizes"));
  LLMC_TRY_ASSIGN(config.preferredRows, rowCounts(options.preferred, options.num_preferred, "preferred"));
  LLMC_TRY_ASSIGN(config.maxRows, number(options.max_rows, "max_rows", 0));
  config.strictPreferred = options.only_preferred != 0;
  if (!spec.isBatched()) {
    if (!config.variants.empty() || config.maxRows > 1)
      return invalid("nothing is batched, but sizes of batches are given");
    return {};
  }
  for (uint32_t rows : config.variants)
    if (rows < spec.minRows || rows > spec.maxRows)
      return invalid(
          concat("a size of ", rows, " rows, but '", spec.dim, "' is in ", spec.minRows, "..", spec.maxRows));
  for (uint32_t rows : config.variants)
    if (!spec.sizes.empty() && std::find(spec.sizes.begin(), spec.sizes.end(), rows) == spec.sizes.end())
      return invalid(concat("a size of ", rows, " rows, which the plan does not have"));
  if (config.maxRows > spec.maxRows)
    return invalid(concat("max_rows is ", config.maxRows, ", but '", spec.dim, "' is in ", spec.minRows, "..",
                          spec.maxRows));
  if (config.variants.empty())
    config.variants = spec.sizes;
  config.anySize = spec.isPacked(); // its sizes are points of the costs
  if (spec.isPacked() && (config.strictPreferred || options.pad == LLMC_PAD_DOWN))
    return invalid("packed batches have any number of rows: only_preferred and pad do not apply to them");
  config.maxElements = std::min(spec.maxRequests, kUnlimitedBytes);
  if (config.variants.empty()) {
    if (!config.maxRows)
      config.maxRows = uint32_t(std::min<int64_t>(spec.maxRows, std::max(kDefaultMaxRows, spec.minRows)));
    if (config.maxRows < spec.minRows)
      return invalid(concat("max_rows is ", config.maxRows, ", but '", spec.dim, "' is in ", spec.minRows, "..",
                            spec.maxRows));
    config.variants = series(uint32_t(spec.minRows), config.maxRows);
    config.anySize = spec.minRows == 1 && !config.strictPreferred;
  }
  return {};
}

Status readClasses(const llmc_batch_model &options, ModelConfig &config) {
  if (options.num_classes < 0 || (options.num_classes > 0 && !options.classes))
    return invalid(concat(options.num_classes, " classes, at ", options.classes ? "a place" : "no place"));
  if (options.num_classes > 0)
    config.classes.clear();
  const auto *bytes = reinterpret_cast<const char *>(options.classes);
  for (int32_t i = 0; i < options.num_classes; ++i) {
    llmc_batch_class given = {};
    size_t size = *reinterpret_cast<const size_t *>(bytes);
    if (size < sizeof(size_t))
      return invalid("struct_size of a class is not set");
    std::copy_n(bytes, std::min(size, sizeof given), reinterpret_cast<char *>(&given));
    bytes += size;
    ClassConfig policy;
    LLMC_TRY_ASSIGN(policy.queueTimeout, span(given.queue_timeout_us, "queue_timeout_us"));
    if (policy.queueTimeout == 0)
      policy.queueTimeout = kNever;
    policy.timeoutAction = given.demote ? TimeoutAction::Demote : TimeoutAction::Reject;
    LLMC_TRY_ASSIGN(policy.maxQueuedRequests, number(given.max_queued_requests, "max_queued_requests", kUnlimited));
    config.classes.push_back(policy);
  }
  LLMC_TRY_ASSIGN(config.defaultPriority, number(options.default_priority, "default_priority", 1));
  if (options.aging_us == -1) {
    config.agingQuantum = 0;
  } else if (options.aging_us != 0) {
    LLMC_TRY_ASSIGN(config.agingQuantum, span(options.aging_us, "aging_us"));
  }
  config.strict = options.strict != 0;
  return {};
}

Status readPolicies(const llmc_batch_model &options, ModelConfig &config) {
  if (unsigned(options.pad) > LLMC_PAD_DOWN || unsigned(options.mix) > LLMC_MIX_ISOLATE ||
      unsigned(options.order) > LLMC_ORDER_MODEL)
    return invalid(concat("pad, mix or order is not one of their values: ", unsigned(options.pad), ", ",
                          unsigned(options.mix), ", ", unsigned(options.order)));
  constexpr PadPolicy pads[] = {PadPolicy::MinCost, PadPolicy::PadUp, PadPolicy::BatchDown};
  constexpr MixPolicy mixes[] = {MixPolicy::FillPadding, MixPolicy::Merge, MixPolicy::Isolate};
  constexpr ResponseOrder orders[] = {ResponseOrder::None, ResponseOrder::PerStream, ResponseOrder::PerModel};
  config.pad = pads[options.pad];
  config.mix = mixes[options.mix];
  config.order = orders[options.order];
  return {};
}

Status readLimits(const llmc_batch_model &options, ModelConfig &config) {
  LLMC_TRY_ASSIGN(config.maxQueuedRequests, number(options.max_queued_requests, "max_queued_requests", kUnlimited));
  LLMC_TRY_ASSIGN(config.maxQueuedRows,
                  number(options.max_queued_rows, "max_queued_rows", options.slo_p99_us ? 0 : kUnlimited));
  if (options.max_queued_bytes < 0)
    return invalid(concat("max_queued_bytes is ", options.max_queued_bytes));
  if (options.max_queued_bytes > 0)
    config.maxQueuedBytes = std::min(options.max_queued_bytes, kUnlimitedBytes);
  config.admitByDeadline = options.admit_by_deadline != 0;
  return {};
}

Status readControl(const llmc_batch_model &options, ModelConfig &config) {
  LLMC_TRY_ASSIGN(config.delay, span(options.delay_us, "delay_us"));
  LLMC_TRY_ASSIGN(config.weight, number(options.weight, "weight", 1));
  config.doubleBuffer = options.double_buffer != 0;
  config.stateful = options.stateful != 0;
  if (options.breaker_min_requests < -1)
    return invalid(concat("breaker_min_requests is ", options.breaker_min_requests));
  if (options.breaker_min_requests != 0)
    config.breaker.minRequests = uint32_t(std::max(0, options.breaker_min_requests));
  if (options.num_fallback < 0 || (options.num_fallback > 0 && !options.fallback))
    return invalid(concat(options.num_fallback, " fallbacks, at ", options.fallback ? "a place" : "no place"));
  for (int32_t i = 0; i < options.num_fallback; ++i)
    config.fallback.push_back(uint32_t(options.fallback[i]));
  LLMC_TRY_ASSIGN(config.sloP99, span(options.slo_p99_us, "slo_p99_us"));
  LLMC_TRY_ASSIGN(config.execP95, span(options.exec_p95_us, "exec_p95_us"));
  return {};
}

} // namespace

Result<ModelConfig> readModelOptions(const llmc_batch_model &options, const BatchSpec &spec, uint32_t numBuckets) {
  ModelConfig config;
  config.name = options.name;
  if (Status status = readSizes(options, spec, config); !status.ok())
    return status;
  if (config.variants.empty())
    config.variants = {1};
  for (Status (*read)(const llmc_batch_model &, ModelConfig &) :
       {readClasses, readPolicies, readLimits, readControl})
    LLMC_TRY(read(options, config));
  config.buckets.assign(numBuckets, {std::vector<TimeNs>(config.variants.size(), kUnknownCost), 0});
  for (size_t i = 0; i < spec.costs.size(); ++i) {
    size_t bucket = i / spec.sizes.size();
    auto at = std::find(config.variants.begin(), config.variants.end(), spec.sizes[i % spec.sizes.size()]);
    if (bucket < numBuckets && at != config.variants.end())
      config.buckets[bucket].cost[size_t(at - config.variants.begin())] = spec.costs[i];
  }
  return config;
}

} // namespace llmc::batch
