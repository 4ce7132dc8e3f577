//===- BatchCallers.cpp - Many callers of one model, each of whom knows its answers -------------------------------===//
//
//   batch-callers MODEL.llmc ROWS_DIM CALLERS REQUESTS MAX_ROWS [DIM=SIZE,SIZE,..] [INPUT=LO..HI] [INPUT!VALUE] ...
//
// In a packed model, requests have up to MAX_ROWS places of ROWS_DIM, and inputs that the batcher makes are computed
// here for the run alone: one request that begins at 0.
//
// Requests are drawn from templates with random inputs. The answer to each is known from a run alone: equal to that of
// a session to the bit, or within 1e-5 of its scale where dims are padded. Then all callers send at once, and each
// answer must be, to the bit, that of the run alone. With INPUT!VALUE, an i64 that the model refuses, one of eight
// requests has it then: they share one run, in which that request alone fails. Prints a line of counts; the exit code
// is 1 if anything is wrong.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "llmc/llmc.hpp"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <thread>

namespace llmc::test {
namespace {

constexpr size_t kTemplates = 48;

struct Range {
  double lo = -1, hi = 1;
};

struct Arguments {
  std::string path, rowsDim;
  int callers, requests, maxRows;
  std::map<std::string, std::vector<int64_t>> sizes; // per dim
  std::map<std::string, Range> ranges;               // per input
  std::string badInput;
  int64_t badValue = 0;
};

/// Inputs of a request and its answer.
struct Template {
  struct Tensor {
    llmc_type type;
    std::vector<int64_t> dims;
    std::vector<std::byte> bytes;
    bool isGenerated = false;
  };
  std::vector<Tensor> inputs, outputs;

  std::vector<Input> asInputs() const {
    std::vector<Input> list;
    for (const Tensor &input : inputs)
      if (!input.isGenerated)
        list.push_back({nullptr, input.type, input.dims, input.bytes});
    return list;
  }
};

template <typename T> void fill(Template::Tensor &tensor, size_t count, Range range, std::mt19937_64 &random) {
  std::vector<T> values(count);
  for (T &value : values)
    value = T(range.lo + (range.hi - range.lo) * double(random() >> 11) / double(1ull << 53));
  const auto *bytes = reinterpret_cast<const std::byte *>(values.data());
  tensor.bytes.assign(bytes, bytes + count * sizeof(T));
}

/// Of one request with so many places: 0 for each of them (an index), or their number, after a zero where the dim begins
/// at 2.
Template::Tensor generated(const TensorInfo &info, const std::string &rowsDim, int64_t places) {
  std::vector<int64_t> values = {places};
  if (info.dims[0].name == rowsDim)
    values.assign(size_t(places), 0);
  else if (info.dims[0].lo == 2)
    values = {0, places};
  const auto *bytes = reinterpret_cast<const std::byte *>(values.data());
  return {info.type, {int64_t(values.size())}, {bytes, bytes + values.size() * sizeof(int64_t)}, true};
}

Template draw(const Plan &plan, const Arguments &arguments, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<std::string, int64_t> chosen;
  chosen[arguments.rowsDim] = 1 + int64_t(random() % uint64_t(arguments.maxRows));
  for (const auto &[dim, sizes] : arguments.sizes)
    chosen[dim] = sizes[random() % sizes.size()];
  Template result;
  for (int i = 0; i < plan.numInputs(); ++i) {
    TensorInfo info = plan.input(i);
    if (info.isGenerated) {
      result.inputs.push_back(generated(info, arguments.rowsDim, chosen[arguments.rowsDim]));
      continue;
    }
    Template::Tensor tensor = {info.type, {}, {}};
    size_t count = 1;
    for (const llmc_dim &dim : info.dims) {
      tensor.dims.push_back(dim.value >= 0 ? dim.value : chosen.at(dim.name));
      count *= size_t(tensor.dims.back());
    }
    auto range = arguments.ranges.find(info.name);
    Range values = range == arguments.ranges.end() ? Range() : range->second;
    if (info.type == LLMC_TYPE_I64)
      fill<int64_t>(tensor, count, values, random);
    else if (info.type == LLMC_TYPE_F32)
      fill<float>(tensor, count, values, random);
    else
      throw std::runtime_error(std::string("input '") + info.name + "' is neither i64 nor f32");
    result.inputs.push_back(std::move(tensor));
  }
  return result;
}

bool equals(const Template::Tensor &tensor, const TensorView &view) {
  return std::equal(tensor.dims.begin(), tensor.dims.end(), view.dims.begin(), view.dims.end()) &&
         tensor.bytes.size() == view.size && std::memcmp(tensor.bytes.data(), view.data, view.size) == 0;
}

/// Within 1e-5 of the scale of what is expected.
bool isClose(const Template::Tensor &tensor, const TensorView &expected) {
  if (tensor.type != LLMC_TYPE_F32 || tensor.bytes.size() != expected.size)
    return false;
  const auto *values = reinterpret_cast<const float *>(tensor.bytes.data());
  std::span<const float> wanted = expected.as<float>();
  float scale = 0, error = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    scale = std::max(scale, std::fabs(wanted[i]));
    error = std::max(error, std::fabs(values[i] - wanted[i]));
  }
  return error <= 1e-5f * scale;
}

/// Runs the template alone, and in a session. False if these differ.
bool answer(Template &request, const Plan &plan, Batcher &batcher, bool isPadded) {
  Future future = batcher.submit(request.asInputs());
  future.get();
  Session session(plan);
  for (size_t i = 0; i < request.inputs.size(); ++i)
    session.setInput(int(i), request.inputs[i].type, request.inputs[i].dims, request.inputs[i].bytes);
  session.run();
  for (int i = 0; i < plan.numOutputs(); ++i) {
    TensorView view = future.output(i);
    const auto *bytes = static_cast<const std::byte *>(view.data);
    request.outputs.push_back({view.type, {view.dims.begin(), view.dims.end()}, {bytes, bytes + view.size}});
    TensorView alone = session.output(i);
    if (!equals(request.outputs.back(), alone) && !(isPadded && isClose(request.outputs.back(), alone))) {
      std::fprintf(stderr, "output %d of a request alone differs from that of a session\n", i);
      return false;
    }
  }
  return true;
}

/// Eight requests in one run, one of which the model refuses.
bool failsAlone(const Arguments &arguments, const Plan &plan, const std::vector<Template> &templates) {
  BatchOptions options;
  options.maxRows = 8;
  options.delay = std::chrono::seconds(20); // a full batch does not wait
  Batcher batcher(plan, options);
  std::vector<Template> requests(templates.begin(), templates.begin() + 8);
  Template::Tensor &input = requests[5].inputs[size_t(plan.findInput(arguments.badInput.c_str()).value())];
  std::memcpy(input.bytes.data(), &arguments.badValue, sizeof arguments.badValue);
  std::vector<Future> futures;
  for (const Template &request : requests)
    futures.push_back(batcher.submit(request.asInputs()));
  bool good = true;
  for (size_t i = 0; i < futures.size(); ++i) {
    llmc_status status = llmc_request_wait(futures[i].raw(), -1);
    if (i == 5) {
      std::printf("refused: %s, %s\n", futures[i].reason(), llmc_request_error(futures[i].raw()));
      good &= status == LLMC_DATA && std::strcmp(futures[i].reason(), "row_fault") == 0;
    } else {
      good &= status == LLMC_OK && equals(requests[i].outputs[0], futures[i].output(0));
    }
  }
  return good && batcher.stats().executions == 1;
}

int run(const Arguments &arguments) {
  Plan plan(arguments.path);
  BatchOptions options; // as the artifact says
  Batcher batcher(plan, options);
  bool isPadded = !arguments.sizes.empty();
  std::vector<Template> templates;
  bool good = true;
  for (uint64_t i = 0; i < kTemplates; ++i) {
    templates.push_back(draw(plan, arguments, i + 1));
    good &= answer(templates.back(), plan, batcher, isPadded);
  }
  llmc_batch_stats before = batcher.stats();
  std::atomic<int> next = 0, answered = 0, wrong = 0;
  auto call = [&](int caller) {
    std::mt19937_64 random(uint64_t(caller) + 1000);
    while (next++ < arguments.requests) {
      const Template &request = templates[random() % templates.size()];
      SubmitOptions submit;
      submit.lend = random() % 2 == 0;
      try {
        Future future = batcher.submit(request.asInputs(), submit);
        future.get();
        for (size_t i = 0; i < request.outputs.size(); ++i)
          wrong += !equals(request.outputs[i], future.output(int(i)));
        ++answered;
      } catch (const Error &error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
    }
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < arguments.callers; ++i)
    callers.emplace_back(call, i);
  for (std::thread &caller : callers)
    caller.join();
  llmc_batch_stats after = batcher.stats();
  int64_t runs = after.executions - before.executions, rows = after.rows - before.rows;
  int64_t done = after.done - before.done;
  std::printf("%d answered, %d wrong, %lld runs, %lld rows, %lld with padding, p50 %.2f ms, p99 %.2f ms\n", answered.load(),
              wrong.load(), (long long)runs, (long long)rows, (long long)(after.executed_rows - before.executed_rows),
              double(after.total.p50_ns) / 1e6, double(after.total.p99_ns) / 1e6);
  if (!arguments.badInput.empty())
    good &= failsAlone(arguments, plan, templates);
  return good && wrong == 0 && answered == arguments.requests && done == arguments.requests ? 0 : 1;
}

Arguments parse(int argc, char **argv) {
  Arguments result = {argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]), std::atoi(argv[5]), {}, {}, {}, 0};
  for (int i = 6; i < argc; ++i) {
    std::string text = argv[i];
    size_t equal = text.find('='), dots = text.find(".."), mark = text.find('!');
    if (mark != std::string::npos) {
      result.badInput = text.substr(0, mark);
      result.badValue = std::atoll(text.c_str() + mark + 1);
      continue;
    }
    if (equal == std::string::npos)
      throw std::runtime_error("neither DIM=SIZES nor INPUT=LO..HI: " + text);
    std::string name = text.substr(0, equal), value = text.substr(equal + 1);
    if (dots != std::string::npos) {
      result.ranges[name] = {std::atof(value.c_str()), std::atof(text.c_str() + dots + 2)};
      continue;
    }
    for (size_t at = 0; at < value.size(); at = std::min(value.find(',', at), value.size() - 1) + 1)
      result.sizes[name].push_back(std::atoll(value.c_str() + at));
  }
  return result;
}

} // namespace
} // namespace llmc::test

int main(int argc, char **argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: %s MODEL.llmc ROWS_DIM CALLERS REQUESTS MAX_ROWS [DIM=SIZE,..] [INPUT=LO..HI] [INPUT!VALUE] ...\n",
                 argv[0]);
    return 2;
  }
  try {
    return llmc::test::run(llmc::test::parse(argc, argv));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
