//===- Check.cpp - Runs an artifact on an ONNX test folder --------------------------------------------------------===//

#include "tools/llmc-run/Check.h"
#include "tools/common/Inputs.h"
#include "tools/common/Tool.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>

namespace llmc::tools {
namespace {

namespace fs = std::filesystem;

/// The folders with data in the order of their names: `folder` itself if it has input_0.pb or output_0.pb.
std::vector<fs::path> dataSets(const std::string &folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    badData("can not open '" + folder + "': it is not a folder");
  std::vector<fs::path> sets;
  if (fs::exists(fs::path(folder) / "output_0.pb"))
    sets.push_back(folder);
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_"))
      sets.push_back(entry.path());
  if (sets.empty())
    badData("'" + folder + "' has no test_data_set_*");
  std::sort(sets.begin(), sets.end());
  return sets;
}

/// input_0.pb, input_1.pb ... or output_*, up to the first that does not exist. `places` are the artifact's.
std::vector<NamedTensor> readSet(const fs::path &set, const char *prefix, const std::vector<TensorInfo> &places) {
  std::vector<NamedTensor> result;
  for (int i = 0;; ++i) {
    fs::path path = set / (prefix + std::to_string(i) + ".pb");
    if (!fs::exists(path))
      return result;
    auto rest = std::span(places).subspan(std::min(result.size(), places.size()));
    for (NamedTensor &tensor : parseValueProto(readFile(path.string()), path.string(), rest))
      result.push_back(std::move(tensor));
  }
}

/// By name where the names match, else by position.
template <typename Find>
int indexOf(const NamedTensor &tensor, size_t position, int count, Find find, const char *what) {
  int index = tensor.name.empty() ? -1 : find(tensor.name.c_str());
  if (index < 0)
    index = int(position);
  if (index >= count)
    badData(std::string(what) + " " + std::to_string(position) + " of the test ('" + tensor.name +
            "') is not one of the artifact's " + std::to_string(count));
  return index;
}

double difference(double found, double expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected)))
    return 0;
  double result = std::fabs(found - expected);
  return std::isnan(result) ? INFINITY : result;
}

std::string indexText(std::span<const int64_t> dims, int64_t flat) {
  std::string text;
  for (size_t d = dims.size(); d-- > 0; flat /= dims[d])
    text = std::to_string(flat % dims[d]) + (text.empty() ? "" : ",") + text;
  return "[" + text + "]";
}

} // namespace

bool compare(const std::string &name, const TensorView &found, const Tensor &expected, const Tolerance &tolerance) {
  std::cout << name << ": ";
  if (found.type != expected.type ||
      !std::equal(found.dims.begin(), found.dims.end(), expected.dims.begin(), expected.dims.end())) {
    std::cout << "DIFFERS: found " << describeType(found.type, found.dims) << ", expected "
              << describeType(expected.type, expected.dims) << '\n';
    return false;
  }
  auto *data = static_cast<const std::byte *>(found.data);
  int64_t n = expected.numElements(), first = -1, wrong = 0;
  double max = 0, sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    double want = elementAt(expected.type, expected.data.data(), i), got = elementAt(found.type, data, i);
    double error = difference(got, want);
    max = std::max(max, error);
    sum += error;
    if (error > tolerance.atol + tolerance.rtol * std::fabs(want) || (error > 0 && !std::isfinite(want))) {
      first = first < 0 ? i : first;
      ++wrong;
    }
  }
  std::ostringstream line;
  line.precision(9);
  line << (wrong ? "DIFFERS" : "agrees") << ", " << describeType(found.type, found.dims) << ", max error " << max
       << ", mean error " << (n ? sum / double(n) : 0);
  if (wrong)
    line << ", " << wrong << " of " << n << " elements, first " << indexText(found.dims, first) << ": found "
         << elementAt(found.type, data, first) << ", expected "
         << elementAt(expected.type, expected.data.data(), first);
  std::cout << line.str() << '\n';
  return wrong == 0;
}

static bool checkSet(const Plan &plan, int entry, const fs::path &set, const Tolerance &tolerance) {
  Session session(plan, entry);
  std::vector<TensorInfo> inputPlaces, outputPlaces;
  for (int i = 0; i < plan.numInputs(entry); ++i)
    inputPlaces.push_back(plan.input(i, entry));
  for (int i = 0; i < plan.numOutputs(entry); ++i)
    outputPlaces.push_back(plan.output(i, entry));
  std::vector<NamedTensor> inputs = readSet(set, "input_", inputPlaces), outputs = readSet(set, "output_", outputPlaces);
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto find = [&](const char *name) { return llmc_plan_find_input(plan.get(), entry, name); };
    int index = indexOf(inputs[i], i, plan.numInputs(entry), find, "input");
    Tensor &tensor = inputs[i].tensor;
    if (tensor.type == LLMC_TYPE_INVALID)
      tensor = anyTensor(inputPlaces[index]);
    session.setInput(index, tensor.type, tensor.dims, tensor.data);
  }
  session.run();
  bool good = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].tensor.type == LLMC_TYPE_INVALID) // of an optional that holds nothing
      continue;
    auto find = [&](const char *name) { return llmc_plan_find_output(plan.get(), entry, name); };
    int index = indexOf(outputs[i], i, plan.numOutputs(entry), find, "output");
    std::string name = set.filename().string() + "/" + plan.output(index, entry).name;
    good &= compare(name, session.output(index), outputs[i].tensor, tolerance);
  }
  return good;
}

bool checkFolder(const Plan &plan, int entry, const std::string &folder, const Tolerance &tolerance) {
  bool good = true;
  for (const fs::path &set : dataSets(folder))
    good &= checkSet(plan, entry, set, tolerance);
  return good;
}

} // namespace llmc::tools
