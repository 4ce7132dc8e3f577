/* llmc.hpp - C++20 on top of llmc.h: handles that release themselves, errors as exceptions. Header only, so exceptions are
 * thrown and caught in the application's own code.
 *
 *   llmc::Plan plan("model.llmc");
 *   llmc::Session session(plan);
 *   session.setInput("x", {1, 3}, std::span<const float>(values));
 *   session.run();
 *   std::span<const float> y = session.output(0).as<float>();
 *
 *   llmc::Batcher batcher(plan, {.batchDim = "N"});
 *   llmc::Future future = batcher.submit({llmc::input("x", {1, 3}, std::span<const float>(values))}); // from any thread
 *   std::span<const float> row = future.get().output(0).as<float>(); */
#ifndef LLMC_LLMC_HPP
#define LLMC_LLMC_HPP

#include "llmc.h"
#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace llmc {

class Error : public std::runtime_error {
public:
  Error(llmc_status status, const std::string &message) : std::runtime_error(message), code(status) {}
  llmc_status status() const { return code; }

private:
  llmc_status code;
};

inline void check(llmc_status status) {
  if (status != LLMC_OK)
    throw Error(status, llmc_last_error());
}

/* Element type of T; bool tensors are given as unsigned char through the untyped calls. */
template <typename T> inline constexpr llmc_type typeOf = LLMC_TYPE_INVALID;
template <> inline constexpr llmc_type typeOf<float> = LLMC_TYPE_F32;
template <> inline constexpr llmc_type typeOf<double> = LLMC_TYPE_F64;
template <> inline constexpr llmc_type typeOf<int8_t> = LLMC_TYPE_I8;
template <> inline constexpr llmc_type typeOf<uint8_t> = LLMC_TYPE_U8;
template <> inline constexpr llmc_type typeOf<int16_t> = LLMC_TYPE_I16;
template <> inline constexpr llmc_type typeOf<uint16_t> = LLMC_TYPE_U16;
template <> inline constexpr llmc_type typeOf<int32_t> = LLMC_TYPE_I32;
template <> inline constexpr llmc_type typeOf<uint32_t> = LLMC_TYPE_U32;
template <> inline constexpr llmc_type typeOf<int64_t> = LLMC_TYPE_I64;
template <> inline constexpr llmc_type typeOf<uint64_t> = LLMC_TYPE_U64;

struct Options {
  int threads = 0;
  std::string cpuLevel;
  bool verifyConstants = false;
  int shapeCacheSize = 0;
  std::string deviceProfile; /* a file */
};

/* What an entry takes or gives. Views into the plan. */
struct TensorInfo {
  const char *name;
  llmc_type type;
  std::span<const llmc_dim> dims;
  bool isGenerated; /* an input that batchers make, and requests to them leave out */
};

class Plan {
public:
  explicit Plan(const char *path, const Options &options = {}) {
    llmc_plan_options raw = toRaw(options);
    llmc_plan *plan;
    check(llmc_plan_load(path, &raw, &plan));
    handle.reset(plan);
  }
  explicit Plan(const std::string &path, const Options &options = {}) : Plan(path.c_str(), options) {}
  /* `bytes` outlive the plan and its sessions. */
  explicit Plan(std::span<const std::byte> bytes, const Options &options = {}) {
    llmc_plan_options raw = toRaw(options);
    llmc_plan *plan;
    check(llmc_plan_load_memory(bytes.data(), bytes.size(), &raw, &plan));
    handle.reset(plan);
  }

  const llmc_plan *get() const { return handle.get(); }
  const char *cpuLevel() const { return llmc_plan_cpu_level(get()); }
  int threads() const { return llmc_plan_threads(get()); }
  int numEntries() const { return llmc_plan_num_entries(get()); }
  const char *entryName(int entry) const { return llmc_plan_entry_name(get(), entry); }
  const char *batchDim(int entry = 0) const { return llmc_plan_batch_dim(get(), entry); }
  int numInputs(int entry = 0) const { return llmc_plan_num_inputs(get(), entry); }
  int numOutputs(int entry = 0) const { return llmc_plan_num_outputs(get(), entry); }
  TensorInfo input(int index, int entry = 0) const { return info(llmc_plan_input, index, entry); }
  TensorInfo output(int index, int entry = 0) const { return info(llmc_plan_output, index, entry); }
  std::optional<int> findInput(const char *name, int entry = 0) const {
    int index = llmc_plan_find_input(get(), entry, name);
    return index < 0 ? std::nullopt : std::optional(index);
  }

private:
  static llmc_plan_options toRaw(const Options &options) {
    return {sizeof(llmc_plan_options), options.threads, options.verifyConstants,
            options.cpuLevel.empty() ? nullptr : options.cpuLevel.c_str(), options.shapeCacheSize,
            options.deviceProfile.empty() ? nullptr : options.deviceProfile.c_str()};
  }
  template <typename Get> TensorInfo info(Get get, int index, int entry) const {
    llmc_tensor_info raw = {};
    raw.struct_size = sizeof raw;
    check(get(handle.get(), entry, index, &raw));
    return {raw.name, raw.type, {raw.dims, size_t(raw.rank)}, raw.generated != 0};
  }

  struct Release {
    void operator()(llmc_plan *plan) const { llmc_plan_release(plan); }
  };
  std::unique_ptr<llmc_plan, Release> handle;
};

/* An output. Views into the session, until its next call. */
struct TensorView {
  const void *data;
  size_t size; /* bytes */
  llmc_type type;
  std::span<const int64_t> dims;

  /* The elements, row-major. */
  template <typename T> std::span<const T> as() const {
    if (type != typeOf<T>)
      throw Error(LLMC_INVALID_ARGUMENT, std::string("the tensor has type ") + llmc_type_name(type));
    return {static_cast<const T *>(data), size / sizeof(T)};
  }
};

class Session {
public:
  explicit Session(const Plan &plan, int entry = 0) {
    llmc_session *session;
    check(llmc_session_create(plan.get(), entry, &session));
    handle.reset(session);
  }

  llmc_session *get() const { return handle.get(); }

  /* `data` is read in place by each run, until other data is set. */
  void setInput(int index, llmc_type type, std::span<const int64_t> dims, std::span<const std::byte> data) {
    check(llmc_session_set_input(get(), index, type, dims.data(), int32_t(dims.size()), data.data(), data.size()));
  }
  template <typename T> void setInput(int index, std::span<const int64_t> dims, std::span<const T> data) {
    static_assert(typeOf<T> != LLMC_TYPE_INVALID, "no element type corresponds to T");
    setInput(index, typeOf<T>, dims, std::as_bytes(data));
  }
  template <typename T>
  void setInput(const char *name, std::initializer_list<int64_t> dims, std::span<const T> data) {
    static_assert(typeOf<T> != LLMC_TYPE_INVALID, "no element type corresponds to T");
    check(llmc_session_set_input_by_name(get(), name, typeOf<T>, dims.begin(), int32_t(dims.size()), data.data(),
                                         data.size_bytes()));
  }
  /* Runs write the output in place; with empty `data` into memory of the session again. */
  void setOutput(int index, std::span<std::byte> data) {
    check(llmc_session_set_output(get(), index, data.data(), data.size()));
  }

  void prepare() { check(llmc_session_prepare(get())); }
  void run() { check(llmc_session_run(get())); }
  void cancel() { llmc_session_cancel(get()); }

  TensorView output(int index) const {
    llmc_tensor_view raw = {};
    raw.struct_size = sizeof raw;
    check(llmc_session_output(get(), index, &raw));
    return {raw.data, raw.size, raw.type, {raw.dims, size_t(raw.rank)}};
  }
  size_t arenaSize() const { return llmc_session_arena_size(get()); }
  /* Nanoseconds of the last run on the devices of the plan's profile. */
  int64_t virtualTime() const { return llmc_session_virtual_time(get()); }
  void setProfile(llmc_profile_callback callback, void *user) {
    check(llmc_session_set_profile(get(), callback, user));
  }

private:
  struct Release {
    void operator()(llmc_session *session) const { llmc_session_release(session); }
  };
  std::unique_ptr<llmc_session, Release> handle;
};

/* An input of a submission; `dims` and `data` are the caller's. */
struct Input {
  const char *name; /* null: by its place */
  llmc_type type;
  std::vector<int64_t> dims;
  std::span<const std::byte> data;
};
template <typename T> Input input(const char *name, std::vector<int64_t> dims, std::span<const T> data) {
  static_assert(typeOf<std::remove_const_t<T>> != LLMC_TYPE_INVALID, "no element type corresponds to T");
  return {name, typeOf<std::remove_const_t<T>>, std::move(dims), std::as_bytes(data)};
}

/* A request that is under way, or has ended. Its outputs live as long as it does. Cancels itself if it goes before its end. */
class Future {
public:
  explicit Future(llmc_request *request) : handle(request) {}

  llmc_request *raw() const { return handle.get(); }
  /* False if it has not ended within that time. */
  bool waitFor(std::chrono::microseconds time) const {
    return llmc_request_wait(handle.get(), time.count()) != LLMC_PENDING;
  }
  bool isDone() const { return waitFor(std::chrono::microseconds(0)); }
  /* Waits; throws unless the request is done. */
  const Future &get() const {
    check(llmc_request_wait(handle.get(), -1));
    return *this;
  }
  TensorView output(int index) const {
    llmc_tensor_view raw = {};
    raw.struct_size = sizeof raw;
    check(llmc_request_output(handle.get(), index, &raw));
    return {raw.data, raw.size, raw.type, {raw.dims, size_t(raw.rank)}};
  }
  const char *reason() const { return llmc_request_reason(handle.get()); }
  void cancel() { llmc_request_cancel(handle.get()); }

private:
  struct Release {
    void operator()(llmc_request *request) const { llmc_request_release(request); }
  };
  std::unique_ptr<llmc_request, Release> handle;
};

/* The settings that programs change most; all others through Batcher's constructor for llmc_batch_model. */
struct BatchOptions {
  std::optional<std::string> batchDim; /* none: as the plan says; LLMC_BATCH_NONE: nothing is batched */
  int instances = 0;
  int maxRows = 0;
  std::chrono::microseconds delay{0};
  bool splitLarge = false;
  std::string record; /* a file */
};

struct SubmitOptions {
  int model = 0;
  std::chrono::microseconds deadline{0}, queueTimeout{0};
  int priority = 0;
  uint64_t stream = 0;
  bool lend = false; /* inputs are read in place, and stay as they are until the request has ended */
};

class Batcher {
public:
  explicit Batcher(const Plan &plan, const BatchOptions &options = {}) {
    llmc_batch_model model = {};
    model.struct_size = sizeof model;
    model.plan = plan.get();
    model.batch_dim = options.batchDim ? options.batchDim->c_str() : nullptr;
    model.instances = options.instances;
    model.max_rows = options.maxRows;
    model.delay_us = options.delay.count();
    model.split_large = options.splitLarge;
    llmc_batcher_options all = {};
    all.struct_size = sizeof all;
    all.record = options.record.empty() ? nullptr : options.record.c_str();
    create({&model, 1}, &all);
  }
  explicit Batcher(std::span<const llmc_batch_model> models, const llmc_batcher_options *options = nullptr) {
    create(models, options);
  }

  llmc_batcher *get() const { return handle.get(); }

  Future submit(std::span<const Input> inputs, const SubmitOptions &options = {}) {
    std::vector<llmc_batch_input> raw;
    for (const Input &input : inputs)
      raw.push_back({input.name, input.type, int32_t(input.dims.size()), input.dims.data(), input.data.data(),
                     input.data.size()});
    llmc_submission what = {};
    what.struct_size = sizeof what;
    what.model = options.model;
    what.inputs = raw.data();
    what.num_inputs = int32_t(raw.size());
    what.lend = options.lend;
    what.deadline_us = options.deadline.count();
    what.queue_timeout_us = options.queueTimeout.count();
    what.priority = options.priority;
    what.stream = options.stream;
    return submit(what);
  }
  Future submit(std::initializer_list<Input> inputs, const SubmitOptions &options = {}) {
    return submit(std::span(inputs.begin(), inputs.size()), options);
  }
  Future submit(const llmc_submission &what) {
    llmc_request *request;
    check(llmc_batcher_submit(get(), &what, &request));
    return Future(request);
  }

  llmc_batch_stats stats(int model = 0) const {
    llmc_batch_stats stats = {};
    stats.struct_size = sizeof stats;
    check(llmc_batcher_stats(get(), model, &stats));
    return stats;
  }
  int swap(const Plan &plan, int model = 0, int entry = 0) {
    int32_t version;
    check(llmc_batcher_swap(get(), model, plan.get(), entry, &version));
    return version;
  }
  void drain() { check(llmc_batcher_drain(get(), -1)); }
  void drain(std::chrono::microseconds timeout) { check(llmc_batcher_drain(get(), timeout.count())); }
  void close() { check(llmc_batcher_close(get())); }

private:
  void create(std::span<const llmc_batch_model> models, const llmc_batcher_options *options) {
    llmc_batcher *batcher;
    check(llmc_batcher_create(models.data(), int32_t(models.size()), options, &batcher));
    handle.reset(batcher);
  }

  struct Release {
    void operator()(llmc_batcher *batcher) const { llmc_batcher_release(batcher); }
  };
  std::unique_ptr<llmc_batcher, Release> handle;
};

} // namespace llmc

#endif /* LLMC_LLMC_HPP */
