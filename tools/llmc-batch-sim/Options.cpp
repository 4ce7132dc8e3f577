//===- Options.cpp - The command line as a scenario ---------------------------------------------------------------===//

#include "tools/llmc-batch-sim/Options.h"
#include "tools/llmc-batch-sim/Policy.h"
#include <sstream>

namespace llmc::sim {

using namespace llmc::batch;

void Options::addTo(CLI::App &app) {
  const CLI::Range positive(1e-6, 1e9);
  app.add_option("--arrivals", arrivals,
                 "poisson (the default), gamma (--cv), mmpp and bursts (--peak), diurnal (--period), closed "
                 "(--clients), trace (--trace)")
      ->check(CLI::IsMember({"poisson", "gamma", "mmpp", "bursts", "diurnal", "closed", "trace"}));
  app.add_option("--rate", rate, "Requests per second, on average [100]")->check(positive);
  app.add_option("--cv", spec.cv, "Coefficient of variation of the gaps")
      ->check(CLI::Range(0.05, 20.0))
      ->capture_default_str();
  app.add_option("--peak", spec.peak, "The high rate, as a multiple of the low one")
      ->check(CLI::Range(1.0, 1e4))
      ->capture_default_str();
  app.add_option("--period", spec.period, "Seconds of a day")->check(positive)->capture_default_str();
  app.add_option("--clients", spec.clients, "Clients that wait for their answers")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--think-ms", spec.thinkMs, "What a client waits before it asks again, on average")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app.add_option("--trace", trace, "File with a line `MICROSECONDS [ROWS]` for each request");
  app.add_option("--rows-per-request", rowsPerRequest, "Rows of a request, uniform from 1")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--classes", classes, "Priority classes, of which requests have any")
      ->check(CLI::Range(1u, kMaxClasses))
      ->capture_default_str();
  const CLI::Range percent(0.0, 100.0);
  app.add_option("--poison-percent", poison, "Of requests, with which a run fails")->check(percent);
  app.add_option("--fail-percent", fail, "Of runs that fail for no reason")->check(percent);
  app.add_option("--cancel-percent", cancel, "Of requests that are cancelled, some time (--cancel-after-ms) after they came")
      ->check(percent);
  app.add_option("--cancel-after-ms", cancelAfterMs, "On average")->check(CLI::Range(0.0, 1e9))->capture_default_str();
  app.add_option("--requests", requests, "How many")->check(CLI::Range(1, 100000000))->capture_default_str();
  app.add_option("--seed", seed, "Of all chance")->capture_default_str();

  app.add_option("--sizes", sizes, "Row counts that run")->delimiter(',')->capture_default_str();
  app.add_option("--fixed-ms", fixedMs, "Milliseconds of any run")->check(CLI::Range(0.0, 1e6))->capture_default_str();
  app.add_option("--row-ms", rowMs, "Milliseconds of a run for each of its rows")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--costs", costs, "File with a line `ROWS MILLISECONDS` for each size, instead of the three above");
  app.add_option("--artifact", artifact, "An artifact with sizes and their costs (llmc-bench --save-costs), instead of the four above")
      ->excludes("--costs");
  app.add_option("--bucket", bucket, "NAME=EDGE: which bucket's costs to take from the artifact (repeatable; default: the last edge)")
      ->needs("--artifact");
  app.add_option("--replay", replay,
                 "What a batcher wrote to `record`: its requests, at their times (unless --rate or --arrivals is "
                 "given), what its runs took, "
                 "and the settings that are not given")
      ->excludes("--costs", "--artifact", "--trace");
  app.add_option("--jitter", jitter,
                 "How run times scatter: none, lognormal (--sigma), exponential; with --replay, as they did")
      ->check(CLI::IsMember({"none", "lognormal", "exponential"}));
  app.add_option("--sigma", sigma, "Of the log-normal")->check(CLI::Range(0.0, 3.0))->capture_default_str();
  app.add_option("--wake-ms", wakeMs, "What a run takes more if nothing ran before it: llmc-bench with --pause-ms, less without")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--instances", instances, "Runs at one time [1]")->check(CLI::Range(1, 1024));
  app.add_option("--also", others, "A further model on the same device, RATE:FIXED_MS:ROW_MS[:WEIGHT]");

  app.add_option("--policy", policy, "ours, or for comparison none, fixed, triton, tf, aimd")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kPolicyNames), std::end(kPolicyNames))))
      ->capture_default_str();
  app.add_option("--delay-ms", delayMs, "What a request may wait for others [0]")->check(CLI::Range(0.0, 1e6));
  app.add_option("--max-rows", maxRows, "Of a batch; 0, the default: the largest size");
  app.add_option("--preferred", preferred, "Sizes that count as full")->delimiter(',');
  app.add_option("--pad", pad, "pad-up, batch-down or min-cost")
      ->check(CLI::IsMember({"pad-up", "batch-down", "min-cost"}))
      ->capture_default_str();
  app.add_option("--mix", mix, "fill-padding, merge or isolate: classes in one batch")
      ->check(CLI::IsMember({"fill-padding", "merge", "isolate"}))
      ->capture_default_str();
  app.add_option("--aging-ms", agingMs, "Head start of a class over the next")
      ->check(CLI::Range(0.0, 8e7))
      ->capture_default_str();
  app.add_option("--queue-rows", queueRows, "That may wait; 0, the default: four full batches per instance");
  app.add_option("--slo-ms", sloMs, "By when answers are good")->check(CLI::Range(0.0, 1e6))->capture_default_str();
  app.add_flag("--deadlines", deadlines, "Requests bring the SLO as their deadline");

  app.add_flag("--json", json, "Print one JSON object");
  app.add_flag("--recommend", recommend, "Search settings for this load and --slo-ms, and explain the choice");
  app.add_option("--plot", plot, "Write a chart of --measure over the rate, as SVG");
  app.add_option("--sweep", sweep,
                 "What the lines of the chart are: delay or policy; with --recommend what it compares")
      ->check(CLI::IsMember({"delay", "policy"}));
  app.add_option("--measure", measure, "p50, p99 or goodput")
      ->check(CLI::IsMember({"p50", "p99", "goodput"}))
      ->capture_default_str();
}

template <typename Enum> static Enum choose(const std::string &value, std::initializer_list<const char *> names) {
  int i = 0;
  for (const char *name : names) {
    if (value == name)
      return Enum(i);
    ++i;
  }
  tools::badCommand("unknown choice '" + value + "'");
}

static void addModel(Scenario &scenario, const std::string &name, const ModelLoad &load) {
  ModelConfig model;
  model.name = name;
  model.variants = load.costs[0].rows;
  model.buckets = {BucketConfig{load.costs[0].cost, 0}};
  model.breaker.minRequests = 0;
  scenario.config.models.push_back(model);
  scenario.loads.push_back(load);
}

void Options::addOther(Scenario &scenario, const std::string &text) const {
  std::istringstream words(text);
  std::vector<double> numbers;
  for (std::string word; std::getline(words, word, ':');)
    numbers.push_back(std::strtod(word.c_str(), nullptr));
  if (numbers.size() < 3 || numbers.size() > 4 || !(numbers[0] > 0) || !(numbers[1] + numbers[2] > 0))
    tools::badCommand("--also " + text + ": expected RATE:FIXED_MS:ROW_MS[:WEIGHT]");
  ModelLoad load;
  load.arrivals.rate = numbers[0];
  load.costs = {CostTable::fromFormula(scenario.loads[0].costs[0].rows, numbers[1], numbers[2])};
  addModel(scenario, "model " + std::to_string(scenario.loads.size() + 1), load);
  scenario.config.models.back().weight = numbers.size() == 4 ? uint32_t(numbers[3]) : 1;
  scenario.config.models.back().maxQueuedRows = scenario.config.models[0].maxQueuedRows;
}

ArrivalSpec Options::arrivalSpec() const {
  ArrivalSpec result = spec;
  result.kind = choose<ArrivalKind>(arrivals.value_or("poisson"),
                                    {"poisson", "gamma", "mmpp", "bursts", "diurnal", "closed", "trace"});
  result.rate = rate.value_or(result.rate);
  if (result.kind != ArrivalKind::Trace)
    return result;
  if (trace.empty())
    tools::badCommand("--arrivals trace needs --trace");
  result.trace = readTrace(trace);
  return result;
}

ModelLoad Options::loadAsTold() const {
  ModelLoad load;
  load.arrivals = arrivalSpec();
  load.requests = load.arrivals.trace;
  load.costs = {!artifact.empty() ? CostTable::fromArtifact(artifact, bucket)
                : costs.empty()   ? CostTable::fromFormula(sizes, fixedMs, rowMs)
                                  : CostTable::fromFile(costs)};
  load.maxRowsPerRequest = rowsPerRequest;
  load.classes = classes;
  return load;
}

/// All models of the recording, with the settings that they had.
void Options::addRecorded(Scenario &scenario, const Recording &recording) const {
  scenario.config.devices[0].slots = recording.parallelRuns;
  for (const Recording::Model &recorded : recording.models) {
    ModelLoad load = loadOf(recorded);
    scenario.config.models.push_back(configOf(recorded, load));
    if (arrivals || rate)
      load.arrivals = arrivalSpec();
    if (load.requests->empty())
      load.requests = nullptr;
    scenario.loads.push_back(std::move(load));
    addInstances(scenario, recorded.instances);
  }
}

/// Of the model that was added last.
void Options::addInstances(Scenario &scenario, uint32_t count) const {
  for (uint32_t i = 0; i < instances.value_or(count); ++i)
    scenario.config.instances.push_back({uint32_t(scenario.loads.size()) - 1, 1, 0});
}

/// What the command line says of the first model.
void Options::set(ModelLoad &load, ModelConfig &model) const {
  if (jitter)
    load.jitter = choose<Jitter>(*jitter, {"none", "lognormal", "exponential"});
  load.sigma = sigma;
  load.wake = TimeNs(wakeMs * double(kMillisecond));
  load.poisonShare = poison / 100;
  load.failShare = fail / 100;
  load.cancelShare = cancel / 100;
  load.cancelAfterMs = cancelAfterMs;
  if (poison + fail > 0)
    model.breaker = {};
  model.maxRows = maxRows.value_or(model.maxRows);
  if (delayMs)
    model.delay = TimeNs(*delayMs * double(kMillisecond));
  model.maxQueuedRows = queueRows.value_or(model.maxQueuedRows);
  model.preferredRows = preferred;
  model.pad = choose<PadPolicy>(pad, {"pad-up", "batch-down", "min-cost"});
  model.mix = choose<MixPolicy>(mix, {"fill-padding", "merge", "isolate"});
  model.classes.resize(std::max<size_t>(model.classes.size(), classes));
  model.agingQuantum = TimeNs(agingMs * double(kMillisecond));
}

Scenario Options::scenario(const Recording *recording) const {
  Scenario scenario;
  scenario.policy = policy;
  scenario.slo = TimeNs(sloMs * double(kMillisecond));
  scenario.deadlines = deadlines;
  scenario.requests = requests;
  scenario.seed = seed;
  if (policy != "ours" && poison + fail + cancel > 0)
    tools::badCommand("only the policy 'ours' knows failures and cancels");
  if (recording) {
    addRecorded(scenario, *recording);
  } else {
    addModel(scenario, "model 1", loadAsTold());
    addInstances(scenario, 1);
  }
  set(scenario.loads[0], scenario.config.models[0]);
  for (const std::string &other : others) {
    addOther(scenario, other);
    addInstances(scenario, 1);
  }
  scenario.config.devices[0].slots = instances.value_or(scenario.config.devices[0].slots);
  scenario.config.maxRequests = 1 << 16;
  if (policy != "ours" && scenario.loads[0].costs.size() > 1)
    tools::badCommand("only the policy 'ours' knows buckets, of which the recording has more than one");
  if (rt::Status status = validate(scenario.config); !status.ok())
    tools::badCommand(status.message());
  return scenario;
}

} // namespace llmc::sim
