//===- BatchApi.cpp - C API: batchers -----------------------------------------------------------------------------===//

#include "runtime/api/Boundary.h"
#include "runtime/api/PlanApi.h"
#include "runtime/batch/Batcher.h"
#include <cstring>

using namespace llmc;
using namespace llmc::rt;
using batch::Batcher;
using batch::Call;

// A handle is the object.
static Batcher *of(llmc_batcher *batcher) { return reinterpret_cast<Batcher *>(batcher); }
static Batcher *of(const llmc_batcher *batcher) { return of(const_cast<llmc_batcher *>(batcher)); }
static Call *of(llmc_request *request) { return reinterpret_cast<Call *>(request); }
static const Call *of(const llmc_request *request) { return reinterpret_cast<const Call *>(request); }

/// A struct of a caller who may have been compiled with a shorter or longer one.
template <typename Struct> static Result<Struct> readStruct(const void *given, const char *what) {
  size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size)
    return Status(Code::InvalidArgument, concat("struct_size of ", what, " is not set"));
  Struct result = {};
  std::memcpy(&result, given, std::min(size, sizeof result));
  return result;
}

static Result<batch::ModelSource> readSource(const llmc_plan *plan, int32_t entry) {
  LLMC_TRY(notNull(plan, "the plan of a model"));
  if (!plan->has(entry))
    return Status(Code::InvalidArgument, concat("there is no entry ", entry, " among ", plan->inputs.size()));
  return batch::ModelSource{plan->loaded, uint32_t(entry)};
}

llmc_status llmc_batcher_create(const llmc_batch_model *models, int32_t num_models, const llmc_batcher_options *given,
                                llmc_batcher **batcher) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(batcher, "batcher"));
    *batcher = nullptr;
    LLMC_TRY(notNull(models, "models"));
    std::vector<batch::ModelSetup> setups;
    const auto *next = reinterpret_cast<const char *>(models);
    for (int32_t i = 0; i < num_models; ++i) {
      LLMC_TRY_ASSIGN(llmc_batch_model options, readStruct<llmc_batch_model>(next, "a model"));
      LLMC_TRY_ASSIGN(batch::ModelSource source, readSource(options.plan, options.entry));
      next += options.struct_size;
      setups.push_back({std::move(source), options});
    }
    llmc_batcher_options options = {};
    if (given) {
      LLMC_TRY_ASSIGN(options, readStruct<llmc_batcher_options>(given, "the options"));
    }
    LLMC_TRY_ASSIGN(Batcher * made, Batcher::create(setups, options));
    *batcher = reinterpret_cast<llmc_batcher *>(made);
    return {};
  });
}

void llmc_batcher_release(llmc_batcher *batcher) {
  if (batcher)
    Batcher::release(of(batcher));
}

llmc_status llmc_batcher_submit(llmc_batcher *batcher, const llmc_submission *given, llmc_request **request) {
  return atBoundary([&]() -> Status {
    if (request)
      *request = nullptr;
    LLMC_TRY(notNull(batcher, "batcher"));
    LLMC_TRY(notNull(given, "the submission"));
    LLMC_TRY_ASSIGN(llmc_submission what, readStruct<llmc_submission>(given, "the submission"));
    return of(batcher)->submit(what, request);
  });
}

llmc_status llmc_request_wait(llmc_request *request, int64_t timeout_us) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(request, "request"));
    if (!of(request)->batcher->isOfThisProcess())
      return of(request)->batcher->checkUsable(0);
    if (Batcher::wait(*of(request), timeout_us) == Call::Pending)
      return {Code(LLMC_PENDING), "the request has not ended yet"};
    return of(request)->result();
  });
}

static bool hasEnded(const llmc_request *request) { return request && of(request)->state.load() != Call::Pending; }

const char *llmc_request_reason(const llmc_request *request) {
  return batch::name(hasEnded(request) ? of(request)->reason : batch::Reason::None);
}

const char *llmc_request_error(const llmc_request *request) {
  bool failed = hasEnded(request) && of(request)->outcome == batch::Outcome::Failed;
  return failed ? of(request)->error.message().c_str() : "";
}

llmc_status llmc_request_output(const llmc_request *request, int32_t index, llmc_tensor_view *view) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(request, "request"));
    LLMC_TRY(notNull(view, "view"));
    const Call &from = *of(request);
    if (!hasEnded(request) || from.outcome != batch::Outcome::Done)
      return {Code::InvalidArgument, "the request is not done, so it has no outputs"};
    if (index < 0 || size_t(index) >= from.outputs.size())
      return {Code::InvalidArgument, concat("there is no output ", index, " among ", from.outputs.size())};
    const batch::BatchTensor &tensor = from.spec->outputs[size_t(index)];
    std::span<const int64_t> dims = from.outputDimsOf(tensor);
    const Call::Output &output = from.outputs[size_t(index)];
    llmc_tensor_view result = {view->struct_size,      output.data,         output.size,
                               llmc_type(tensor.type), int32_t(dims.size()), dims.data()};
    std::memcpy(view, &result, std::min(view->struct_size, sizeof result));
    return {};
  });
}

void llmc_request_cancel(llmc_request *request) {
  if (request)
    Batcher::cancel(*of(request));
}

void llmc_request_release(llmc_request *request) {
  if (request)
    Batcher::release(*of(request));
}

int32_t llmc_batcher_num_models(const llmc_batcher *batcher) { return batcher ? of(batcher)->numModels() : 0; }

int32_t llmc_batcher_version(const llmc_batcher *batcher, int32_t model) {
  return batcher && of(batcher)->checkUsable(uint32_t(model)).ok() ? of(batcher)->version(uint32_t(model)) : -1;
}

llmc_status llmc_batcher_swap(llmc_batcher *batcher, int32_t model, const llmc_plan *plan, int32_t entry,
                              int32_t *version) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(batcher, "batcher"));
    LLMC_TRY(of(batcher)->checkUsable(uint32_t(model)));
    LLMC_TRY_ASSIGN(batch::ModelSource source, readSource(plan, entry));
    LLMC_TRY_ASSIGN(uint32_t number, of(batcher)->swap(uint32_t(model), source));
    if (version)
      *version = int32_t(number);
    return {};
  });
}

llmc_status llmc_batcher_drain(llmc_batcher *batcher, int64_t timeout_us) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(batcher, "batcher"));
    LLMC_TRY(of(batcher)->checkUsable(0));
    of(batcher)->drain(timeout_us);
    return {};
  });
}

llmc_status llmc_batcher_close(llmc_batcher *batcher) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(batcher, "batcher"));
    LLMC_TRY(of(batcher)->checkUsable(0));
    of(batcher)->close();
    return {};
  });
}

static llmc_latency latencyOf(const batch::LatencyHistogram &times) {
  return {int64_t(times.count()), times.mean(),           times.percentile(5000), times.percentile(9000),
          times.percentile(9500), times.percentile(9900), times.percentile(9990), times.percentile(10000)};
}

llmc_status llmc_batcher_stats(const llmc_batcher *batcher, int32_t model, llmc_batch_stats *stats) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(batcher, "batcher"));
    LLMC_TRY(notNull(stats, "stats"));
    LLMC_TRY(of(batcher)->checkUsable(uint32_t(model)));
    std::unique_ptr<Batcher::Snapshot> now = of(batcher)->snapshot(uint32_t(model));
    const batch::BatchStats &from = now->stats;
    auto outcome = [&](batch::Outcome which) { return int64_t(from.outcomes[unsigned(which)]); };
    llmc_batch_stats result = {};
    result.struct_size = stats->struct_size;
    result.admitted = int64_t(from.admitted);
    result.done = outcome(batch::Outcome::Done);
    result.failed = outcome(batch::Outcome::Failed);
    result.rejected = outcome(batch::Outcome::Rejected);
    result.expired = outcome(batch::Outcome::Expired);
    result.cancelled = outcome(batch::Outcome::Cancelled);
    result.late = int64_t(from.late);
    result.executions = int64_t(from.executions);
    result.failed_executions = int64_t(from.failedExecutions);
    result.rows = int64_t(from.rows);
    result.executed_rows = int64_t(from.executedRows);
    result.cache_hits = int64_t(now->cacheHits);
    result.cache_misses = int64_t(now->cacheMisses);
    result.queue = latencyOf(from.queueTime);
    result.run = latencyOf(from.runTime);
    result.total = latencyOf(from.totalTime);
    result.queued_requests = now->queued.requests;
    result.queued_rows = now->queued.rows;
    result.queued_bytes = now->queued.bytes;
    result.delay_ns = now->delay;
    std::memcpy(stats, &result, std::min(stats->struct_size, sizeof result));
    return {};
  });
}

int64_t llmc_batcher_count(const llmc_batcher *batcher, int32_t model, const char *reason) {
  if (!batcher || !reason || !of(batcher)->checkUsable(uint32_t(model)).ok())
    return -1;
  for (unsigned i = 0; i < batch::kNumReasons; ++i)
    if (std::strcmp(batch::name(batch::Reason(i)), reason) == 0)
      return int64_t(of(batcher)->snapshot(uint32_t(model))->stats.reasons[i]);
  return -1;
}

llmc_status llmc_batcher_histogram(const llmc_batcher *batcher, int32_t model, llmc_latency_kind kind, int32_t index,
                                   int64_t *upto_ns, int64_t *count) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(batcher, "batcher"));
    LLMC_TRY(notNull(upto_ns, "upto_ns"));
    LLMC_TRY(notNull(count, "count"));
    LLMC_TRY(of(batcher)->checkUsable(uint32_t(model)));
    if (unsigned(kind) > LLMC_LATENCY_TOTAL || index < 0 || unsigned(index) >= batch::LatencyHistogram::kBuckets)
      return {Code::InvalidArgument, concat("there is no column ", index, " of histogram ", unsigned(kind))};
    std::unique_ptr<Batcher::Snapshot> now = of(batcher)->snapshot(uint32_t(model));
    const batch::LatencyHistogram *kinds[] = {&now->stats.queueTime, &now->stats.runTime, &now->stats.totalTime};
    *upto_ns = batch::LatencyHistogram::lastOf(unsigned(index));
    *count = int64_t(kinds[kind]->inBucket(unsigned(index)));
    return {};
  });
}
