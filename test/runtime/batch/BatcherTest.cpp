//===- BatcherTest.cpp - The batcher with threads and tensors, through its C and C++ API --------------------------===//

#include "test/runtime/batch/BatchPlans.h"
#include "tools/llmc-batch-sim/Recording.h"
#include <atomic>
#include <cstdio>
#include <semaphore>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace llmc::test {
namespace {

using namespace std::chrono_literals;

BatchOptions batchedIn(const char *dim) {
  BatchOptions options;
  options.batchDim = dim;
  return options;
}

TEST(Batcher, answers_one_request) {
  HeldPlan held(addReluPlan());
  Batcher batcher(held.plan, batchedIn("batch"));
  AddRequest request(1, 3);
  request.check(batcher.submit(request.inputs()));
  EXPECT_EQ(batcher.stats().done, 1);
  EXPECT_EQ(batcher.stats().executed_rows, 3);
}

TEST(Batcher, runs_what_waits_as_one_batch) {
  HeldPlan held(addReluPlan());
  BatchOptions options = batchedIn("batch");
  options.delay = 10s; // a full batch does not wait
  options.maxRows = 8;
  Batcher batcher(held.plan, options);
  std::vector<AddRequest> requests;
  std::vector<Future> futures;
  for (int i = 0; i < 4; ++i) {
    requests.emplace_back(i, 2);
    futures.push_back(batcher.submit(requests.back().inputs()));
  }
  for (size_t i = 0; i < 4; ++i)
    requests[i].check(futures[i]);
  llmc_batch_stats stats = batcher.stats();
  EXPECT_EQ(stats.executions, 1);
  EXPECT_EQ(stats.rows, 8);
  EXPECT_EQ(stats.total.count, 4);
}

/// Everybody gets the answer to what they asked, from several instances and threads.
TEST(Batcher, callers_from_many_threads) {
  HeldPlan held(addReluPlan(), 2);
  for (bool doubleBuffer : {false, true}) {
    llmc_batch_model model = modelOf(held, "batch");
    model.instances = 2;
    model.double_buffer = doubleBuffer;
    Batcher batcher(std::span(&model, 1));
    std::vector<std::thread> clients;
    for (int id = 0; id < 8; ++id)
      clients.emplace_back([&, id] {
        for (int run = 0; run < 50; ++run) {
          AddRequest first(id * 1000 + run, 1 + run % 3), second(id * 1000 + 500 + run, 1);
          SubmitOptions lend;
          lend.lend = run % 2;
          Future one = batcher.submit(first.inputs(), lend), two = batcher.submit(second.inputs(), lend);
          first.check(one);
          second.check(two);
        }
      });
    for (std::thread &client : clients)
      client.join();
    EXPECT_EQ(batcher.stats().done, 800);
    EXPECT_EQ(batcher.stats().failed, 0);
  }
}

/// The inputs are read where they are, the output written where the caller wants it.
TEST(Batcher, memory_of_the_caller) {
  HeldPlan held(addReluPlan());
  Batcher batcher(held.plan, batchedIn("batch"));
  std::vector<float> a(8, 1), b(8, 2), y(8);
  int64_t dims[] = {2, 4};
  llmc_batch_input inputs[] = {{"b", LLMC_TYPE_F32, 2, dims, b.data(), 32},
                               {"a", LLMC_TYPE_F32, 2, dims, a.data(), 32}};
  llmc_batch_output output = {nullptr, y.data(), 32};
  llmc_submission what = {};
  what.struct_size = sizeof what;
  what.inputs = inputs;
  what.num_inputs = 2;
  what.lend = 1;
  what.outputs = &output;
  what.num_outputs = 1;
  Future future = batcher.submit(what);
  EXPECT_EQ(future.get().output(0).data, y.data());
  EXPECT_EQ(y, std::vector<float>(8, 3));
  output.size = 28;
  EXPECT_THROW(batcher.submit(what), Error);
  EXPECT_STREQ(llmc_last_error(), "the memory for output 'y' has 28 bytes, it needs 32");
}

/// Rows that are not the outermost dim, and other dims that requests must agree in.
TEST(Batcher, rows_in_the_middle) {
  HeldPlan held(middleRowsPlan());
  Batcher batcher(held.plan, batchedIn("N"));
  std::vector<std::thread> clients;
  for (int id = 0; id < 4; ++id)
    clients.emplace_back([&, id] {
      for (int run = 0; run < 100; ++run) {
        int64_t n = 1 + run % 3, s = 1 + (run + id) % 5;
        std::vector<float> x(size_t(2 * n * s));
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = float(id * 100000 + run * 100) + float(i);
        Future future = batcher.submit({input("x", {2, n, s}, std::span<const float>(x))});
        std::span<const float> y = future.get().output(0).as<float>();
        ASSERT_EQ(y.size(), x.size());
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(y[i], 2 * x[i]);
      }
    });
  for (std::thread &client : clients)
    client.join();
}

/// Sizes and buckets of the plan: requests are padded to the next edge, answers cut back.
TEST(Batcher, padded_dims) {
  HeldPlan held(paddedPlan());
  BatchOptions options;
  options.delay = 5ms;
  Batcher batcher(held.plan, options);
  std::vector<std::vector<float>> xs;
  std::vector<Future> futures;
  for (int i = 0; i < 30; ++i) {
    int64_t n = 1 + i % 2, s = 1 + (i * 7) % 20;
    std::vector<float> &x = xs.emplace_back(size_t(2 * n * s));
    for (size_t k = 0; k < x.size(); ++k)
      x[k] = float(i * 1000) + float(k);
    futures.push_back(batcher.submit({input("x", {2, n, s}, std::span<const float>(x))}));
  }
  for (size_t i = 0; i < futures.size(); ++i) {
    TensorView y = futures[i].get().output(0);
    EXPECT_EQ(y.dims[2], int64_t(1 + (i * 7) % 20));
    for (size_t k = 0; k < xs[i].size(); ++k)
      ASSERT_EQ(y.as<float>()[k], 2 * xs[i][k]);
  }
  llmc_batch_stats stats = batcher.stats();
  EXPECT_LT(stats.executions, 20);
  EXPECT_GE(stats.executed_rows, stats.rows);
  EXPECT_THROW(batcher.submit({input("x", {2, 1, 65}, std::span<const float>(std::vector<float>(130)))}), Error);
  EXPECT_STREQ(llmc_last_error(), "input 'x' has 65 in dim 2, the largest bucket of 'S' is 64");
}

/// An input without rows has to be the same for all of a batch.
TEST(Batcher, shared_inputs) {
  HeldPlan held(sharedTablePlan());
  BatchOptions options = batchedIn("N");
  options.delay = 2ms;
  Batcher batcher(held.plan, options);
  std::vector<std::vector<float>> tables;
  for (int t = 0; t < 3; ++t)
    tables.emplace_back(32, float(t));
  std::vector<Future> futures;
  int64_t id = 5;
  for (int i = 0; i < 30; ++i)
    futures.push_back(batcher.submit({input("table", {8, 4}, std::span<const float>(tables[size_t(i) % 3])),
                                      input("id", {1}, std::span<const int64_t>(&id, 1))}));
  for (size_t i = 0; i < futures.size(); ++i)
    EXPECT_EQ(futures[i].get().output(0).as<float>()[3], float(i % 3));
  EXPECT_LT(batcher.stats().executions, 30);
}

/// Who asks for what can not be fails alone, and is told where.
TEST(Batcher, a_bad_row_fails_alone) {
  HeldPlan held(lookupPlan());
  BatchOptions options = batchedIn("N");
  options.delay = 10s;
  options.maxRows = 8;
  Batcher batcher(held.plan, options);
  std::vector<int64_t> ids = {0, 1, 2, 3, 4, 99, 6, 7};
  std::vector<Future> futures;
  for (int64_t &id : ids)
    futures.push_back(batcher.submit({input("id", {1}, std::span<const int64_t>(&id, 1))}));
  for (size_t i = 0; i < 8; ++i) {
    if (ids[i] != 99) {
      EXPECT_EQ(futures[i].get().output(0).as<float>()[1], float(4 * ids[i] + 1));
      continue;
    }
    EXPECT_EQ(llmc_request_wait(futures[i].raw(), -1), LLMC_DATA);
    EXPECT_NE(std::string(llmc_request_error(futures[i].raw())).find("embedding/Gather"), std::string::npos)
        << llmc_request_error(futures[i].raw());
    EXPECT_THROW(futures[i].output(0), Error);
  }
  EXPECT_EQ(batcher.stats().done, 7);
  EXPECT_EQ(batcher.stats().failed, 1);
}

TEST(Batcher, more_rows_than_a_batch) {
  HeldPlan held(addReluPlan());
  BatchOptions options = batchedIn("batch");
  options.maxRows = 4;
  AddRequest request(7, 11);
  {
    Batcher refusing(held.plan, options);
    EXPECT_THROW(refusing.submit(request.inputs()), Error);
    EXPECT_STREQ(llmc_last_error(), "the request has 11 rows, more than the 4 of a batch");
  }
  options.splitLarge = true;
  Batcher batcher(held.plan, options);
  for (int i = 0; i < 20; ++i)
    request.check(batcher.submit(request.inputs()));
  EXPECT_EQ(batcher.stats().rows, 20 * 11);
}

TEST(Batcher, a_large_request_fails_as_a_whole) {
  HeldPlan held(lookupPlan());
  BatchOptions options = batchedIn("N");
  options.maxRows = 4;
  options.splitLarge = true;
  Batcher batcher(held.plan, options);
  std::vector<int64_t> ids = {0, 1, 2, 3, 4, 5, 99, 7, 0, 1};
  Future future = batcher.submit({input("id", {10}, std::span<const int64_t>(ids))});
  EXPECT_EQ(llmc_request_wait(future.raw(), -1), LLMC_DATA);
}

/// Without a batch dim each request runs alone, with whatever dims the model takes, and gives outputs of any size.
TEST(Batcher, nothing_is_batched) {
  HeldPlan held(compressPlan());
  Batcher batcher(held.plan, batchedIn(LLMC_BATCH_NONE));
  for (int n : {1, 7, 300}) {
    std::vector<float> x(size_t(n), -1);
    x[size_t(n) / 2] = 4;
    Future future = batcher.submit({input("x", {n}, std::span<const float>(x))});
    std::span<const float> y = future.get().output(0).as<float>();
    ASSERT_EQ(y.size(), 1u);
    EXPECT_EQ(y[0], 4);
  }
}

struct Calls {
  std::atomic<int> count = 0, ok = 0;
  static void take(void *user, llmc_request *request) {
    auto *self = static_cast<Calls *>(user);
    self->ok += llmc_request_wait(request, 0) == LLMC_OK;
    ++self->count;
  }
  static void takeAndRelease(void *user, llmc_request *request) {
    take(user, request);
    llmc_request_release(request);
  }
};

TEST(Batcher, callbacks) {
  HeldPlan held(addReluPlan());
  Batcher batcher(held.plan, batchedIn("batch"));
  std::vector<float> a(4, 1);
  int64_t dims[] = {1, 4};
  llmc_batch_input inputs[] = {{nullptr, LLMC_TYPE_F32, 2, dims, a.data(), 16},
                               {nullptr, LLMC_TYPE_F32, 2, dims, a.data(), 16}};
  Calls calls;
  llmc_submission what = {};
  what.struct_size = sizeof what;
  what.inputs = inputs;
  what.num_inputs = 2;
  EXPECT_EQ(llmc_batcher_submit(batcher.get(), &what, nullptr), LLMC_INVALID_ARGUMENT);
  what.callback = Calls::take;
  what.user = &calls;
  for (int i = 0; i < 100; ++i)
    check(llmc_batcher_submit(batcher.get(), &what, nullptr)); // releases itself
  what.callback = Calls::takeAndRelease;
  llmc_request *request;
  for (int i = 0; i < 100; ++i)
    check(llmc_batcher_submit(batcher.get(), &what, &request));
  batcher.drain();
  EXPECT_EQ(calls.count, 200);
  EXPECT_EQ(calls.ok, 200);
}

/// Keeps the one instance of a batcher, which is in the callback of its first request until this goes away.
class BusyInstance {
public:
  BusyInstance(Batcher &batcher, std::span<float> x) {
    int64_t dims[] = {1, 4};
    llmc_batch_input input = {nullptr, LLMC_TYPE_F32, 2, dims, x.data(), 16};
    llmc_submission what = {};
    what.struct_size = sizeof what;
    what.inputs = &input;
    what.num_inputs = 1;
    what.callback = [](void *user, llmc_request *) {
      auto *self = static_cast<BusyInstance *>(user);
      self->entered.release();
      self->open.acquire();
      self->left.release();
    };
    what.user = this;
    check(llmc_batcher_submit(batcher.get(), &what, nullptr));
    entered.acquire();
  }
  ~BusyInstance() {
    open.release();
    left.acquire();
  }

private:
  std::binary_semaphore entered{0}, open{0}, left{0};
};

TEST(Batcher, cancels_and_limits_of_time) {
  HeldPlan held(slowPlan());
  BatchOptions options = batchedIn("N");
  options.maxRows = 1;
  Batcher batcher(held.plan, options);
  std::vector<float> x(4, 1);
  std::vector<Input> inputs = {input("x", {1, 4}, std::span<const float>(x))};
  std::vector<Future> others;
  {
    BusyInstance busy(batcher, x);
    for (int i = 0; i < 3; ++i)
      others.push_back(batcher.submit(inputs));
    Future cancelled = batcher.submit(inputs);
    cancelled.cancel();
    cancelled.cancel();
    EXPECT_EQ(llmc_request_wait(cancelled.raw(), -1), LLMC_CANCELLED);
    EXPECT_STREQ(cancelled.reason(), "cancelled");
  }
  for (const Future &future : others)
    future.get();
  batcher.submit(inputs).cancel(); // perhaps while it runs; then released
  SubmitOptions urgent;
  urgent.deadline = 1us;
  try {
    Future late = batcher.submit(inputs, urgent);
    llmc_status status = llmc_request_wait(late.raw(), -1);
    EXPECT_TRUE(status == LLMC_DEADLINE) << status;
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), LLMC_DEADLINE);
  }
}

TEST(Batcher, a_full_queue_refuses) {
  HeldPlan held(slowPlan());
  llmc_batch_model model = modelOf(held, "N");
  model.max_rows = 1;
  model.max_queued_requests = 2;
  Batcher batcher(std::span(&model, 1));
  std::vector<float> x(4, 1);
  std::vector<Future> futures;
  int refused = 0;
  {
    BusyInstance busy(batcher, x);
    for (int i = 0; i < 50; ++i) {
      try {
        futures.push_back(batcher.submit({input("x", {1, 4}, std::span<const float>(x))}));
      } catch (const Error &error) {
        EXPECT_EQ(error.status(), LLMC_REJECTED);
        ++refused;
      }
    }
  }
  EXPECT_EQ(refused, 47); // one is the instance's next, two wait
  EXPECT_EQ(llmc_batcher_count(batcher.get(), 0, "queue_full"), refused);
  for (const Future &future : futures)
    future.get();
}

/// All requests end when it closes; they can be read and released after it is gone.
TEST(Batcher, closes_under_load) {
  HeldPlan held(slowPlan(500));
  std::vector<Future> futures;
  std::vector<float> x(4, 1);
  std::vector<Input> inputs = {input("x", {1, 4}, std::span<const float>(x))};
  std::optional<Batcher> batcher;
  BatchOptions options = batchedIn("N");
  options.maxRows = 2;
  batcher.emplace(held.plan, options);
  for (int i = 0; i < 8; ++i)
    futures.push_back(batcher->submit(inputs));
  batcher->close();
  batcher->close();
  EXPECT_THROW(batcher->submit(inputs), Error);
  EXPECT_STREQ(llmc_last_error(), "the batcher is closed");
  batcher.reset();
  int done = 0, rejected = 0;
  for (const Future &future : futures) {
    llmc_status status = llmc_request_wait(future.raw(), 0);
    done += status == LLMC_OK;
    rejected += status == LLMC_REJECTED;
  }
  EXPECT_EQ(done + rejected, 8);
}

TEST(Batcher, swaps_versions_under_load) {
  HeldPlan first(addReluPlan()), second(addReluPlan()), other(lookupPlan());
  Batcher batcher(first.plan, batchedIn("batch"));
  std::atomic<bool> stop = false;
  std::vector<std::thread> clients;
  for (int id = 0; id < 3; ++id)
    clients.emplace_back([&, id] {
      for (int run = 0; !stop; ++run) {
        AddRequest request(id * 10000 + run % 1000, 1);
        request.check(batcher.submit(request.inputs()));
      }
    });
  for (int version = 2; version <= 12; ++version) {
    EXPECT_EQ(batcher.swap(version % 2 ? first.plan : second.plan), version);
    EXPECT_EQ(llmc_batcher_version(batcher.get(), 0), version);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_THROW(batcher.swap(other.plan), Error);
  stop = true;
  for (std::thread &client : clients)
    client.join();
  EXPECT_EQ(batcher.stats().failed + batcher.stats().rejected, 0);
}

/// A model that fails is stopped, and another one answers meanwhile, as large and as small requests as come.
TEST(Batcher, a_fallback_takes_over) {
  HeldPlan held(lookupPlan()), spare(lookupPlan());
  static const int32_t second[] = {1};
  llmc_batch_model models[2] = {};
  for (llmc_batch_model &model : models) {
    model.struct_size = sizeof model;
    model.plan = (&model == models ? held : spare).plan.get();
    model.batch_dim = "N";
  }
  models[0].max_rows = 8;
  models[0].breaker_min_requests = 6;
  models[0].fallback = second;
  models[0].num_fallback = 1;
  models[0].cache_bytes = 1000;
  models[1].max_rows = 4;
  Batcher batcher(models);
  std::vector<int64_t> bad = {99}, good = {3}, more = {1, 2, 3, 4, 5, 6};
  for (int i = 0; i < 100 && batcher.stats(1).executions == 0; ++i)
    llmc_request_wait(batcher.submit({input("id", {1}, std::span<const int64_t>(bad))}).raw(), -1);
  ASSERT_GT(batcher.stats(1).executions, 0);
  int64_t before = batcher.stats(0).executions;
  EXPECT_EQ(batcher.submit({input("id", {1}, std::span<const int64_t>(good))}).get().output(0).as<float>()[1], 13);
  EXPECT_EQ(batcher.submit({input("id", {1}, std::span<const int64_t>(good))}).get().output(0).as<float>()[1], 13);
  EXPECT_EQ(batcher.stats(0).executions, before);
  EXPECT_EQ(batcher.stats(0).cache_hits, 0) << "the other one's answers are not its own";
  EXPECT_EQ(batcher.stats(0).done, 2);
  EXPECT_EQ(batcher.stats(0).admitted, batcher.stats(0).done + batcher.stats(0).failed);
  EXPECT_EQ(batcher.stats(1).done, 0);
  EXPECT_THROW(batcher.submit({input("id", {6}, std::span<const int64_t>(more))}),
               Error); // more rows than the other runs
  EXPECT_STREQ(llmc_last_error(), "model 'main' does not take the request now: breaker");
}

/// Equal inputs get the kept answer, of the same version alone; a failure is not kept.
TEST(Batcher, keeps_answers) {
  HeldPlan held(lookupPlan()), second(lookupPlan());
  llmc_batch_model model = modelOf(held, "N");
  model.cache_bytes = 100; // four answers of 8 + 16 bytes
  Batcher batcher(std::span(&model, 1));
  auto ask = [&](int64_t id) {
    Future future = batcher.submit({input("id", {1}, std::span<const int64_t>(&id, 1))});
    if (id > 7)
      EXPECT_EQ(llmc_request_wait(future.raw(), -1), LLMC_DATA);
    else
      EXPECT_EQ(future.get().output(0).as<float>()[2], float(4 * id + 2));
  };
  auto hits = [&] { return batcher.stats().cache_hits; };
  for (int64_t id : {1, 2, 1, 2, 99, 99})
    ask(id);
  EXPECT_EQ(hits(), 2);
  EXPECT_EQ(batcher.stats().executions, 4);
  EXPECT_EQ(batcher.stats().done, 4);
  for (int64_t id : {3, 4, 5, 1})
    ask(id); // 1 has gone for 5
  EXPECT_EQ(hits(), 2);
  batcher.swap(second.plan);
  ask(1);
  EXPECT_EQ(hits(), 2);
  ask(1);
  EXPECT_EQ(hits(), 3);
}

/// What the simulator reads: settings, runs, and all requests, refused ones too.
TEST(Batcher, records_what_it_does) {
  HeldPlan held(slowPlan());
  std::string path = testing::TempDir() + "batch-record-" + std::to_string(getpid());
  llmc_batch_model model = modelOf(held, "N");
  model.name = "two\nlines";
  model.max_rows = 4;
  model.delay_us = 1500;
  model.max_queued_requests = 2;
  model.max_queued_rows = 8;
  llmc_batcher_options options = {};
  options.struct_size = sizeof options;
  options.record = path.c_str();
  std::vector<float> x(16, 1);
  {
    Batcher batcher(std::span(&model, 1), &options);
    std::vector<Future> futures;
    SubmitOptions soon;
    soon.deadline = 60s;
    {
      BusyInstance busy(batcher, std::span(x).first(4));
      for (int i = 0; i < 3; ++i)
        futures.push_back(batcher.submit({input("x", {4, 4}, std::span<const float>(x))}, soon));
      EXPECT_THROW(batcher.submit({input("x", {1, 4}, std::span<const float>(x).first(4))}), Error);
    }
    for (const Future &future : futures)
      future.get();
  }
  sim::Recording recording = sim::Recording::read(path);
  std::remove(path.c_str());
  ASSERT_EQ(recording.models.size(), 1u);
  const sim::Recording::Model &seen = recording.models[0];
  EXPECT_EQ(seen.name, "two lines");
  EXPECT_EQ(seen.maxRows, 4u);
  EXPECT_EQ(seen.delay, 1500 * batch::kMicrosecond);
  EXPECT_EQ(seen.queuedRows, 8u);
  ASSERT_EQ(seen.requests.size(), 5u);
  for (int i : {1, 2, 3}) {
    EXPECT_EQ(seen.requests[i].rows, 4u);
    EXPECT_EQ(seen.requests[i].deadline, 60 * batch::kSecond);
  }
  EXPECT_EQ(seen.requests[0].deadline, batch::kNever);
  EXPECT_EQ(seen.requests[4].rows, 1u);
  EXPECT_EQ(recording.latencies.size(), 4u);
  ASSERT_EQ(seen.runs.size(), 4u);
  EXPECT_EQ(seen.runs[0].rows, 1u);
  EXPECT_EQ(seen.runs[1].rows, 4u);
  EXPECT_GE(seen.runs[0].start, seen.requests[0].time + 1500 * batch::kMicrosecond) << "the delay";
  for (const sim::Recording::Run &run : seen.runs)
    EXPECT_GT(run.time, 0);
}

TEST(Batcher, a_child_is_told) {
  HeldPlan held(addReluPlan());
  Batcher batcher(held.plan, batchedIn("batch"));
  AddRequest request(1, 1);
  request.check(batcher.submit(request.inputs()));
  pid_t child = fork();
  if (child == 0) {
    llmc_submission what = {};
    what.struct_size = sizeof what;
    llmc_request *made;
    bool told = llmc_batcher_submit(batcher.get(), &what, &made) == LLMC_INVALID_ARGUMENT &&
                std::string(llmc_last_error()).find("fork") != std::string::npos;
    llmc_batcher_release(batcher.get());
    _exit(told ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  request.check(batcher.submit(request.inputs()));
}

} // namespace
} // namespace llmc::test
