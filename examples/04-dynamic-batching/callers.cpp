// Many callers of one model, each with one row: first without batching, then with it.
//   callers MODEL.llmc [CALLERS [REQUESTS [SIZE]]]
// SIZE is what dims get that are neither fixed nor the batch.
#include "llmc/llmc.hpp"
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

// Inputs of one row, of ones, that live as long as the program asks.
struct Row {
  Row(const llmc::Plan &plan, int64_t size) {
    for (int i = 0; i < plan.numInputs(); ++i) {
      llmc::TensorInfo info = plan.input(i);
      std::vector<int64_t> dims;
      size_t count = 1;
      for (const llmc_dim &dim : info.dims) {
        bool isBatch = dim.value < 0 && dims.empty(); // here the batch is the first dim
        dims.push_back(dim.value >= 0 ? dim.value : isBatch ? 1 : std::clamp(size, dim.lo, dim.hi));
        count *= size_t(dims.back());
      }
      size_t width = llmc_type_size(info.type);
      std::vector<std::byte> &bytes = data.emplace_back(count * width);
      for (size_t k = 0; k < count; ++k)
        if (info.type == LLMC_TYPE_F32)
          reinterpret_cast<float *>(bytes.data())[k] = 1;
        else
          bytes[k * width] = std::byte(1); // integers, little-endian
      inputs.push_back({info.name, info.type, dims, bytes});
    }
  }
  std::vector<std::vector<std::byte>> data;
  std::vector<llmc::Input> inputs;
};

static void measure(const char *what, const llmc::Plan &plan, int maxRows, int callers, int requests, int64_t size) {
  llmc::BatchOptions options; // the artifact says which dim is the batch
  options.maxRows = maxRows;
  llmc::Batcher batcher(plan, options);
  Row row(plan, size);
  batcher.submit(row.inputs).get();
  std::atomic<int> left = requests;
  auto call = [&] {
    while (left-- > 0)
      batcher.submit(row.inputs).get().output(0);
  };
  auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < callers; ++i)
    threads.emplace_back(call);
  for (std::thread &thread : threads)
    thread.join();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  llmc_batch_stats stats = batcher.stats();
  std::printf("%-16s %10.0f %9.2f %9.2f %11.1f\n", what, requests / seconds, double(stats.total.p50_ns) / 1e6,
              double(stats.total.p99_ns) / 1e6, double(stats.rows) / double(stats.executions));
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s MODEL.llmc [CALLERS [REQUESTS [SIZE]]]\n", argv[0]);
    return 2;
  }
  int callers = argc > 2 ? std::atoi(argv[2]) : 32, requests = argc > 3 ? std::atoi(argv[3]) : 1000;
  int64_t size = argc > 4 ? std::atoll(argv[4]) : 16;
  try {
    llmc::Plan plan(argv[1]);
    std::printf("%-16s %10s %9s %9s %11s\n", "", "requests/s", "p50 ms", "p99 ms", "rows a run");
    measure("without batching", plan, 1, callers, requests, size);
    measure("with batching", plan, 0, callers, requests, size);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
