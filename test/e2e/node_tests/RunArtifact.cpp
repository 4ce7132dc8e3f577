#include "test/e2e/node_tests/RunArtifact.h"
#include "llmc/llmc.hpp"
#include "tools/common/Tensor.h"
#include <cmath>
#include <cstring>
#include <map>

namespace llmc::test {
namespace {

namespace fs = std::filesystem;
using tools::NamedTensor;

/// The data's order is that of the model's inputs and outputs, and so is that of the plan's, `places`.
std::vector<NamedTensor> readAll(const fs::path &folder, const std::string &prefix, const std::vector<TensorInfo> &places) {
  std::vector<NamedTensor> tensors;
  for (int i = 0; fs::exists(folder / (prefix + std::to_string(i) + ".pb")); ++i) {
    std::string path = folder / (prefix + std::to_string(i) + ".pb");
    auto rest = std::span(places).subspan(std::min(tensors.size(), places.size()));
    for (NamedTensor &tensor : tools::parseValueProto(tools::readFile(path), path, rest))
      tensors.push_back(std::move(tensor));
  }
  return tensors;
}

bool isFloat(llmc_type type) {
  return type == LLMC_TYPE_F32 || type == LLMC_TYPE_F16 || type == LLMC_TYPE_BF16 || type == LLMC_TYPE_F64;
}

bool agree(llmc_type type, double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected)))
    return true;
  return std::abs(found - expected) <= 1e-5 + (type == LLMC_TYPE_BF16 ? 1e-2 : 1e-3) * std::abs(expected);
}

std::string difference(const TensorView &found, const tools::Tensor &expected) {
  if (found.type != expected.type || !std::ranges::equal(found.dims, expected.dims))
    return "expected " + tools::describeType(expected.type, expected.dims) + ", got " + tools::describeType(found.type, found.dims);
  auto *bytes = static_cast<const std::byte *>(found.data);
  if (!isFloat(found.type) && (found.size == 0 || std::memcmp(bytes, expected.data.data(), found.size) == 0))
    return "";
  for (int64_t i = 0; i < expected.numElements(); ++i) {
    double a = tools::elementAt(found.type, bytes, i), b = tools::elementAt(expected.type, expected.data.data(), i);
    if (isFloat(found.type) ? !agree(found.type, a, b) : a != b)
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " + std::to_string(b);
  }
  return isFloat(found.type) ? "" : "the bytes differ";
}

std::string runAndCompare(const Plan &plan, const fs::path &dataSet) {
  std::vector<TensorInfo> inputPlaces, outputPlaces;
  for (int i = 0; i < plan.numInputs(); ++i)
    inputPlaces.push_back(plan.input(i));
  for (int i = 0; i < plan.numOutputs(); ++i)
    outputPlaces.push_back(plan.output(i));
  std::vector<NamedTensor> inputs, outputs = readAll(dataSet, "output_", outputPlaces);
  Session session(plan);
  if (!inputPlaces.empty()) // constants are no inputs of the plan
    inputs = readAll(dataSet, "input_", inputPlaces);
  if (inputPlaces.size() != inputs.size())
    return "the artifact has " + std::to_string(plan.numInputs()) + " inputs, the test " + std::to_string(inputs.size());
  for (int i = 0; i < plan.numInputs(); ++i) {
    tools::Tensor &tensor = inputs[i].tensor; // read in place
    if (tensor.type == LLMC_TYPE_INVALID)
      tensor = tools::anyTensor(inputPlaces[i]);
    session.setInput(i, tensor.type, tensor.dims, tensor.data);
  }
  session.run();
  if (size_t(plan.numOutputs()) != outputs.size())
    return "the artifact has " + std::to_string(plan.numOutputs()) + " outputs, the test " + std::to_string(outputs.size());
  for (int i = 0; i < plan.numOutputs(); ++i)
    if (std::string wrong = difference(session.output(i), outputs[i].tensor); outputs[i].tensor.type != LLMC_TYPE_INVALID && !wrong.empty())
      return "output " + std::to_string(i) + ": " + wrong;
  return "";
}

} // namespace

std::string checkArtifact(const fs::path &artifact, const fs::path &dataSet, int threads) {
  try {
    return runAndCompare(Plan(artifact.string(), Options{.threads = threads, .cpuLevel = "", .deviceProfile = ""}), dataSet);
  } catch (const std::exception &error) {
    return error.what();
  }
}

} // namespace llmc::test
