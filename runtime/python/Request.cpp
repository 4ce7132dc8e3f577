//===- Request.cpp - A request from its submission to its end -----------------------------------------------------===//

#include "Batcher.h"
#include "Options.h"
#include <cstring>

namespace nb = nanobind;

namespace llmc::python {

static Tensor copyOutput(const llmc_request *request, int32_t index) {
  llmc_tensor_view view = {};
  view.struct_size = sizeof view;
  check(llmc_request_output(request, index, &view));
  Block block = allocate(view.size);
  if (view.size > 0)
    std::memcpy(block.get(), view.data, view.size);
  return Tensor(view.type, {view.dims, view.dims + view.rank}, view.size, std::move(block));
}

/// On a thread of the batcher's, or one that is in a call of it.
void Request::onEnd(void *self, llmc_request *request) {
  std::unique_ptr<std::shared_ptr<Request>> own(static_cast<std::shared_ptr<Request> *>(self));
  Answer answer;
  try {
    answer.status = llmc_request_wait(request, 0);
    if (answer.status != LLMC_OK)
      answer.message = llmc_last_error();
    answer.reason = llmc_request_reason(request);
    llmc_tensor_view view = {};
    view.struct_size = sizeof view;
    for (int32_t i = 0; answer.status == LLMC_OK && llmc_request_output(request, i, &view) == LLMC_OK; ++i)
      answer.outputs.push_back(copyOutput(request, i));
  } catch (const std::bad_alloc &) {
    answer = {LLMC_OUT_OF_MEMORY, "memory for the outputs is not there", "oom", {}};
  }
  Finisher &finisher = (*own)->finisher;
  finisher.push(std::move(*own), std::move(answer));
}

void Request::finish(Answer answer) {
  nb::object told = std::move(future);
  ended = true;
  inputs.clear();
  llmc_request_release(handle);
  nb::list outputs;
  for (Tensor &output : answer.outputs)
    outputs.append(nb::cast(std::move(output)));
  try {
    told.attr("_finish")(int(answer.status), answer.message, answer.reason, outputs);
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("the end of a request");
  }
}

void Request::submit(llmc_batcher *batcher, const nb::dict &options, const std::shared_ptr<Request> &self) {
  std::vector<llmc_batch_input> places;
  for (const Input &input : inputs)
    places.push_back({nullptr, input.type, int32_t(input.dims.size()), input.dims.data(), input.data, input.size});
  llmc_submission what = {};
  what.struct_size = sizeof what;
  what.num_inputs = int32_t(places.size());
  what.inputs = places.data();
  what.lend = 1;
  readOption(options, "model", what.model);
  readOption(options, "version", what.version);
  readOption(options, "deadline_us", what.deadline_us);
  readOption(options, "queue_timeout_us", what.queue_timeout_us);
  readOption(options, "priority", what.priority);
  readOption(options, "stream", what.stream);
  auto own = std::make_unique<std::shared_ptr<Request>>(self);
  what.callback = &Request::onEnd;
  what.user = own.get();
  check(llmc_batcher_submit(batcher, &what, &handle));
  (void)own.release(); // onEnd has it
}

void Request::cancel() {
  checkProcess();
  if (!ended)
    llmc_request_cancel(handle);
}

} // namespace llmc::python
