//===- Batcher.cpp - Requests that share runs ---------------------------------------------------------------------===//

#include "Batcher.h"
#include "Gil.h"
#include "Options.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace llmc::python {

/// The lists and strings that an llmc_batch_model points to.
struct Lists {
  std::vector<int32_t> sizes, preferred, fallback;
  std::optional<std::string> batchDim;
  std::vector<llmc_batch_class> classes;
};

static void readClasses(const nb::dict &options, Lists &lists) {
  std::vector<nb::dict> given;
  readOption(options, "classes", given);
  for (const nb::dict &one : given) {
    llmc_batch_class made = {};
    made.struct_size = sizeof made;
    readOption(one, "queue_timeout_us", made.queue_timeout_us);
    readOption(one, "demote", made.demote);
    readOption(one, "max_queued_requests", made.max_queued_requests);
    lists.classes.push_back(made);
  }
}

template <typename Enum> static void readEnum(const nb::dict &options, const char *name, Enum &field) {
  int number = int(field);
  readOption(options, name, number);
  field = Enum(number);
}

static llmc_batch_model readModel(const nb::dict &options, Lists &lists) {
  llmc_batch_model model = {};
  model.struct_size = sizeof model;
  readOption(options, "sizes", lists.sizes);
  readOption(options, "preferred", lists.preferred);
  readOption(options, "fallback", lists.fallback);
  readClasses(options, lists);
  if (options.contains("batch_dim"))
    readOption(options, "batch_dim", lists.batchDim.emplace());
  model.batch_dim = lists.batchDim ? lists.batchDim->c_str() : nullptr;
  model.sizes = lists.sizes.empty() ? nullptr : lists.sizes.data();
  model.num_sizes = int32_t(lists.sizes.size());
  model.preferred = lists.preferred.empty() ? nullptr : lists.preferred.data();
  model.num_preferred = int32_t(lists.preferred.size());
  model.fallback = lists.fallback.empty() ? nullptr : lists.fallback.data();
  model.num_fallback = int32_t(lists.fallback.size());
  model.classes = lists.classes.empty() ? nullptr : lists.classes.data();
  model.num_classes = int32_t(lists.classes.size());
  readEnum(options, "pad", model.pad);
  readEnum(options, "mix", model.mix);
  readEnum(options, "order", model.order);
#define READ(NAME) readOption(options, #NAME, model.NAME)
  READ(instances), READ(max_rows), READ(only_preferred), READ(split_large), READ(max_shapes), READ(delay_us);
  READ(default_priority), READ(aging_us), READ(strict), READ(max_queued_requests), READ(max_queued_rows);
  READ(max_queued_bytes), READ(admit_by_deadline), READ(weight), READ(double_buffer), READ(stateful),
      READ(breaker_min_requests);
  READ(slo_p99_us), READ(exec_p95_us), READ(cache_bytes);
#undef READ
  return model;
}

Batcher::Batcher(const std::vector<ModelOf> &models, const nb::dict &options) {
  std::vector<Lists> lists(models.size());
  std::vector<llmc_batch_model> given;
  given.reserve(models.size() + 1); // so that it is somewhere even if there are none, which the runtime refuses
  for (size_t m = 0; m < models.size(); ++m) {
    const auto &[name, runner, settings] = models[m];
    runner->guard().check("the model");
    llmc_batch_model &model = given.emplace_back(readModel(settings, lists[m]));
    model.name = name.c_str();
    model.plan = runner->loaded().get();
    model.entry = runner->entryIndex();
    std::vector<std::string> &names = inputNames.emplace_back();
    bool isAlone = model.batch_dim && !*model.batch_dim; // then requests bring all inputs
    for (int i = 0; i < runner->loaded().numInputs(model.entry); ++i)
      if (TensorInfo info = runner->loaded().input(i, model.entry); isAlone || !info.isGenerated)
        names.push_back(info.name);
    keep.push_back(runner->bytes());
  }
  llmc_batcher_options all = {};
  all.struct_size = sizeof all;
  readOption(options, "max_requests", all.max_requests);
  readOption(options, "parallel_runs", all.parallel_runs);
  readOption(options, "max_queued_bytes", all.max_queued_bytes);
  readOption(options, "spin_us", all.spin_us);
  std::string record;
  readOption(options, "record", record);
  all.record = record.empty() ? nullptr : record.c_str();
  llmc_batcher *made;
  {
    WithoutGil free;
    check(llmc_batcher_create(given.data(), int32_t(given.size()), &all, &made));
  }
  handle.reset(made);
  finisher = Finisher::start();
}

Batcher::~Batcher() {
  if (born.forked()) { // its threads are not here
    (void)handle.release();
    for (nb::object &bytes : keep)
      (void)bytes.release();
    return;
  }
  InCall call;
  WithoutGil free; // requests that end meanwhile need it
  handle.reset();
  finisher->stop();
}

std::shared_ptr<Request> Batcher::submit(const nb::list &given, nb::object future, const nb::dict &options) {
  born.check("the batcher");
  size_t model = 0;
  readOption(options, "model", model);
  const std::vector<std::string> &names = inputNames.at(model);
  if (nb::len(given) != names.size())
    throw Error(LLMC_INVALID_ARGUMENT,
                "there are " + std::to_string(nb::len(given)) + " inputs, expected " + std::to_string(names.size()));
  std::vector<Input> inputs;
  for (size_t i = 0; i < names.size(); ++i)
    inputs.push_back(readInput(given[i], names[i].c_str()));
  auto request = std::make_shared<Request>(*finisher, std::move(inputs), std::move(future));
  request->submit(handle.get(), options, request);
  return request;
}

int32_t Batcher::swap(int32_t model, const Runner &by) {
  born.check("the batcher");
  by.guard().check("the model");
  nb::object bytes = by.bytes();
  int32_t version = 0;
  {
    WithoutGil free;
    check(llmc_batcher_swap(handle.get(), model, by.loaded().get(), by.entryIndex(), &version));
  }
  keep.push_back(std::move(bytes)); // requests that name the old version still run with it
  return version;
}

void Batcher::drain(std::optional<int64_t> timeoutUs) {
  born.check("the batcher");
  WithoutGil free;
  check(llmc_batcher_drain(handle.get(), timeoutUs.value_or(-1)));
  finisher->flush();
}

void Batcher::close() {
  if (born.forked())
    return;
  WithoutGil free;
  check(llmc_batcher_close(handle.get()));
  finisher->stop();
}

static nb::tuple latency(const llmc_latency &times) {
  return nb::make_tuple(times.count, times.mean_ns, times.p50_ns, times.p90_ns, times.p95_ns, times.p99_ns,
                        times.p999_ns, times.max_ns);
}

nb::dict Batcher::stats(int32_t model) const {
  llmc_batch_stats stats = {};
  stats.struct_size = sizeof stats;
  check(llmc_batcher_stats(handle.get(), model, &stats));
  nb::dict result;
#define SAY(NAME) result[#NAME] = stats.NAME
  SAY(admitted), SAY(done), SAY(failed), SAY(rejected), SAY(expired), SAY(cancelled), SAY(late), SAY(executions);
  SAY(failed_executions), SAY(rows), SAY(executed_rows), SAY(cache_hits), SAY(cache_misses), SAY(queued_requests);
  SAY(queued_rows), SAY(queued_bytes), SAY(delay_ns);
#undef SAY
  result["queue"] = latency(stats.queue);
  result["run"] = latency(stats.run);
  result["total"] = latency(stats.total);
  return result;
}

nb::list Batcher::histogram(int32_t model, int kind) const {
  nb::list columns;
  int64_t upto, count;
  for (int32_t i = 0; llmc_batcher_histogram(handle.get(), model, llmc_latency_kind(kind), i, &upto, &count) == LLMC_OK;
       ++i)
    if (count > 0)
      columns.append(nb::make_tuple(upto, count));
  return columns;
}

void Batcher::define(nb::module_ &module) {
  nb::class_<Request>(module, "Request", "A request from its submission to its end.")
      .def("cancel", &Request::cancel, nb::call_guard<InCall>(), "Has it end unless it has ended.")
      .def("check_process", &Request::checkProcess, nb::call_guard<InCall>(),
           "Raises in a process made by fork, where it never ends.");
  nb::class_<Batcher>(module, "Batcher", nb::is_weak_referenceable(), "Requests of models that share runs.")
      .def(nb::init<const std::vector<ModelOf> &, const nb::dict &>(), nb::call_guard<InCall>(), "models"_a,
           "options"_a,
           nb::sig("def __init__(self, models: list[tuple[str, Runner, dict[str, object]]], "
                   "options: dict[str, object]) -> None"))
      .def("submit", &Batcher::submit, nb::call_guard<InCall>(), "inputs"_a, "future"_a, "options"_a,
           nb::sig("def submit(self, inputs: list[object], future: object, options: dict[str, int]) -> Request"),
           "Submits a request; future._finish hears of its end.")
      .def("swap", &Batcher::swap, nb::call_guard<InCall>(), "model"_a, "by"_a,
           "Has another artifact run the requests; its version.")
      .def(
          "version", [](const Batcher &self, int32_t model) { return llmc_batcher_version(self.handle.get(), model); },
          "model"_a, "The version with which new requests start.")
      .def("drain", &Batcher::drain, nb::call_guard<InCall>(), "timeout_us"_a.none(),
           "Refuses new requests and waits until all have ended.")
      .def("close", &Batcher::close, nb::call_guard<InCall>(),
           "Refuses new requests, rejects those that wait, and ends the threads.")
      .def("stats", &Batcher::stats, nb::call_guard<InCall>(), "model"_a,
           nb::sig("def stats(self, model: int) -> dict[str, typing.Any]"), "Counts and latencies of this moment.")
      .def("histogram", &Batcher::histogram, nb::call_guard<InCall>(), "model"_a, "kind"_a,
           nb::sig("def histogram(self, model: int, kind: int) -> list[tuple[int, int]]"),
           "Columns with values: (greatest nanoseconds, how many).")
      .def(
          "count",
          [](const Batcher &self, int32_t model, const char *reason) {
            return llmc_batcher_count(self.handle.get(), model, reason);
          },
          "model"_a, "reason"_a, "How many requests ended for a reason; -1 if there is no such.");
}

} // namespace llmc::python
