//===- Inputs.cpp - From the command line to the inputs of a session ----------------------------------------------===//

#include "tools/common/Inputs.h"
#include "tools/common/Tool.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iostream>
#include <numbers>

namespace llmc::tools {

void InputOptions::addTo(CLI::App &app) {
  app.add_option("ARTIFACT", artifact, "The compiled model, OUT.llmc")->required();
  app.add_option("--input", inputs,
                 "NAME=FILE.npy|FILE.npz|FILE.pb, or NAME=VALUE or NAME=V1,V2,... for all elements (repeatable)");
  app.add_option("--random", seed, "Draw inputs that are not given: floats normal, integers 0 or 1");
  app.add_option("--dim", dims, "NAME=SIZE of a dim that the model leaves open (repeatable; default 1)");
  app.add_option("--entry", entry, "Name of the entry (default: the first)");
  app.add_option("--threads", load.threads, "Threads of a run (default: all processors)")->check(CLI::Range(0, 256));
  app.add_option("--cpu", load.cpuLevel, "Use the code of this level, such as x86-64-v3 (default: the best that fits)");
  app.add_option("--device-profile", load.deviceProfile, "FILE that says what devices cost and how much memory simulated ones have");
}

int findEntry(const Plan &plan, const std::string &name) {
  if (name.empty())
    return 0;
  int entry = llmc_plan_find_entry(plan.get(), name.c_str());
  if (entry < 0)
    badCommand("the artifact has no entry '" + name + "'");
  return entry;
}

std::string describe(const TensorInfo &info) {
  std::string result = std::string(llmc_type_name(info.type)) + "[";
  for (size_t d = 0; d < info.dims.size(); ++d) {
    const llmc_dim &dim = info.dims[d];
    result += d ? "," : "";
    if (dim.value >= 0) {
      result += std::to_string(dim.value);
      continue;
    }
    result += *dim.name ? dim.name : "?";
    if (dim.lo != 0 || dim.hi != INT64_MAX)
      result += " " + std::to_string(dim.lo) + ".." + (dim.hi == INT64_MAX ? "" : std::to_string(dim.hi));
  }
  return result + "]";
}

namespace {

/// The same numbers on every machine: splitmix64, and Box-Muller's method.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t bits() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  double normal() {
    double u = (double(bits() >> 11) + 0.5) * 0x1p-53, v = double(bits() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

private:
  uint64_t state;
};

bool isFloat(llmc_type type) {
  return type == LLMC_TYPE_F32 || type == LLMC_TYPE_F64 || type == LLMC_TYPE_F16 || type == LLMC_TYPE_BF16;
}

std::pair<std::string, std::string> splitAtEquals(const std::string &option, const std::string &text) {
  size_t at = text.rfind('='); // names of tensors may hold '=', sizes and files that matter rarely do
  if (at == std::string::npos || at == 0)
    badCommand(option + " '" + text + "' is not NAME=...");
  return {text.substr(0, at), text.substr(at + 1)};
}

class InputMaker {
public:
  InputMaker(const Plan &plan, int entry, const InputOptions &options) : plan(plan), entry(entry), options(options) {
    for (int i = 0; i < plan.numInputs(entry); ++i)
      infos.push_back(plan.input(i, entry));
    tensors.resize(infos.size());
  }

  std::vector<Tensor> make() {
    readDims();
    for (const std::string &input : options.inputs)
      readInput(input);
    for (size_t i = 0; i < infos.size(); ++i)
      learnDims(i);
    for (auto &[index, text] : values)
      tensors[index] = fromValues(index, text);
    drawMissing();
    std::vector<Tensor> result;
    for (auto &tensor : tensors)
      result.push_back(std::move(*tensor));
    return result;
  }

private:
  void readDims();
  void readInput(const std::string &input);
  void learnDims(size_t index);
  Tensor fromValues(size_t index, const std::string &text);
  void drawMissing();
  std::vector<int64_t> dimsOf(size_t index);
  size_t find(const std::string &name) const;

  const Plan &plan;
  int entry;
  const InputOptions &options;
  std::vector<TensorInfo> infos;
  std::vector<std::optional<Tensor>> tensors;
  std::map<size_t, std::string> values; // by input
  std::map<std::string, int64_t> sizes; // by name of the dim
};

size_t InputMaker::find(const std::string &name) const {
  if (auto index = plan.findInput(name.c_str(), entry))
    return size_t(*index);
  std::string known;
  for (const TensorInfo &info : infos)
    known += (known.empty() ? "'" : ", '") + std::string(info.name) + "'";
  badCommand("the artifact has no input '" + name + "'; it has " + (known.empty() ? "none" : known));
}

void InputMaker::readDims() {
  for (const std::string &text : options.dims) {
    auto [name, size] = splitAtEquals("--dim", text);
    char *end;
    long long value = std::strtoll(size.c_str(), &end, 10);
    if (size.empty() || *end || value < 0)
      badCommand("--dim '" + text + "' does not give a size");
    bool known = std::any_of(infos.begin(), infos.end(), [&](const TensorInfo &info) {
      return std::any_of(info.dims.begin(), info.dims.end(), [&](const llmc_dim &dim) { return dim.name == name; });
    });
    if (!known)
      badCommand("no input has a dim '" + name + "'");
    sizes[name] = value;
  }
}

void InputMaker::readInput(const std::string &input) {
  auto [name, source] = splitAtEquals("--input", input);
  size_t index = find(name);
  if (source.ends_with(".npy")) {
    tensors[index] = parseNpy(readFile(source), source);
  } else if (source.ends_with(".pb")) {
    tensors[index] = parseTensorProto(readFile(source), source).tensor;
  } else if (source.ends_with(".npz")) {
    std::vector<NamedTensor> members = parseNpz(readFile(source), source);
    auto member = std::find_if(members.begin(), members.end(), [&](auto &m) { return m.name == name; });
    if (member == members.end() && members.size() == 1)
      member = members.begin();
    if (member == members.end())
      badData("'" + source + "' holds no array '" + name + "'");
    tensors[index] = std::move(member->tensor);
  } else {
    values[index] = source;
  }
}

/// Dims of a tensor that was given hold for the others too.
void InputMaker::learnDims(size_t index) {
  if (!tensors[index])
    return;
  const TensorInfo &info = infos[index];
  for (size_t d = 0; d < std::min(info.dims.size(), tensors[index]->dims.size()); ++d)
    if (*info.dims[d].name)
      sizes.insert({info.dims[d].name, tensors[index]->dims[d]});
}

std::vector<int64_t> InputMaker::dimsOf(size_t index) {
  std::vector<int64_t> dims;
  for (const llmc_dim &dim : infos[index].dims) {
    auto known = sizes.find(dim.name);
    if (dim.value >= 0) {
      dims.push_back(dim.value);
    } else if (*dim.name && known != sizes.end()) {
      dims.push_back(known->second);
    } else {
      dims.push_back(std::max<int64_t>(1, dim.lo));
      std::cerr << "note: dim " << dims.size() - 1 << " of '" << infos[index].name << "'"
                << (*dim.name ? std::string(" ('") + dim.name + "')" : "") << " is taken as " << dims.back() << '\n';
      if (*dim.name)
        sizes[dim.name] = dims.back();
    }
  }
  return dims;
}

/// Stores the number that `text` is; false if it is none, or none of the tensor's type.
static bool storeNumber(Tensor &tensor, int64_t i, std::string_view text) {
  auto store = [&]<typename T>(T) {
    T value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      return false;
    std::memcpy(tensor.data.data() + i * int64_t(sizeof(T)), &value, sizeof(T));
    return true;
  };
  switch (tensor.type) {
  case LLMC_TYPE_I8: return store(int8_t());
  case LLMC_TYPE_U8: return store(uint8_t());
  case LLMC_TYPE_I16: return store(int16_t());
  case LLMC_TYPE_U16: return store(uint16_t());
  case LLMC_TYPE_I32: return store(int32_t());
  case LLMC_TYPE_U32: return store(uint32_t());
  case LLMC_TYPE_I64: return store(int64_t());
  case LLMC_TYPE_U64: return store(uint64_t());
  default: break;
  }
  std::string number(text);
  char *end;
  setElement(tensor, i, std::strtod(number.c_str(), &end));
  return !number.empty() && !*end;
}

Tensor InputMaker::fromValues(size_t index, const std::string &text) {
  std::vector<std::string_view> numbers;
  for (size_t begin = 0, end; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    numbers.push_back(std::string_view(text).substr(begin, end - begin));
  }
  Tensor tensor(infos[index].type, dimsOf(index));
  std::string input = "--input " + std::string(infos[index].name);
  if (numbers.size() != 1 && int64_t(numbers.size()) != tensor.numElements())
    badCommand(input + " has " + std::to_string(numbers.size()) + " numbers for " + describeType(tensor.type, tensor.dims));
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    if (std::string_view number = numbers[numbers.size() == 1 ? 0 : size_t(i)]; !storeNumber(tensor, i, number))
      badCommand(input + "='" + text + "' is neither a .npy, .npz or .pb file nor a list of numbers: '" + std::string(number) + "' is no " +
                 llmc_type_name(tensor.type));
  return tensor;
}

void InputMaker::drawMissing() {
  Random random(options.seed.value_or(0));
  for (size_t index = 0; index < infos.size(); ++index) {
    if (tensors[index])
      continue;
    if (!options.seed)
      badCommand("input '" + std::string(infos[index].name) + "', " + describe(infos[index]) +
                 ", is missing: give it with --input, or draw it with --random SEED");
    Tensor tensor(infos[index].type, dimsOf(index));
    for (int64_t i = 0; i < tensor.numElements(); ++i)
      setElement(tensor, i, isFloat(tensor.type) ? random.normal() : double(random.bits() >> 63));
    tensors[index] = std::move(tensor);
  }
}

} // namespace

std::vector<Tensor> makeInputs(const Plan &plan, int entry, const InputOptions &options) {
  return InputMaker(plan, entry, options).make();
}

void setInputs(Session &session, const std::vector<Tensor> &tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    session.setInput(int(i), tensors[i].type, tensors[i].dims, tensors[i].data);
}

} // namespace llmc::tools
