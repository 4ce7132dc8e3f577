//===- Inputs.h - From the command line to the inputs of a session ------------------------------------------------===//
#ifndef LLMC_TOOLS_COMMON_INPUTS_H
#define LLMC_TOOLS_COMMON_INPUTS_H

#include "llmc/llmc.hpp"
#include "tools/common/Tensor.h"
#include <CLI/CLI.hpp>
#include <map>
#include <optional>

namespace llmc::tools {

/// The options with which llmc-run and llmc-bench load an artifact and make its inputs.
struct InputOptions {
  std::string artifact;
  std::vector<std::string> inputs; // NAME=FILE or NAME=VALUE
  std::vector<std::string> dims;   // NAME=SIZE
  std::optional<uint64_t> seed;
  std::string entry;
  Options load;

  void addTo(CLI::App &app);
};

/// The entry asked for: by name, or the first.
int findEntry(const Plan &plan, const std::string &name);

/// One tensor for each input of the entry, in its order. What is not given is drawn with the seed; without one it is
/// missing, which is an error of the command line.
std::vector<Tensor> makeInputs(const Plan &plan, int entry, const InputOptions &options);

/// Gives all tensors to the session, which reads them in place.
void setInputs(Session &session, const std::vector<Tensor> &tensors);

/// As in `f32[batch 1..64,4]`.
std::string describe(const TensorInfo &info);

} // namespace llmc::tools

#endif // LLMC_TOOLS_COMMON_INPUTS_H
