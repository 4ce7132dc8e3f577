//===- Runner.h - One entry of a plan, run by any number of threads -----------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_RUNNER_H
#define LLMC_RUNTIME_PYTHON_RUNNER_H

#include "Fork.h"
#include "Input.h"
#include "llmc/llmc.hpp"
#include <mutex>

namespace llmc::python {

class Runner {
public:
  /// `entry`: its name, or "" for the first. `keep`: the Python object that the bytes of a plan in memory are of.
  Runner(Plan plan, const std::string &entry, nanobind::object keep);
  ~Runner();

  /// Neither needs nor holds the GIL.
  std::vector<Tensor> run(const std::vector<Input> &inputs);

  const Plan &loaded() const { return *plan; }
  int entryIndex() const { return entry; }
  /// What the bytes of a plan in memory are of.
  const nanobind::object &bytes() const { return keep; }
  const ForkGuard &guard() const { return born; }

private:
  /// What one run at a time uses, and what is known of its last inputs.
  struct Line {
    explicit Line(const Plan &plan, int entry) : session(plan, entry) {}
    Session session;
    std::vector<int64_t> dims;        // of all inputs, one after the other
    std::vector<int64_t> outputSizes; // bytes; -1: only the run knows
  };
  class Lease;
  std::unique_ptr<Line> take();
  void prepare(Line &line, const std::vector<Input> &inputs) const;

  ForkGuard born;
  nanobind::object keep;
  std::optional<Plan> plan;
  int entry = 0;
  std::mutex mutex;
  std::vector<std::unique_ptr<Line>> idle; // as many as there were runs at one time
};

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_RUNNER_H
