//===- SessionApi.cpp - C API: requests ---------------------------------------------------------------------------===//

#include "runtime/api/Boundary.h"
#include "runtime/api/PlanApi.h"
#include "runtime/plan/verify/Verify.h"
#include <cstring>

using namespace llmc;
using namespace llmc::rt;

llmc_status llmc_session_create(const llmc_plan *plan, int32_t entry, llmc_session **session) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    *session = nullptr;
    LLMC_TRY(notNull(plan, "plan"));
    if (!plan->has(entry))
      return {Code::InvalidArgument, concat("there is no entry ", entry, " among ", plan->inputs.size())};
    *session = new llmc_session(*plan, entry);
    return {};
  });
}

void llmc_session_release(llmc_session *session) { delete session; }

static Result<int32_t> findTensor(const llmc_tensors &tensors, const char *name, const char *what) {
  LLMC_TRY(notNull(name, "name"));
  int32_t index = tensors.find(name);
  if (index >= 0)
    return index;
  std::string names;
  for (const llmc_tensors::Tensor &tensor : tensors.list)
    names += concat(names.empty() ? "'" : ", '", tensor.name, "'");
  return Status(Code::InvalidArgument, concat("there is no ", what, " '", name, "'; there is ", names));
}

static Status setInput(llmc_session *session, int32_t index, llmc_type type, const int64_t *dims, int32_t rank,
                       const void *data, size_t size) {
  if (rank < 0 || (rank > 0 && !dims))
    return {Code::InvalidArgument, concat("rank is ", rank, dims ? "" : " and dims is null")};
  if (!data && size > 0)
    return {Code::InvalidArgument, "data is null"};
  return session->session.setInput(uint32_t(index), plan::DType(type), {dims, size_t(rank)},
                                   {static_cast<const std::byte *>(data), size});
}

llmc_status llmc_session_set_input(llmc_session *session, int32_t index, llmc_type type, const int64_t *dims,
                                   int32_t rank, const void *data, size_t size) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    return setInput(session, index, type, dims, rank, data, size);
  });
}

llmc_status llmc_session_set_input_by_name(llmc_session *session, const char *name, llmc_type type, const int64_t *dims,
                                           int32_t rank, const void *data, size_t size) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    LLMC_TRY_ASSIGN(int32_t index, findTensor(session->inputs, name, "input"));
    return setInput(session, index, type, dims, rank, data, size);
  });
}

static Status setOutput(llmc_session *session, int32_t index, void *data, size_t size) {
  return session->session.setOutput(uint32_t(index), {static_cast<std::byte *>(data), data ? size : 0});
}

llmc_status llmc_session_set_output(llmc_session *session, int32_t index, void *data, size_t size) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    return setOutput(session, index, data, size);
  });
}

llmc_status llmc_session_set_output_by_name(llmc_session *session, const char *name, void *data, size_t size) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    LLMC_TRY_ASSIGN(int32_t index, findTensor(session->outputs, name, "output"));
    return setOutput(session, index, data, size);
  });
}

llmc_status llmc_session_prepare(llmc_session *session) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    return session->session.prepare();
  });
}

llmc_status llmc_session_run(llmc_session *session) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    return session->session.run();
  });
}

void llmc_session_cancel(llmc_session *session) {
  if (session)
    session->session.cancel();
}

static Status outputView(const llmc_session *session, int32_t index, llmc_tensor_view *view) {
  LLMC_TRY(notNull(view, "view"));
  if (index < 0 || size_t(index) >= session->outputs.list.size())
    return {Code::InvalidArgument, concat("there is no output ", index, " among ", session->outputs.list.size())};
  std::span<const int64_t> dims = session->session.outputDims(uint32_t(index));
  std::span<const std::byte> data = session->session.outputData(uint32_t(index));
  llmc_tensor_view result = {view->struct_size,    data.data(), data.size(), session->outputs.list[size_t(index)].type,
                             int32_t(dims.size()), dims.data()};
  std::memcpy(view, &result, std::min(view->struct_size, sizeof result));
  return {};
}

llmc_status llmc_session_output(const llmc_session *session, int32_t index, llmc_tensor_view *view) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    return outputView(session, index, view);
  });
}

llmc_status llmc_session_output_by_name(const llmc_session *session, const char *name, llmc_tensor_view *view) {
  return atBoundary([&]() -> Status {
    LLMC_TRY(notNull(session, "session"));
    LLMC_TRY_ASSIGN(int32_t index, findTensor(session->outputs, name, "output"));
    return outputView(session, index, view);
  });
}

int64_t llmc_session_virtual_time(const llmc_session *session) { return session ? session->session.virtualTime() : 0; }

size_t llmc_session_arena_size(const llmc_session *session) { return session ? session->session.arenaBytes() : 0; }
