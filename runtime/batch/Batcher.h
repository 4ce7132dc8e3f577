//===- Batcher.h - Threads, tensors and a clock around the core ---------------------------------------------------===//
//
// The core and all that belongs to requests in it are guarded by one lock, which is held for the decisions alone: tensors are
// checked, copied, run and handed over outside of it. Whoever brings an event (a submission, the end of a run, a cancel)
// steps the core itself, so that a request and its answer change threads once each. One more thread keeps the time.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_BATCHER_H
#define LLMC_RUNTIME_BATCH_BATCHER_H

#include "runtime/batch/AnswerCache.h"
#include "runtime/batch/BatcherCore.h"
#include "runtime/batch/Clock.h"
#include "runtime/batch/Instance.h"
#include "runtime/batch/ShapePool.h"
#include "runtime/batch/Trace.h"
#include <mutex>

namespace llmc::batch {

/// A plan that serves a model.
struct ModelSource {
  std::shared_ptr<rt::LoadedPlan> plan;
  uint32_t entry = 0;
};

struct ModelSetup {
  ModelSource source;
  llmc_batch_model options = {}; // `plan` and `entry` are not looked at
};

class Batcher {
public:
  /// `clock`: null for the steady one. The caller has one share in it.
  static rt::Result<Batcher *> create(std::span<const ModelSetup> models, const llmc_batcher_options &options,
                                      std::unique_ptr<Clock> clock = nullptr);
  /// Gives up the caller's share: closes it, and deletes it once all requests are released.
  static void release(Batcher *batcher);

  /// `handle`: null if the call is to release itself after its callback; else set before the callback can run.
  rt::Status submit(const llmc_submission &what, llmc_request **handle);
  static Call::State wait(Call &request, int64_t timeoutUs);
  static void cancel(Call &request);
  static void release(Call &request);

  int32_t numModels() const { return int32_t(models.size()); }
  int32_t version(uint32_t model);
  rt::Result<uint32_t> swap(uint32_t model, const ModelSource &source);
  /// What has not started after `timeoutUs` is rejected; < 0: never.
  void drain(int64_t timeoutUs);
  void close();

  struct Snapshot {
    BatchStats stats;
    QueueSums queued;
    TimeNs delay = 0;
    uint64_t cacheHits = 0, cacheMisses = 0;
  };
  std::unique_ptr<Snapshot> snapshot(uint32_t model);
  const BatchSpec &spec(uint32_t model) const { return models[model]->spec; }

  /// Threads do not survive a fork: in the child, nothing here may be used.
  bool isOfThisProcess() const;
  rt::Status checkUsable(uint32_t model) const;
  /// Has the threads read the clock again, which has jumped.
  void wakeTimer() { timerWord.raise(); }

private:
  struct Model {
    Model(const BatchSpec &spec, uint32_t exactShapes) : spec(spec), shapes(this->spec, exactShapes) {}
    /// Whether those of each bucket and size are, before the first request.
    bool knowsCosts() const { return spec.isBatched() && !spec.isExact; }
    std::string name;
    const BatchSpec spec;
    ShapePool shapes;
    ModelSource source; // of the present version
    std::string batchDim;
    bool namesDim = false; // rather than the plan
    uint32_t version = 1, instances = 1, cap = 1;
    bool splitsLarge = false;
    bool doubleBuffer = false;
    uint32_t numPriorities = 1;
    std::unique_ptr<AnswerCache> cache; // null: none
  };
  /// A session with its thread, and the batch that it runs.
  struct Worker {
    Worker(const ModelSource &source, const BatchSpec &spec) : instance(source.plan, source.entry, spec) {}
    Instance instance;
    uint32_t id = 0, model = 0, version = 1;
    Job job;
    std::atomic<bool> hasJob = false;
    std::atomic<bool> stops = false; // looked at after `work` has changed
    rt::WaitWord work;
    unsigned set = 0; // of inputs: of `job`
    // The batch that is gathered while one runs, into the other set. Under the lock.
    Job staged;
    bool wantsStage = false, gathering = false, ready = false;
    uint32_t stageNumber = 0; // changes when what is to be gathered does
    bool usesStaged = false;  // `job` is what was staged
    rt::WaitWord stageEnded;
    std::thread thread;
  };
  /// What follows from a step once the lock is free.
  struct Effects {
    Call *firstEnded = nullptr, *lastEnded = nullptr;
    bool wakesTimer = false, wakesStager = false;
  };

  Batcher(const llmc_batcher_options &options, std::unique_ptr<Clock> clock);
  ~Batcher();
  rt::Status start(std::span<const ModelSetup> setups, const llmc_batcher_options &options);
  rt::Status addModel(const ModelSetup &setup, size_t numModels, BatcherConfig &config);
  rt::Status checkFallbacks(const BatcherConfig &config) const;
  void measureCosts(const Model &model, Instance &instance, ModelConfig &config) const;
  void startThreads();

  // Submit.cpp
  rt::Status checkWhat(const llmc_submission &what, const Model &model) const;
  rt::Status fill(Call &request, const llmc_submission &what);
  static rt::Status takeInputs(Call &request, const llmc_submission &what);
  static rt::Status takeOutputs(Call &request, const llmc_submission &what);
  static rt::Status findShape(Call &request);
  static int64_t paddedSize(const Call &request, uint32_t padded);
  rt::Status describeShape(const Call &request, const Model &model, Shape &shape) const;
  void useShape(Call &request);
  rt::Status makeParts(Call &request);
  rt::Status admit(Call &request, const llmc_submission &what, Effects &effects);
  void arrive(Call &request, Arrival arrival);
  rt::Status whyRefused(const Call &request, Reason reason, int32_t version) const;
  rt::Status tooManyRequests() const;

  // Requests of the pool; under the lock.
  Call *takeRequest();
  void putBack(Call &request);
  void recycle(Call &request);

  // Under the lock.
  TimeNs advance();
  void act(Effects &effects);
  void apply(const Action &action, Effects &effects);
  void settle(Call &request, const Action &action, Effects &effects);
  void settlePart(Call &part, Effects &effects);
  void end(Call &request, Effects &effects);
  void assign(const Action &action, Effects &effects);
  void describeJob(Job &job, BatchId batch, uint32_t rows);
  void pin(const Job &job);
  void unpin(const Job &job, Effects &effects);
  void stageFor(const Action &action, Effects &effects);
  void retire(uint32_t model, uint32_t version);
  void endRun(Worker &worker, const RunResult &result, Effects &effects);
  RecordedRun recordOf(const Job &job) const;

  // Without it.
  void perform(const Effects &effects);
  void tell(Call &request);
  static RecordedRequest recordOf(const Call &request);
  void runWorker(Worker &worker);
  bool awaitStage(Worker &worker);
  void runTimer();
  void runStager();
  void stage(Worker &worker, Job &job, std::unique_lock<std::mutex> &lock);
  void stopThreads();
  void drop(std::unique_lock<std::mutex> &lock);

  const std::unique_ptr<Clock> clock;
  const uint32_t maxRequests, forkCount;
  const std::chrono::nanoseconds spin;
  std::vector<std::unique_ptr<Model>> models;
  std::unique_ptr<Trace> trace;

  std::mutex mutex;
  std::unique_ptr<BatcherCore> core;
  std::vector<std::unique_ptr<Call>> requests;
  std::vector<Call *> freeRequests;
  std::vector<std::unique_ptr<Worker>> workers; // by instance of the core
  std::vector<std::unique_ptr<Worker>> retired; // their threads end
  std::vector<std::pair<uint32_t, uint32_t>> idleVersions;
  std::vector<Call *> toCancel;
  TimeNs lastTime = 0, armed = kNever;
  uint32_t shares = 1; // of handles and requests
  bool closed = false;

  std::atomic<bool> refuses = false, stopping = false;
  std::atomic<uint32_t> untold = 0; // admitted requests that have not been told
  rt::WaitWord timerWord, stagerWord, idleWord;
  std::thread timer, stager;
  bool hasStager = false;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_BATCHER_H
