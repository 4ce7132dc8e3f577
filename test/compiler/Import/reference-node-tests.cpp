// Runs ONNX node tests on the reference kernels: each model is imported with its inputs as constants, and every op evaluated as
// constant folding does. So the meaning that the importer gives to each node is compared with the specification's own data.
//
//   reference-node-tests FOLDER [--verbose]      FOLDER/NAME/{model.onnx, test_data_set_0/{input,output}_I.pb}
//
// Prints each failure, with --verbose each skipped case and its reason, and last "N passed, N failed, N skipped". A case is skipped
// only if the importer says that something in it is not supported.
#include "compiler/Import/OnnxImporter.h"
#include "compiler/Import/OnnxProto.h"
#include "compiler/Import/NodeContext.h"
#include "compiler/Import/TensorFields.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
namespace fs = std::filesystem;

namespace {

using namespace llmc;
using namespace llmc::onnx;

struct Outcome {
  enum { Passed, Failed, Skipped } kind;
  std::string reason;
};

template <typename Message> bool readMessage(const fs::path &path, Message &message) {
  std::ifstream file(path, std::ios::binary);
  return file && message.ParseFromIstream(&file);
}

/// A file in memory, for a reader that wants a path.
class MemoryFile {
public:
  explicit MemoryFile(const std::string &bytes) : fd(::memfd_create("model", 0)) {
    if (::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      llvm::errs() << "error: cannot write to memory\n";
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile() { ::close(fd); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

private:
  int fd;
};

/// The model with test_data_set_0's inputs as initializers. Empty if one is no tensor.
std::string withConstantInputs(const fs::path &folder) {
  ModelProto model;
  if (!readMessage(folder / "model.onnx", model))
    return "";
  GraphProto &graph = *model.mutable_graph();
  for (int i = 0; i < graph.input_size(); ++i) {
    fs::path file = folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb");
    TensorProto *tensor = graph.add_initializer();
    if (!graph.input(i).type().has_tensor_type() || !readMessage(file, *tensor))
      return "";
    tensor->set_name(graph.input(i).name());
  }
  return model.SerializeAsString();
}

/// Evaluates main's ops in order. Null, and `reason` says why, at the first that can not be.
std::vector<ElementsAttr> evaluate(ModuleOp module, std::string &reason) {
  llvm::DenseMap<Value, ElementsAttr> values;
  auto lookup = [&](ValueRange operands) {
    return llvm::map_to_vector(operands, [&](Value operand) { return values.lookup(operand); });
  };
  for (Operation &op : cast<func::FuncOp>(module.getBody()->front()).getBody().front()) {
    if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
      values[constant] = constant.getValue();
      continue;
    }
    SmallVector<ElementsAttr> operands = lookup(op.getOperands());
    if (isa<func::ReturnOp>(op))
      return std::vector<ElementsAttr>(operands.begin(), operands.end());
    FailureOr<ElementsAttr> value = graph::evaluate(cast<graph::ReferenceEvalOpInterface>(op), operands);
    if (failed(value)) {
      llvm::raw_string_ostream(reason) << "cannot evaluate " << op;
      return {};
    }
    values[op.getResult(0)] = *value;
  }
  return {};
}

template <typename Integer> double load(ArrayRef<char> bytes, int64_t i) {
  Integer value;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return static_cast<double>(value);
}

double elementAt(const graph::ConstantView &view, int64_t i) {
  Type type = view.type().getElementType();
  ArrayRef<char> bytes = view.bytes();
  if (auto floating = dyn_cast<FloatType>(type)) {
    uint64_t bits = 0;
    size_t size = floating.getWidth() / 8;
    std::memcpy(&bits, bytes.data() + i * size, size);
    APFloat value(floating.getFloatSemantics(), APInt(floating.getWidth(), bits));
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  }
  bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  switch (std::max(8u, type.getIntOrFloatBitWidth())) {
  case 8: return isUnsigned ? load<uint8_t>(bytes, i) : load<int8_t>(bytes, i);
  case 16: return isUnsigned ? load<uint16_t>(bytes, i) : load<int16_t>(bytes, i);
  case 32: return isUnsigned ? load<uint32_t>(bytes, i) : load<int32_t>(bytes, i);
  default: return isUnsigned ? load<uint64_t>(bytes, i) : load<int64_t>(bytes, i);
  }
}

/// Why the value is not the expected one; empty if it is, to 1e-3 relative or 1e-5 absolute.
std::string difference(ElementsAttr value, const TensorProto &expected) {
  std::string error;
  std::optional<int64_t> count = elementCount(expected, error);
  Type element = elementTypeOf(value.getContext(), expected.data_type());
  if (!count || !element)
    return "the expected output is not readable: " + error;
  std::vector<std::byte> decoded;
  if (!expected.has_raw_data()) {
    std::optional<std::vector<std::byte>> fields = decodeTypedField(expected, *count, error);
    if (!fields)
      return error;
    decoded = std::move(*fields);
  }
  ArrayRef<char> bytes = expected.has_raw_data()
                             ? ArrayRef<char>(expected.raw_data().data(), expected.raw_data().size())
                             : ArrayRef<char>(reinterpret_cast<const char *>(decoded.data()), decoded.size());
  auto type = RankedTensorType::get(SmallVector<int64_t>(expected.dims().begin(), expected.dims().end()), element);
  std::optional<graph::ConstantView> found = graph::ConstantView::of(value);
  if (!found || found->type() != type) {
    llvm::raw_string_ostream(error) << "expected " << type << ", got " << value.getType();
    return error;
  }
  ElementsAttr wantedAttr = graph::makeConstant(type, bytes);
  std::optional<graph::ConstantView> wanted = graph::ConstantView::of(wantedAttr);
  for (int64_t i = 0; i < *count; ++i) {
    double a = elementAt(*found, i), b = elementAt(*wanted, i);
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-5 + 1e-3 * std::abs(b))
      continue;
    return "element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " + std::to_string(b);
  }
  return "";
}

Outcome runCase(const fs::path &folder) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::vector<std::string> problems;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) { problems.push_back(diagnostic.str()); });
  std::string bytes = withConstantInputs(folder), error;
  if (bytes.empty())
    return {Outcome::Skipped, "an input is no tensor"};
  MemoryFile file(bytes);
  std::unique_ptr<OnnxModel> model = OnnxModel::load(file.path(), error);
  if (!model)
    return {Outcome::Failed, error};
  OwningOpRef<ModuleOp> module = importOnnx(context, *model, {});
  if (!module) {
    bool supported = llvm::none_of(problems, [](StringRef text) { return text.contains("not supported"); });
    return {supported ? Outcome::Failed : Outcome::Skipped, problems.empty() ? "no reason" : problems[0]};
  }
  std::vector<ElementsAttr> outputs = evaluate(*module, error);
  if (!error.empty())
    return {Outcome::Failed, error};
  for (auto [i, output] : llvm::enumerate(outputs)) {
    TensorProto expected;
    if (!readMessage(folder / "test_data_set_0" / ("output_" + std::to_string(i) + ".pb"), expected))
      return {Outcome::Failed, "output " + std::to_string(i) + " is not readable"};
    if (std::string reason = difference(output, expected); !reason.empty())
      return {Outcome::Failed, "output " + std::to_string(i) + ": " + reason};
  }
  return {Outcome::Passed, ""};
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    llvm::errs() << "usage: reference-node-tests FOLDER [--verbose]\n";
    return 2;
  }
  bool verbose = argc > 2 && StringRef(argv[2]) == "--verbose";
  std::vector<fs::path> folders;
  for (const fs::directory_entry &entry : fs::directory_iterator(argv[1]))
    folders.push_back(entry.path());
  std::ranges::sort(folders);
  int counts[3] = {};
  for (const fs::path &folder : folders) {
    Outcome outcome = runCase(folder);
    ++counts[outcome.kind];
    if (outcome.kind == Outcome::Failed || (verbose && outcome.kind == Outcome::Skipped))
      llvm::outs() << (outcome.kind == Outcome::Failed ? "FAILED " : "skipped ") << folder.filename().string() << ": "
                   << outcome.reason << "\n";
  }
  llvm::outs() << counts[Outcome::Passed] << " passed, " << counts[Outcome::Failed] << " failed, "
               << counts[Outcome::Skipped] << " skipped\n";
  return counts[Outcome::Failed] != 0 || counts[Outcome::Passed] == 0;
}
