//===- Runner.cpp - One entry of a plan, run by any number of threads ---------------------------------------------===//

#include "Runner.h"
#include <cstring>

namespace llmc::python {

static int findEntry(const Plan &plan, const std::string &name) {
  if (name.empty())
    return 0;
  std::string names;
  for (int i = 0; i < plan.numEntries(); ++i) {
    if (name == plan.entryName(i))
      return i;
    names += std::string(names.empty() ? "'" : ", '") + plan.entryName(i) + "'";
  }
  throw Error(LLMC_INVALID_ARGUMENT, "there is no entry '" + name + "'; there is " + names);
}

Runner::Runner(Plan given, const std::string &entryName, nanobind::object keep)
    : keep(std::move(keep)), plan(std::move(given)), entry(findEntry(*plan, entryName)) {}

Runner::~Runner() {
  if (!born.forked())
    return;
  // The end of a plan waits for its threads, which are not in this process.
  for (std::unique_ptr<Line> &line : idle)
    (void)line.release();
  (void)new Plan(std::move(*plan));
  (void)keep.release();
}

/// A line for the time of one run.
class Runner::Lease {
public:
  explicit Lease(Runner &runner) : runner(runner), line(runner.take()) {}
  ~Lease() {
    std::lock_guard lock(runner.mutex);
    runner.idle.push_back(std::move(line));
  }
  Line *operator->() const { return line.get(); }
  Line &operator*() const { return *line; }

private:
  Runner &runner;
  std::unique_ptr<Line> line;
};

std::unique_ptr<Runner::Line> Runner::take() {
  {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<Line> line = std::move(idle.back());
      idle.pop_back();
      return line;
    }
  }
  return std::make_unique<Line>(*plan, entry);
}

/// Learns the sizes of outputs if the inputs have other dims than in the run before.
void Runner::prepare(Line &line, const std::vector<Input> &inputs) const {
  std::vector<int64_t> dims;
  for (const Input &input : inputs)
    dims.insert(dims.end(), input.dims.begin(), input.dims.end());
  if (dims == line.dims && !line.outputSizes.empty())
    return;
  line.outputSizes.clear();
  line.session.prepare();
  for (int i = 0; i < plan->numOutputs(entry); ++i) {
    TensorView view = line.session.output(i);
    bool known = true;
    for (int64_t dim : view.dims)
      known &= dim >= 0;
    line.outputSizes.push_back(known ? int64_t(view.size) : -1);
  }
  line.dims = std::move(dims);
}

std::vector<Tensor> Runner::run(const std::vector<Input> &inputs) {
  Lease line(*this);
  int numOutputs = plan->numOutputs(entry);
  for (int i = 0; i < numOutputs; ++i)
    line->session.setOutput(i, {}); // what the last run wrote to is another's now, perhaps an input of this one
  for (size_t i = 0; i < inputs.size(); ++i)
    line->session.setInput(int(i), inputs[i].type, inputs[i].dims,
                           {static_cast<const std::byte *>(inputs[i].data), inputs[i].size});
  prepare(*line, inputs);
  std::vector<Block> blocks(static_cast<size_t>(numOutputs));
  for (int i = 0; i < numOutputs; ++i) {
    int64_t size = line->outputSizes[size_t(i)];
    if (size < 0)
      continue;
    blocks[size_t(i)] = allocate(size_t(size));
    line->session.setOutput(i, {blocks[size_t(i)].get(), size_t(size)});
  }
  line->session.run();

  std::vector<Tensor> results;
  for (int i = 0; i < numOutputs; ++i) {
    TensorView view = line->session.output(i);
    Block &block = blocks[size_t(i)];
    if (!block) {
      block = allocate(view.size);
      if (view.size > 0)
        std::memcpy(block.get(), view.data, view.size);
    }
    results.emplace_back(view.type, std::vector<int64_t>(view.dims.begin(), view.dims.end()), view.size,
                         std::move(block));
  }
  return results;
}

} // namespace llmc::python
