//===- Call.cpp - A request of the batcher, with its tensors ---------------------------------------------------===//

#include "runtime/batch/Call.h"
#include "runtime/batch/RowBlocks.h"

namespace llmc::batch {

using rt::Status;

Status Call::placeOutput(uint32_t index) {
  const BatchTensor &tensor = spec->outputs[index];
  Output &output = outputs[index];
  output.size = bytesOf(outputDimsOf(tensor), tensor.elementSize);
  if (output.user) {
    if (output.userBytes < output.size)
      return {rt::Code::InvalidArgument, rt::concat("the memory for output '", tensor.name, "' has ", output.userBytes,
                                                    " bytes, it needs ", output.size)};
    output.data = output.user;
    return {};
  }
  LLMC_TRY(output.own.reserve(std::max<size_t>(output.size, 1)));
  output.data = output.own.data();
  return {};
}

Status Call::result() const {
  switch (outcome) {
  case Outcome::Done:
    return {};
  case Outcome::Failed:
    if (reason == Reason::BatchAborted)
      return {kRejected, "a request that shared its run has failed, and too many do to find out which: worth a retry"};
    return error.ok() ? Status(rt::Code::Internal, "the run failed") : error;
  case Outcome::Rejected:
    return {kRejected, reason == Reason::QueueTimeout ? "it has waited too long"
                       : reason == Reason::Evicted    ? "it gave way to a more urgent request"
                       : reason == Reason::Draining   ? "the batcher is closed"
                       : reason == Reason::Breaker    ? "the model fails too often and is stopped for a while"
                                                      : name(reason)};
  case Outcome::Expired:
    return {kDeadline, "its deadline has passed, or could not be kept"};
  case Outcome::Cancelled:
    return {rt::Code::Cancelled, "it was cancelled"};
  }
  return {};
}

void Call::reset() {
  for (Output &output : outputs) {
    output.data = output.user = nullptr;
    output.size = output.userBytes = 0;
  }
  rows = 1;
  firstRow = 0;
  bytes = 0;
  lends = releasesItself = false;
  callback = nullptr;
  user = nullptr;
  whole = nextPart = nextEnded = nullptr;
  partsLeft = 0;
  bucket = cacheSlot = kNone;
  usesShape = refused = isShared = false;
  handle = {};
  pins = 0;
  settled = held = released = late = false;
  outcome = Outcome::Done;
  reason = Reason::None;
  error = Status();
  deadline = kNever;
  priority = 0;
  state.reset(Pending);
}

} // namespace llmc::batch
