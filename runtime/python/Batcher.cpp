//===- Batcher.cpp - Requests that share runs
//-----------------------------------------------------------------------===//

#include "Batcher.h"
#include "Gil.h"
#include "Options.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace llmc::python {

/// The lists and strings that an llmc_batch_model points to.
struct Lists {
  std::vector<int32_t> sizes, preferred;
  std::optional<std::string> batchDim;
  std::string record;
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
  readClasses(options, lists);
  if (options.contains("batch_dim"))
    readOption(options, "batch_dim", lists.batchDim.emplace());
  model.batch_dim = lists.batchDim ? lists.batchDim->c_str() : nullptr;
  model.sizes = lists.sizes.empty() ? nullptr : lists.sizes.data();
  model.num_sizes = int32_t(lists.sizes.size());
  model.preferred = lists.preferred.empty() ? nullptr : lists.preferred.data();
  model.num_preferred = int32_t(lists.preferred.size());
  model.classes = lists.classes.empty() ? nullptr : lists.classes.data();
  model.num_classes = int32_t(lists.classes.size());
  readEnum(options, "pad", model.pad);
  readEnum(options, "mix", model.mix);
  readEnum(options, "order", model.order);
#define READ(NAME) readOption(options, #NAME, model.NAME)
  READ(instances), READ(max_rows), READ(only_preferred), READ(split_large), READ(max_shapes), READ(delay_us);
  READ(default_priority), READ(aging_us), READ(strict), READ(max_queued_requests), READ(max_queued_rows);
  READ(max_queued_bytes), READ(admit_by_deadline), READ(double_buffer), READ(stateful), READ(breaker_min_requests);
  READ(slo_p99_us), READ(exec_p95_us), READ(cache_bytes);
#undef READ
  return model;
}

Batcher::Batcher(const Runner &runner, const nb::dict &options) {
  runner.guard().check("the model");
  Lists lists;
  llmc_batch_model model = readModel(options, lists);
  model.plan = runner.loaded().get();
  model.entry = runner.entryIndex();
  llmc_batcher_options all = {};
  all.struct_size = sizeof all;
  readOption(options, "max_requests", all.max_requests);
  readOption(options, "spin_us", all.spin_us);
  readOption(options, "record", lists.record);
  all.record = lists.record.empty() ? nullptr : lists.record.c_str();
  for (int i = 0; i < runner.loaded().numInputs(model.entry); ++i)
    inputNames.push_back(runner.loaded().input(i, model.entry).name);
  llmc_batcher *made;
  {
    WithoutGil free;
    check(llmc_batcher_create(&model, 1, &all, &made));
  }
  handle.reset(made);
  finisher = Finisher::start();
}

Batcher::~Batcher() {
  if (born.forked()) { // its threads are not here
    (void)handle.release();
    return;
  }
  InCall call;
  WithoutGil free; // requests that end meanwhile need it
  handle.reset();
  finisher->stop();
}

std::shared_ptr<Request> Batcher::submit(const nb::list &given, nb::object future, const nb::dict &options) {
  born.check("the batcher");
  if (nb::len(given) != inputNames.size())
    throw Error(LLMC_INVALID_ARGUMENT, "there are " + std::to_string(nb::len(given)) + " inputs, expected " +
                                           std::to_string(inputNames.size()));
  std::vector<Input> inputs;
  for (size_t i = 0; i < inputNames.size(); ++i)
    inputs.push_back(readInput(given[i], inputNames[i].c_str()));
  auto request = std::make_shared<Request>(*finisher, std::move(inputs), std::move(future));
  request->submit(handle.get(), options, request);
  return request;
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

nb::dict Batcher::stats() const {
  llmc_batch_stats stats = {};
  stats.struct_size = sizeof stats;
  check(llmc_batcher_stats(handle.get(), 0, &stats));
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

nb::list Batcher::histogram(int kind) const {
  nb::list columns;
  int64_t upto, count;
  for (int32_t i = 0; llmc_batcher_histogram(handle.get(), 0, llmc_latency_kind(kind), i, &upto, &count) == LLMC_OK;
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
  nb::class_<Batcher>(module, "Batcher", nb::is_weak_referenceable(), "Requests of one model that share runs.")
      .def(nb::init<const Runner &, const nb::dict &>(), nb::call_guard<InCall>(), "runner"_a, "options"_a,
           nb::sig("def __init__(self, runner: Runner, options: dict[str, object]) -> None"))
      .def("submit", &Batcher::submit, nb::call_guard<InCall>(), "inputs"_a, "future"_a, "options"_a,
           nb::sig("def submit(self, inputs: list[object], future: object, options: dict[str, int]) -> Request"),
           "Submits a request; future._finish hears of its end.")
      .def("drain", &Batcher::drain, nb::call_guard<InCall>(), "timeout_us"_a.none(),
           "Refuses new requests and waits until all have ended.")
      .def("close", &Batcher::close, nb::call_guard<InCall>(),
           "Refuses new requests, rejects those that wait, and ends the threads.")
      .def("stats", &Batcher::stats, nb::call_guard<InCall>(), nb::sig("def stats(self) -> dict[str, typing.Any]"),
           "Counts and latencies of this moment.")
      .def("histogram", &Batcher::histogram, nb::call_guard<InCall>(), "kind"_a,
           nb::sig("def histogram(self, kind: int) -> list[tuple[int, int]]"),
           "Columns with values: (greatest nanoseconds, how many).")
      .def(
          "count",
          [](const Batcher &self, const char *reason) { return llmc_batcher_count(self.handle.get(), 0, reason); },
          "reason"_a, "How many requests ended for a reason; -1 if there is no such.");
}

} // namespace llmc::python
