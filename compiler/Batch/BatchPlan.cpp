// Options against dims; rows and padding as far as the graph can prove them.
#include "compiler/Batch/BatchPlan.h"
#include "compiler/Batch/MarkRows.h"
#include "compiler/Batch/PadValue.h"
#include "passes/Graph/RowFlow.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace llmc {
namespace {

using graph::DimExpr;

constexpr uint32_t noAxis = UINT32_MAX;

class Planner {
public:
  Planner(func::FuncOp function, const BatchOptions &options, Fault &fault)
      : function(function), options(options), fault(fault), shapes(function) {}
  FailureOr<BatchPlan> plan();

private:
  InFlightDiagnostic wrong() {
    fault = Fault::Options;
    return emitError(UnknownLoc::get(function.getContext()));
  }
  void readBoundary();
  LogicalResult checkDim(StringRef option, StringRef dim);
  LogicalResult findAxes(StringRef option, StringRef dim, std::vector<uint32_t> &axes);
  LogicalResult addSizes();
  LogicalResult addGenerated();
  LogicalResult addGenerated(StringRef name, plan::GeneratedKind kind);
  LogicalResult findRequestAxes();
  LogicalResult addBuckets();
  LogicalResult addPads();
  LogicalResult proveRows();
  void proveBucket(StringRef dim, plan::BucketDimT &bucket);
  std::optional<uint32_t> inputOf(StringRef name) const;

  func::FuncOp function;
  const BatchOptions &options;
  Fault &fault;
  ShapeAnalysis shapes;
  BatchPlan result;
};

void Planner::readBoundary() {
  for (BlockArgument argument : function.getArguments())
    result.inputs.push_back({function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "graph.name").str(), graph::Dims(shapes.dims(argument))});
  for (auto [i, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
    result.outputs.push_back({function.getResultAttrOfType<StringAttr>(i, "graph.name").str(), graph::Dims(shapes.dims(value))});
  for (const BatchPlan::Tensor &input : result.inputs)
    for (DimExpr dim : input.dims)
      dim.forEachSymbol([&](StringRef name) { result.symbols[name.str()] = shapes.ranges().of(name); });
}

LogicalResult Planner::checkDim(StringRef option, StringRef dim) {
  if (result.symbols.count(dim.str()))
    return success();
  std::string known;
  for (auto &[name, range] : result.symbols)
    known += (known.empty() ? "'" : ", '") + name + "'";
  return wrong() << option << " '" << dim << "': no input has such a symbolic dim; there " << (known.empty() ? "are none" : "is " + known);
}

/// Per input the axis that is the dim.
LogicalResult Planner::findAxes(StringRef option, StringRef dim, std::vector<uint32_t> &axes) {
  DimExpr symbol = DimExpr::symbol(function.getContext(), dim);
  for (const BatchPlan::Tensor &input : result.inputs) {
    axes.push_back(noAxis);
    for (auto [axis, size] : llvm::enumerate(input.dims)) {
      bool mentions = false;
      size.forEachSymbol([&](StringRef name) { mentions |= name == dim; });
      if (!mentions)
        continue;
      if (size != symbol || axes.back() != noAxis)
        return wrong() << option << " '" << dim << "': axis " << axis << " of input '" << input.name << "' is " << size.str()
                       << ", expected one axis that is just " << dim;
      axes.back() = axis;
    }
  }
  if (llvm::all_of(axes, [](uint32_t axis) { return axis == noAxis; }))
    return wrong() << option << " '" << dim << "' is an axis of no input";
  return success();
}

/// Without a list: powers of two, as far as the range goes, but not beyond 32, or of packed requests beyond 4096.
LogicalResult Planner::addSizes() {
  graph::DimRange range = result.symbols[options.dim];
  for (int64_t size : options.sizes)
    if (size < range.lo || size > range.hi)
      return wrong() << "--batch-sizes has " << size << ", but " << options.dim << " is " << range.lo << ".." << range.hi
                     << "; say --dim " << options.dim << "=LO..HI";
  result.table.sizes.assign(options.sizes.begin(), options.sizes.end());
  int64_t most = std::min<int64_t>(range.hi, options.generates.empty() ? 32 : 4096);
  for (int64_t size = 1; options.sizes.empty() && size <= most; size *= 2)
    if (size >= range.lo)
      result.table.sizes.push_back(size);
  if (options.sizes.empty() && !options.generates.empty() && !result.table.sizes.empty() && int64_t(result.table.sizes.back()) < most)
    result.table.sizes.push_back(most); // the most places of a batch
  if (result.table.sizes.empty())
    return wrong() << "--batch-dim '" << options.dim << "' is " << range.lo << ".." << range.hi << ", which needs --batch-sizes";
  return success();
}

/// Its element type and its one axis.
LogicalResult Planner::addGenerated(StringRef name, plan::GeneratedKind kind) {
  std::string option = ("--generate '" + name + "=" + nameOf(kind) + "'").str();
  std::optional<uint32_t> input = inputOf(name);
  if (!input)
    return wrong() << "--generate '" << name << "': the model has no such input";
  auto type = cast<RankedTensorType>(function.getArgument(*input).getType());
  if (!type.getElementType().isSignlessInteger(32) && !type.getElementType().isSignlessInteger(64) && !type.getElementType().isF32())
    return wrong() << option << ": the input has elements of type " << type.getElementType() << ", expected i32, i64 or f32";
  const graph::Dims &dims = result.inputs[*input].dims;
  if (dims.size() != 1)
    return wrong() << option << ": the input has rank " << dims.size() << ", expected one axis";
  bool isIndex = kind == plan::GeneratedKind::INDEX;
  DimExpr rows = DimExpr::symbol(function.getContext(), options.dim);
  if (isIndex ? dims[0] != rows : dims[0].kind() != DimExpr::Kind::Symbol || dims[0] == rows)
    return wrong() << option << ": the axis of the input is " << dims[0].str() << ", expected "
                   << (isIndex ? options.dim : "a symbolic dim of its own (--shape gives it a name)");
  auto generated = std::make_unique<plan::GeneratedT>();
  generated->input = *input;
  generated->kind = kind;
  graph::DimRange range = result.symbols[options.dim];
  if (kind == plan::GeneratedKind::LONGEST && result.symbols[dims[0].symbolName().str()].hi < range.hi)
    return wrong() << option << ": " << dims[0].str() << " is at most " << result.symbols[dims[0].symbolName().str()].hi << ", but a request of " << options.dim
                   << " has up to " << range.hi << " places";
  if (range.lo > 1 || result.symbols[dims[0].symbolName().str()].lo > 1 + (kind == plan::GeneratedKind::ACCUMULATED_ZERO))
    return wrong() << option << ": the ranges of " << options.dim << " and " << dims[0].str() << " do not allow one request of one place";
  result.table.generated.push_back(std::move(generated));
  return success();
}

LogicalResult Planner::addGenerated() {
  for (auto &[name, kind] : options.generates)
    if (failed(addGenerated(name, kind)))
      return failure();
  llvm::sort(result.table.generated, [](auto &lhs, auto &rhs) { return lhs->input < rhs->input; });
  if (!result.isPacked())
    return success();
  if (result.maxRequests() < 1)
    return wrong() << "--generate: the dims of the inputs allow no request";
  return findRequestAxes();
}

/// Axes with one place for each request, by the dims of the inputs that count them.
LogicalResult Planner::findRequestAxes() {
  llvm::SmallVector<DimExpr> counts;
  for (auto &generated : result.table.generated) {
    DimExpr dim = result.inputs[generated->input].dims[0];
    if (generated->kind == plan::GeneratedKind::COUNT || generated->kind == plan::GeneratedKind::ACCUMULATED)
      counts.push_back(dim);
    if (generated->kind == plan::GeneratedKind::ACCUMULATED_ZERO)
      counts.push_back(dim - 1);
  }
  auto axisOf = [&](const BatchPlan::Tensor &tensor) -> uint32_t {
    auto found = llvm::find_if(tensor.dims, [&](DimExpr dim) { return llvm::is_contained(counts, dim); });
    return found == tensor.dims.end() ? noAxis : found - tensor.dims.begin();
  };
  for (auto [i, input] : llvm::enumerate(result.inputs)) {
    uint32_t axis = result.generatedOf(i) ? noAxis : axisOf(input);
    if (axis != noAxis && result.table.input_axes[i] != noAxis)
      return wrong() << "--generate: input '" << input.name << "' has an axis " << options.dim << " and one for each request";
    result.table.request_input_axes.push_back(axis);
  }
  DimExpr rows = DimExpr::symbol(function.getContext(), options.dim);
  for (const BatchPlan::Tensor &output : result.outputs) {
    bool hasRows = llvm::is_contained(output.dims, rows);
    uint32_t axis = axisOf(output);
    if (hasRows == (axis != noAxis)) {
      std::string dims = llvm::join(llvm::map_range(output.dims, [](DimExpr dim) { return dim.str(); }), "x");
      return wrong() << "--generate: output '" << output.name << "' is " << dims << ", expected one axis that is " << options.dim
                     << " or has one place for each request";
    }
    result.table.request_output_axes.push_back(axis);
  }
  return success();
}

LogicalResult Planner::addBuckets() {
  for (auto &[dim, edges] : options.buckets) {
    if (dim == options.dim)
      return wrong() << "--buckets '" << dim << "' is the batch dim; --batch-sizes is for that";
    if (failed(checkDim("--buckets", dim)))
      return failure();
    graph::DimRange range = result.symbols[dim];
    if (edges.front() < range.lo || edges.back() > range.hi)
      return wrong() << "--buckets " << dim << " has edges from " << edges.front() << " to " << edges.back() << ", but " << dim << " is " << range.lo
                     << ".." << range.hi;
    auto bucket = std::make_unique<plan::BucketDimT>();
    bucket->name = dim;
    bucket->edges.assign(edges.begin(), edges.end());
    if (failed(findAxes("--buckets", dim, bucket->input_axes)))
      return failure();
    result.table.buckets.push_back(std::move(bucket));
    result.bucketDims.push_back(dim);
  }
  return success();
}

std::optional<uint32_t> Planner::inputOf(StringRef name) const {
  for (auto [i, input] : llvm::enumerate(result.inputs))
    if (input.name == name)
      return i;
  return std::nullopt;
}

/// What inputs with a bucket are padded with: what --pad says, or zero.
LogicalResult Planner::addPads() {
  auto isPadded = [&](uint32_t input) {
    return llvm::any_of(result.table.buckets, [&](auto &bucket) { return bucket->input_axes[input] != noAxis; });
  };
  auto check = [&](StringRef option, StringRef name) -> FailureOr<uint32_t> {
    std::optional<uint32_t> input = inputOf(name);
    if (!input)
      return wrong() << option << " '" << name << "': the model has no such input";
    if (!isPadded(*input))
      return wrong() << option << " '" << name << "': no dim of the input has --buckets";
    return *input;
  };
  for (const std::string &mask : options.masks) {
    FailureOr<uint32_t> input = check("--mask", mask);
    if (failed(input))
      return failure();
    result.inputs[*input].isMask = true;
  }
  for (auto &[name, value] : options.pads)
    if (failed(check("--pad", name)))
      return failure();
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    if (!isPadded(i))
      continue;
    auto found = options.pads.find(result.inputs[i].name);
    std::string text = found == options.pads.end() ? "0" : found->second;
    Type element = cast<RankedTensorType>(argument.getType()).getElementType();
    std::optional<std::vector<uint8_t>> bytes = padBytes(element, text);
    if (!bytes)
      return wrong() << "--pad '" << result.inputs[i].name << "=" << text << "' is no value of type " << element;
    auto pad = std::make_unique<plan::PadT>();
    pad->input = i;
    pad->value = std::move(*bytes);
    result.table.pads.push_back(std::move(pad));
  }
  return success();
}

/// The node and what it does, as people read it.
std::string describe(const RowObstacle &obstacle) {
  std::string nodes = graph::joinedSourceNames(obstacle.op->getLoc());
  return (nodes.empty() ? "the model" : "node '" + nodes + "'") + " " + obstacle.reason;
}

/// Axes of the outputs that are `dim`, or none; and why the first output that is not proven is not.
struct OutputProof {
  std::vector<uint32_t> axes;
  BatchPlan::Doubt doubt;
};

OutputProof proveOutputs(func::FuncOp function, const ShapeAnalysis &shapes, const RowFlow &flow, StringRef dim) {
  DimExpr symbol = DimExpr::symbol(function.getContext(), dim);
  OutputProof proof;
  auto outputs = function.getBody().front().getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(outputs)) {
    RowState state = flow.of(value);
    auto found = llvm::find(shapes.dims(value), symbol);
    proof.axes.push_back(found == shapes.dims(value).end() ? noAxis : found - shapes.dims(value).begin());
    bool isProven = state.isShared() || (state.isRows() && proof.axes.back() == state.axis);
    if (isProven || (!proof.doubt.reason.empty() && proof.doubt.mixes))
      continue;
    bool mixes = state.isLost() && flow.obstacle(state.obstacle).mixes;
    if (proof.doubt.reason.empty() || mixes)
      proof.doubt = {state.isLost() ? describe(flow.obstacle(state.obstacle))
                                    : "axis " + std::to_string(state.axis) + " of output " + std::to_string(i) + " is " +
                                          shapes.dims(value)[state.axis].str() + ", not " + dim.str(), mixes};
  }
  return proof;
}

LogicalResult Planner::proveRows() {
  RowFlow flow(function, shapes, options.dim);
  markRows(function, flow);
  OutputProof proof = proveOutputs(function, shapes, flow, options.dim);
  result.table.output_axes = proof.axes;
  if (result.isPacked()) { // places of one request are to influence each other, those of others are not
    result.rowDoubt.reason = "no proof follows the requests of a packed batch";
    return success();
  }
  if (proof.doubt.mixes) {
    fault = Fault::Model;
    return emitError(UnknownLoc::get(function.getContext()))
           << "rows of " << options.dim << " influence each other: " << proof.doubt.reason;
  }
  if (proof.doubt.reason.empty())
    result.table.row_proof = "proof: no operator computes across " + options.dim;
  result.rowDoubt = proof.doubt;
  return success();
}

/// Where no operator computes across the dim, padding reaches nothing.
void Planner::proveBucket(StringRef dim, plan::BucketDimT &bucket) {
  OutputProof proof = proveOutputs(function, shapes, RowFlow(function, shapes, dim), dim);
  bucket.output_axes = proof.axes;
  if (proof.doubt.reason.empty())
    bucket.proof = "proof: no operator computes across " + dim.str();
  result.bucketDoubts.push_back(proof.doubt);
}

FailureOr<BatchPlan> Planner::plan() {
  readBoundary();
  result.dim = options.dim;
  result.table.dim = options.dim;
  if (failed(checkDim("--batch-dim", options.dim)) || failed(findAxes("--batch-dim", options.dim, result.table.input_axes)) ||
      failed(addSizes()) || failed(addGenerated()) || failed(addBuckets()) || failed(addPads()) || failed(proveRows()))
    return failure();
  for (auto [option, bucket] : llvm::zip_equal(options.buckets, result.table.buckets))
    proveBucket(option.first, *bucket);
  return std::move(result);
}

} // namespace

const plan::GeneratedT *BatchPlan::generatedOf(uint32_t input) const {
  auto found = llvm::find_if(table.generated, [&](auto &generated) { return generated->input == input; });
  return found == table.generated.end() ? nullptr : found->get();
}

int64_t BatchPlan::maxRequests() const {
  int64_t most = INT64_MAX;
  for (auto &generated : table.generated) {
    if (generated->kind == plan::GeneratedKind::INDEX || generated->kind == plan::GeneratedKind::LONGEST)
      continue;
    int64_t hi = symbols.at(inputs[generated->input].dims[0].symbolName().str()).hi;
    most = std::min(most, hi - (generated->kind == plan::GeneratedKind::ACCUMULATED_ZERO));
  }
  return most;
}

bool BatchPlan::needsTrial() const {
  return table.row_proof.empty() || llvm::any_of(table.buckets, [](auto &bucket) { return bucket->proof.empty(); });
}

FailureOr<BatchPlan> planBatches(ModuleOp module, const BatchOptions &options, Fault &fault) {
  return Planner(*module.getOps<func::FuncOp>().begin(), options, fault).plan();
}

} // namespace llmc
