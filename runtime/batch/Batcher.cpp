//===- Batcher.cpp - Making and closing a batcher; its models -----------------------------------------------------===//

#include "runtime/batch/Batcher.h"
#include "runtime/batch/BatchOptions.h"
#include "runtime/device/SignalMask.h"
#include <algorithm>
#include <pthread.h>

namespace llmc::batch {

using rt::concat;
using rt::Result;
using rt::Status;

static constexpr uint32_t kDefaultRequests = 4096, kDefaultShapes = 16;
static constexpr TimeNs kMeasureTime = kSecond / 2; // of a model, when it is made

static Status invalid(std::string message) { return Status(rt::Code::InvalidArgument, std::move(message)); }

/// How often this process is the child of a fork.
static std::atomic<uint32_t> forks = 0;

static uint32_t countForks() {
  static const int once = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  return once == 0 ? forks.load() : 0;
}

Batcher::Batcher(const llmc_batcher_options &options, std::unique_ptr<Clock> given)
    : clock(given ? std::move(given) : std::make_unique<SteadyClock>()),
      maxRequests(options.max_requests ? uint32_t(options.max_requests) : kDefaultRequests), forkCount(countForks()),
      spin(options.spin_us * kMicrosecond) {}

Batcher::~Batcher() { stopThreads(); }

Result<Batcher *> Batcher::create(std::span<const ModelSetup> setups, const llmc_batcher_options &options,
                                  std::unique_ptr<Clock> clock) {
  if (setups.empty())
    return invalid("a batcher needs a model");
  for (auto [name, value] : {std::pair("max_requests", int64_t(options.max_requests)),
                             std::pair("parallel_runs", int64_t(options.parallel_runs)),
                             std::pair("max_queued_bytes", options.max_queued_bytes)})
    if (value < 0)
      return invalid(concat(name, " is ", value));
  if (options.spin_us < 0 || options.spin_us > 1000000)
    return invalid(concat("spin_us is ", options.spin_us, ", which is not within 0 and one second"));
  std::unique_ptr<Batcher, void (*)(Batcher *)> batcher(new Batcher(options, std::move(clock)),
                                                        [](Batcher *b) { delete b; });
  LLMC_TRY(batcher->start(setups, options));
  return batcher.release();
}

Status Batcher::start(std::span<const ModelSetup> setups, const llmc_batcher_options &options) {
  BatcherConfig config;
  for (const ModelSetup &setup : setups)
    LLMC_TRY(addModel(setup, setups.size(), config));
  LLMC_TRY(checkFallbacks(config));
  config.devices[0].name = "cpu";
  for (const auto &model : models)
    config.devices[0].slots = std::max(config.devices[0].slots, model->instances);
  if (options.parallel_runs)
    config.devices[0].slots = uint32_t(options.parallel_runs);
  config.maxRequests = maxRequests;
  if (options.max_queued_bytes)
    config.maxQueuedBytes = std::min(options.max_queued_bytes, kUnlimitedBytes);
  LLMC_TRY(validate(config)); // before any run is measured
  for (uint32_t m = 0; m < models.size(); ++m)
    for (uint32_t i = 0; i < models[m]->instances; ++i) {
      auto worker = std::make_unique<Worker>(models[m]->source, models[m]->spec);
      worker->id = uint32_t(workers.size());
      worker->model = m;
      if (i == 0)
        measureCosts(*models[m], worker->instance, config.models[m]);
      workers.push_back(std::move(worker));
      config.instances.push_back({m, 1, 0});
    }
  lastTime = clock->now();
  if (options.record) {
    LLMC_TRY_ASSIGN(trace, Trace::open(options.record, lastTime, config.devices[0].slots));
    for (uint32_t m = 0; m < models.size(); ++m)
      trace->add(config.models[m], models[m]->instances, models[m]->knowsCosts());
  }
  LLMC_TRY_ASSIGN(core, BatcherCore::create(std::move(config)));
  for (const auto &worker : workers)
    core->instanceUp(lastTime, worker->id);
  freeRequests.reserve(maxRequests);
  startThreads();
  return {};
}

Status Batcher::addModel(const ModelSetup &setup, size_t numModels, BatcherConfig &config) {
  llmc_batch_model options = setup.options;
  const rt::LoadedEntry &entry = *setup.source.plan->entries()[setup.source.entry];
  std::string name = options.name ? options.name : entry.spec.name()->str();
  options.name = name.c_str();
  auto add = [&]() -> Status {
    if (options.max_shapes < 0 || options.max_shapes > 4096)
      return invalid(concat("max_shapes is ", options.max_shapes, ", which is not within 0 and 4096"));
    if (options.instances < 0 || options.instances > 1024)
      return invalid(concat("instances is ", options.instances, ", which is not within 0 and 1024"));
    LLMC_TRY_ASSIGN(BatchSpec spec, readBatchSpec(*setup.source.plan, setup.source.entry, options.batch_dim));
    uint32_t exact = !spec.isBatched() ? 1 : options.max_shapes ? uint32_t(options.max_shapes) : kDefaultShapes;
    auto model = std::make_unique<Model>(std::move(spec), exact);
    LLMC_TRY_ASSIGN(ModelConfig settings, readModelOptions(options, model->spec, model->shapes.numBuckets()));
    model->name = name;
    model->source = setup.source;
    model->namesDim = options.batch_dim != nullptr;
    model->batchDim = model->spec.dim;
    model->instances = options.instances ? uint32_t(options.instances) : 1;
    if (options.cache_bytes < 0)
      return invalid(concat("cache_bytes is ", options.cache_bytes));
    if (options.cache_bytes > 0 && options.stateful)
      return invalid("answers of a model with state can not be kept");
    if (options.cache_bytes > 0)
      model->cache = std::make_unique<AnswerCache>(options.cache_bytes);
    if (options.split_large && model->spec.isPacked())
      return invalid("split_large: a packed request can not be run in parts");
    model->splitsLarge = options.split_large != 0;
    model->numPriorities = uint32_t(settings.classes.size());
    model->doubleBuffer = settings.doubleBuffer;
    models.push_back(std::move(model));
    config.models.push_back(std::move(settings));
    return {};
  };
  LLMC_TRY(add().in(concat("model '", name, "'")));
  LLMC_TRY(validate(config.models.back(), numModels));
  models.back()->cap = batchCap(config.models.back());
  return {};
}

/// A fallback runs the same requests, in the same buckets.
Status Batcher::checkFallbacks(const BatcherConfig &config) const {
  for (uint32_t m = 0; m < models.size(); ++m)
    for (uint32_t other : config.models[m].fallback)
      if (other == m || !models[m]->spec.matches(models[other]->spec) || models[m]->spec.isExact)
        return invalid(concat("model '", models[other]->name, "' can not take over requests of '", models[m]->name,
                              "': inputs, outputs or batching differ, or have dims that are neither rows nor padded"));
  return {};
}

/// Runs of settled shapes on zeros, small ones of all buckets first, until the time for it is used up. What is left
/// costs as much per row as the size before it.
void Batcher::measureCosts(const Model &model, Instance &instance, ModelConfig &config) const {
  if (!model.knowsCosts() || !model.spec.costs.empty())
    return;
  Job job;
  TimeNs used = 0;
  for (size_t i = 0; i < config.variants.size(); ++i)
    for (uint32_t bucket = 0; bucket < config.buckets.size(); ++bucket) {
      std::vector<TimeNs> &cost = config.buckets[bucket].cost;
      uint32_t rows = config.variants[i];
      job.rows = rows;
      job.inputDims = model.shapes.dimsOf(bucket);
      job.lengths = {rows};
      job.placeRows(model.spec);
      std::optional<TimeNs> time = used < kMeasureTime ? instance.measure(job) : std::nullopt;
      if (time)
        used += 2 * *time;
      else if (i > 0)
        time = cost[i - 1] * rows / config.variants[i - 1];
      if (time)
        cost[i] = std::min(std::max<TimeNs>(1, *time), 3600 * kSecond);
    }
}

void Batcher::startThreads() {
  rt::NoSignals mask;
  for (const auto &worker : workers)
    worker->thread = std::thread([this, worker = worker.get()] { runWorker(*worker); });
  timer = std::thread([this] { runTimer(); });
  hasStager = std::any_of(models.begin(), models.end(), [](const auto &model) { return model->doubleBuffer; });
  if (hasStager)
    stager = std::thread([this] { runStager(); });
}

/// Nothing runs.
void Batcher::stopThreads() {
  stopping = true;
  for (auto *list : {&workers, &retired})
    for (const auto &worker : *list) {
      worker->stops = true;
      worker->work.raise();
      if (worker->thread.joinable())
        worker->thread.join();
    }
  timerWord.raise();
  stagerWord.raise();
  for (std::thread *thread : {&timer, &stager})
    if (thread->joinable())
      thread->join();
}

bool Batcher::isOfThisProcess() const { return forks.load(std::memory_order_relaxed) == forkCount; }

Status Batcher::checkUsable(uint32_t model) const {
  if (!isOfThisProcess())
    return invalid("the batcher belongs to the parent of this process: after a fork, make one of its own");
  if (model >= models.size())
    return invalid(concat("there is no model ", int32_t(model), " among ", models.size()));
  return {};
}

int32_t Batcher::version(uint32_t model) {
  std::lock_guard lock(mutex);
  return int32_t(models[model]->version);
}

std::unique_ptr<Batcher::Snapshot> Batcher::snapshot(uint32_t model) {
  auto result = std::make_unique<Snapshot>();
  std::lock_guard lock(mutex);
  result->stats = core->stats(model);
  result->queued = core->queued(model);
  result->delay = core->delay(model);
  if (const AnswerCache *cache = models[model]->cache.get()) { // hits are done without the core
    result->cacheHits = cache->hits();
    result->cacheMisses = cache->misses();
    result->stats.admitted += result->cacheHits;
    result->stats.outcomes[unsigned(Outcome::Done)] += result->cacheHits;
    result->stats.reasons[unsigned(Reason::None)] += result->cacheHits;
  }
  return result;
}

Result<uint32_t> Batcher::swap(uint32_t index, const ModelSource &source) {
  Model &model = *models[index];
  LLMC_TRY_ASSIGN(BatchSpec spec,
                  readBatchSpec(*source.plan, source.entry, model.namesDim ? model.batchDim.c_str() : nullptr));
  if (!model.spec.matches(spec))
    return invalid(concat("model '", model.name, "': inputs, outputs or batching of the new plan are not those of the old"));
  std::vector<std::unique_ptr<Worker>> made;
  for (uint32_t i = 0; i < model.instances; ++i)
    made.push_back(std::make_unique<Worker>(source, model.spec));
  Effects effects;
  std::unique_lock lock(mutex);
  if (closed || refuses)
    return Status(kRejected, "the batcher is closed");
  TimeNs now = advance();
  uint32_t version = model.version + 1;
  for (auto &worker : made) {
    Result<uint32_t> id = core->addInstance(now, {index, version, 0});
    if (!id.ok()) {
      retire(index, version);
      return std::move(id).status();
    }
    worker->id = *id;
    worker->model = index;
    worker->version = version;
    core->instanceUp(now, *id);
    if (*id == workers.size())
      workers.emplace_back();
    else if (workers[*id])
      retired.push_back(std::move(workers[*id]));
    rt::NoSignals mask;
    worker->thread = std::thread([this, worker = worker.get()] { runWorker(*worker); });
    workers[*id] = std::move(worker);
  }
  LLMC_TRY(core->swapVersion(now, index, version));
  model.version = version;
  model.source = source;
  act(effects);
  auto busy = std::partition(retired.begin(), retired.end(), [](const auto &worker) { return worker->gathering; });
  std::vector<std::unique_ptr<Worker>> ended(std::make_move_iterator(busy), std::make_move_iterator(retired.end()));
  retired.erase(busy, retired.end());
  lock.unlock();
  perform(effects);
  for (const auto &worker : ended) // they have been told to stop, and had nothing to do
    worker->thread.join();
  return version;
}

/// No instance of the version runs anything.
void Batcher::retire(uint32_t model, uint32_t version) {
  for (const auto &worker : workers)
    if (worker && !worker->stops && worker->model == model && worker->version == version) {
      core->instanceDrain(lastTime, worker->id);
      worker->stops = true;
      worker->work.raise();
    }
}

void Batcher::drain(int64_t timeoutUs) {
  Effects effects;
  {
    std::lock_guard lock(mutex);
    refuses = true;
    TimeNs now = advance();
    core->drain(now, timeoutUs < 0 || timeoutUs > kNever / kMicrosecond ? kNever : now + timeoutUs * kMicrosecond,
                /*endsRuns=*/false);
    act(effects);
  }
  perform(effects);
  for (uint32_t seen = idleWord.load(); untold != 0; seen = idleWord.load()) {
    if (untold == 0)
      return;
    idleWord.waitWhile(seen, std::chrono::nanoseconds(0));
  }
}

void Batcher::close() {
  drain(0);
  {
    std::lock_guard lock(mutex);
    if (std::exchange(closed, true))
      return;
  }
  stopThreads();
}

void Batcher::release(Batcher *batcher) {
  if (!batcher->isOfThisProcess())
    return; // its threads and locks are not here
  batcher->close();
  std::unique_lock lock(batcher->mutex);
  batcher->drop(lock);
}

/// One share less; deletes the batcher with the last one. Unlocks.
void Batcher::drop(std::unique_lock<std::mutex> &lock) {
  bool last = --shares == 0;
  lock.unlock();
  if (last)
    delete this;
}

} // namespace llmc::batch
