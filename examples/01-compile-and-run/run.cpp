// Runs a compiled model from C++: one float input by name, any batch, through the RAII header.
//   run-cpp MODEL.llmc INPUT BATCH
#include "llmc/llmc.hpp"
#include <cstdio>
#include <cstdlib>

static int run(const char *path, const char *input, int64_t batch) {
  llmc::Options options;
  options.threads = 1;
  llmc::Plan plan(path, options);
  llmc::Session session(plan);
  std::optional<int> index = plan.findInput(input);
  if (!index)
    throw std::runtime_error(std::string("the model has no input '") + input + "'");

  std::vector<int64_t> dims;
  size_t count = 1;
  for (const llmc_dim &dim : plan.input(*index).dims) {
    dims.push_back(dim.value >= 0 ? dim.value : batch);
    count *= dims.back();
  }
  std::vector<float> values(count, 1.0f);
  session.setInput<float>(*index, dims, values);
  session.run();

  for (int i = 0; i < plan.numOutputs(); ++i) {
    llmc::TensorView output = session.output(i);
    std::printf("%s [", plan.output(i).name);
    for (size_t k = 0; k < output.dims.size(); ++k)
      std::printf("%s%lld", k ? "," : "", static_cast<long long>(output.dims[k]));
    std::printf("]: first value %g\n", output.as<float>().front());
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL.llmc INPUT BATCH\n", argv[0]);
    return 2;
  }
  try {
    return run(argv[1], argv[2], std::atoll(argv[3]));
  } catch (const std::exception &error) { // llmc::Error has the status too
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
