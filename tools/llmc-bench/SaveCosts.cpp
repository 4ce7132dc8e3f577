//===- SaveCosts.cpp - What runs of each size take, measured and kept in the artifact -----------------------------===//

#include "runtime/batch/Generated.h"
#include "runtime/plan/verify/Verify.h"
#include "tools/common/PlanRewrite.h"
#include "tools/common/Tool.h"
#include "tools/llmc-bench/Bench.h"
#include <cstdio>

namespace llmc::tools {
namespace {

using rt::concat, rt::count, rt::text;

/// The entry as the file has it: the C API does not show how requests share runs.
uint32_t findEntry(const plan::Plan &plan, const std::string &name) {
  for (uint32_t i = 0; i < plan.entries()->size(); ++i)
    if (name.empty() || text(plan.entries()->Get(i)->name()) == name)
      return i;
  badCommand("the artifact has no entry '" + name + "'");
}

/// Goes through the buckets, the last dim fastest, and the sizes of each.
class CostTable {
public:
  CostTable(const plan::EntryPoint &spec, const BenchOptions &options, uint32_t entry)
      : spec(spec), batching(*spec.batching()), options(options), plan(options.artifact, options.load),
        session(plan, int(entry)), entry(int(entry)) {}

  std::vector<uint64_t> measureAll() {
    visit(0);
    return std::move(costs);
  }
  const char *level() const { return plan.cpuLevel(); }
  int threads() const { return plan.threads(); }

private:
  void visit(uint32_t bucket) {
    if (bucket < count(batching.buckets())) {
      const plan::BucketDim *dim = batching.buckets()->Get(bucket);
      for (uint64_t edge : *dim->edges()) {
        dims.push_back(concat(text(dim->name()), "=", edge));
        visit(bucket + 1);
        dims.pop_back();
      }
      return;
    }
    for (uint64_t size : *batching.sizes())
      measureOne(size);
  }

  void measureOne(uint64_t size) {
    BenchOptions run = options;
    run.seed = run.seed.value_or(1);
    run.dims.insert(run.dims.end(), dims.begin(), dims.end());
    addSize(run, int64_t(size));
    std::vector<Tensor> inputs = makeInputs(plan, entry, run);
    generate(inputs, int64_t(size));
    setInputs(session, inputs);
    std::vector<double> times = measure(session, run);
    double median = times[times.size() / 2];
    costs.push_back(std::max<uint64_t>(uint64_t(median * 1e6 + 0.5), 1));
    for (const std::string &dim : dims)
      std::printf("%s ", dim.c_str());
    std::printf("%s: %.3f ms, %.3f per row\n", run.dims.back().c_str(), median, median / double(size));
    std::fflush(stdout);
  }

  const plan::TensorSpec &generatedInput(uint32_t i) const {
    return *spec.inputs()->Get(batching.generated()->Get(i)->input());
  }

  /// The size of the batch; of a packed one, which is one request here, also what follows from it.
  void addSize(BenchOptions &run, int64_t places) const {
    for (uint32_t i = 0; i < count(batching.generated()); ++i)
      if (plan::GeneratedKind kind = batching.generated()->Get(i)->kind(); kind != plan::GeneratedKind::INDEX)
        run.dims.push_back(
            concat(text(generatedInput(i).dim_names()->Get(0)), "=", batch::generatedSize(kind, {&places, 1})));
    run.dims.push_back(concat(text(batching.dim()), "=", places));
  }

  void generate(std::vector<Tensor> &inputs, int64_t places) const {
    for (uint32_t i = 0; i < count(batching.generated()); ++i)
      batch::writeGenerated(batching.generated()->Get(i)->kind(), generatedInput(i).dtype(), {&places, 1},
                            inputs[batching.generated()->Get(i)->input()].data.data());
  }

  const plan::EntryPoint &spec;
  const plan::Batching &batching;
  const BenchOptions &options;
  Plan plan;
  Session session;
  int entry;
  std::vector<std::string> dims; // of the bucket, as --dim has them
  std::vector<uint64_t> costs;
};

} // namespace

int saveCosts(const BenchOptions &options) {
  auto file = rt::PlanFile::open(options.artifact.c_str());
  if (!file.ok())
    badData(file.status().message());
  uint32_t entry = findEntry((*file)->plan(), options.entry);
  const plan::Batching *batching = (*file)->plan().entries()->Get(entry)->batching();
  if (!batching)
    badData("'" + options.artifact + "' does not say how requests share runs; compile it with --batch-dim");
  CostTable table(*(*file)->plan().entries()->Get(entry), options, entry);
  std::unique_ptr<plan::PlanT> changed((*file)->plan().UnPack());
  plan::BatchingT &target = *changed->entries[entry]->batching;
  target.costs = table.measureAll();
  target.cost_level = table.level();
  target.cost_threads = uint32_t(table.threads());
  rewritePlan(options.artifact, **file, *changed);
  return kGood;
}

} // namespace llmc::tools
