//===- Batcher.h - Requests that share runs -----------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_BATCHER_H
#define LLMC_RUNTIME_PYTHON_BATCHER_H

#include "Finisher.h"
#include "Fork.h"
#include "Input.h"
#include "Runner.h"
#include <memory>

namespace llmc::python {

/// A request from its submission to its end. What changes is guarded by the GIL.
class Request {
public:
  /// `future` is told the end: _finish(status, message, reason, outputs).
  Request(Finisher &finisher, std::vector<Input> inputs, nanobind::object future)
      : finisher(finisher), inputs(std::move(inputs)), future(std::move(future)) {}
  Request(const Request &) = delete;

  /// Submits it with the options in `options`. It lives until its end, at least.
  void submit(llmc_batcher *batcher, const nanobind::dict &options, const std::shared_ptr<Request> &self);
  void cancel();
  /// Throws in a process made by fork, where it never ends.
  void checkProcess() const { born.check("the batcher"); }
  /// The end, once.
  void finish(Answer answer);

private:
  static void onEnd(void *self, llmc_request *request);

  ForkGuard born;
  Finisher &finisher;        // valid until the end
  std::vector<Input> inputs; // read in place
  nanobind::object future;   // until the end
  llmc_request *handle = nullptr;
  bool ended = false;
};

class Batcher {
public:
  /// Name, artifact, and values by the names in llmc_batch_model.
  using ModelOf = std::tuple<std::string, Runner *, nanobind::dict>;
  /// `options`: values by the names in llmc_batcher_options.
  Batcher(const std::vector<ModelOf> &models, const nanobind::dict &options);
  ~Batcher();

  static void define(nanobind::module_ &module);

private:
  std::shared_ptr<Request> submit(const nanobind::list &inputs, nanobind::object future, const nanobind::dict &options);
  int32_t swap(int32_t model, const Runner &by);
  void drain(std::optional<int64_t> timeoutUs);
  void close();
  nanobind::dict stats(int32_t model) const;
  nanobind::list histogram(int32_t model, int kind) const;

  struct Release {
    void operator()(llmc_batcher *batcher) const { llmc_batcher_release(batcher); }
  };
  ForkGuard born;
  std::vector<std::vector<std::string>> inputNames; // of each model
  std::vector<nanobind::object> keep;               // what the bytes of plans in memory are of
  std::shared_ptr<Finisher> finisher;
  std::unique_ptr<llmc_batcher, Release> handle;
};

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_BATCHER_H
