// Convolution and pooling, with all forms of padding.
//
// auto_pad SAME with a stride and a symbolic size: how much is padded depends on the size's remainder, which is known only at run
// time. The op then carries `auto_pad`, and its kernel finds the pads.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

struct Window {
  Dims kernel;
  SmallVector<int64_t> strides, dilations, pads;
  std::string autoPad;
  bool ceilMode = false;

  /// Of a pool, whose kernel_shape says them.
  SmallVector<int64_t> kernelSizes() const {
    return llvm::map_to_vector(kernel, [](DimExpr size) { return *size.asConstant(); });
  }
};

SmallVector<int64_t> orOnes(std::optional<SmallVector<int64_t>> values, size_t count) {
  return values.value_or(SmallVector<int64_t>(count, 1));
}

Dims numbersOf(NodeContext &node, ArrayRef<int64_t> values) {
  return Dims(llvm::map_range(values, [&](int64_t value) { return node.number(value); }));
}

/// The kernel's sizes: those of the weight, which kernel_shape may say too, or those of kernel_shape alone.
Dims readKernel(NodeContext &node, std::optional<Dims> ofWeight) {
  std::optional<SmallVector<int64_t>> shape = node.intsAttribute("kernel_shape");
  if (!shape && !ofWeight)
    node.fail("attribute 'kernel_shape' is missing");
  if (!shape || !ofWeight)
    return ofWeight.value_or(numbersOf(node, shape.value_or(SmallVector<int64_t>())));
  if (shape->size() != ofWeight->size())
    node.fail("attribute 'kernel_shape' differs from the weight's shape");
  for (auto [size, known] : llvm::zip(*shape, *ofWeight))
    node.require(node.number(size), known, "attribute 'kernel_shape' differs from the weight's shape");
  return numbersOf(node, *shape);
}

/// Reads the attributes that all windows have.
Window readWindow(NodeContext &node, std::optional<Dims> ofWeight) {
  Window window;
  window.kernel = readKernel(node, ofWeight);
  size_t spatial = window.kernel.size();
  window.strides = orOnes(node.intsAttribute("strides"), spatial);
  window.autoPad = node.stringAttribute("auto_pad", "NOTSET");
  std::optional<SmallVector<int64_t>> pads = node.intsAttribute("pads");
  window.pads = pads.value_or(SmallVector<int64_t>(2 * spatial, 0));
  window.dilations.assign(spatial, 1);
  if (window.autoPad == "VALID")
    window.pads.assign(2 * spatial, 0);
  else if (window.autoPad != "NOTSET" && window.autoPad != "SAME_UPPER" && window.autoPad != "SAME_LOWER")
    node.fail("auto_pad '" + window.autoPad + "' is not supported");
  return window;
}

/// Whether the window's lists fit the input, so that the code below can index them.
bool fits(NodeContext &node, const Window &window, Value x) {
  size_t spatial = window.kernel.size();
  if (x && node.rank(x) != static_cast<int64_t>(spatial) + 2)
    node.fail("a window of " + Twine(spatial) + " dims needs an input of rank " + Twine(spatial + 2) + ", got " +
              Twine(node.rank(x)));
  if (window.strides.size() != spatial || window.dilations.size() != spatial || window.pads.size() != 2 * spatial)
    node.fail("strides, dilations and pads do not have one entry (pads two) for each of " + Twine(spatial) + " dims");
  auto positive = [](int64_t value) { return value > 0; };
  auto mayBePositive = [](DimExpr size) { return size.asConstant().value_or(1) > 0; };
  if (!llvm::all_of(window.strides, positive) || !llvm::all_of(window.dilations, positive) || !llvm::all_of(window.kernel, mayBePositive))
    node.fail("kernel sizes, strides and dilations must be positive");
  return x && !node.failed();
}

/// Turns SAME into explicit pads where all of them are numbers; else the op carries `auto_pad`, and its kernel finds them.
/// ceil(size / stride) positions, the odd element at the end (upper) or the start (lower).
void resolveAutoPad(NodeContext &node, Window &window, Value x) {
  if (window.autoPad != "SAME_UPPER" && window.autoPad != "SAME_LOWER")
    return;
  std::optional<Dims> dims = node.knownDims(x, "auto_pad");
  if (!dims)
    return;
  bool upper = window.autoPad == "SAME_UPPER";
  SmallVector<int64_t> pads(2 * window.kernel.size(), 0);
  for (auto [i, kernel] : llvm::enumerate(window.kernel)) {
    DimExpr size = (*dims)[i + 2], reach = (kernel - 1) * window.dilations[i] + 1;
    DimExpr total = ((size.ceilDiv(window.strides[i]) - 1) * window.strides[i] + reach - size).max(node.number(0));
    std::optional<int64_t> known = total.asConstant();
    if (!known)
      return;
    pads[i] = upper ? *known / 2 : *known - *known / 2;
    pads[window.kernel.size() + i] = *known - pads[i];
  }
  window.pads = pads;
  window.autoPad = "NOTSET";
}

SmallVector<NamedAttribute> windowAttributes(NodeContext &node, const Window &window) {
  SmallVector<NamedAttribute> attributes = {node.named("strides", window.strides), node.named("pads", window.pads),
                                            node.named("dilations", window.dilations)};
  if (window.autoPad == "SAME_UPPER" || window.autoPad == "SAME_LOWER")
    attributes.push_back(node.named("auto_pad", StringAttr::get(node.context(), StringRef(window.autoPad).lower())));
  return attributes;
}

/// The kernel's sizes in the weight; nothing, and a problem, if they are not known.
std::optional<Dims> kernelOf(NodeContext &node, Value weight) {
  std::optional<Dims> dims = node.knownDims(weight, "a convolution");
  return dims ? std::optional(Dims(llvm::drop_begin(*dims, std::min<size_t>(2, dims->size())))) : std::nullopt;
}

void conv(NodeContext &node) {
  Value x = node.input(0), weight = node.input(1);
  node.result(convolution(node, x, weight, node.optionalInput(2)));
}

/// A convolution over the last positions of each channel, of which `past` holds those before x; and the state for the next x.
void causalConvWithState(NodeContext &node) {
  Value x = node.input(0), weight = node.input(1), bias = node.optionalInput(2), past = node.optionalInput(3);
  std::string activation = node.stringAttribute("activation", "none");
  std::optional<Dims> dims = node.knownDims(x, "a convolution");
  std::optional<Dims> kernel = kernelOf(node, weight);
  if (!dims || !kernel)
    return;
  if (dims->size() != 3 || kernel->size() != 1)
    return node.fail("expects an input and a weight of rank 3");
  int64_t groups = (*dims)[1].asConstant().value_or(0); // 0: as many as channels
  if (activation != "none" && activation != "silu" && activation != "swish")
    return node.fail("activation '" + activation + "' is not supported");
  DimExpr before = kernel->front() - 1;
  if (!past)
    past = node.create<BroadcastOp>({node.scalar(x, 0)}, {node.named("dims", ArrayRef{(*dims)[0], (*dims)[1], before})});
  Value all = node.create<ConcatOp>({past, x}, {node.named("axis", int64_t(2))});
  SmallVector<Value> operands = {all, weight};
  if (bias)
    operands.push_back(bias);
  Value y = node.create<ConvOp>(operands, {node.named("strides", ArrayRef<int64_t>{1}), node.named("pads", ArrayRef<int64_t>{0, 0}),
                                           node.named("dilations", ArrayRef<int64_t>{1}), node.named("group", groups)});
  node.result(activation == "none" ? y : node.create<MulOp>({y, node.create<SigmoidOp>({y})}));
  node.result(part(node, all, 2, (*dims)[2], before));
}

void convTranspose(NodeContext &node) {
  Value x = node.input(0), weight = node.input(1), bias = node.optionalInput(2);
  std::optional<Dims> kernel = kernelOf(node, weight);
  if (!kernel)
    return;
  Window window = readWindow(node, kernel);
  window.dilations = orOnes(node.intsAttribute("dilations"), window.kernel.size());
  int64_t group = node.intAttribute("group", 1);
  std::optional<SmallVector<int64_t>> sizes = node.intsAttribute("output_shape"), given = node.intsAttribute("output_padding");
  if (!fits(node, window, x))
    return;
  SmallVector<int64_t> added = given.value_or(SmallVector<int64_t>(window.kernel.size(), 0));
  if (added.size() != window.kernel.size())
    return node.fail("output_padding has " + Twine(added.size()) + " entries for " + Twine(window.kernel.size()) + " dims");
  if (sizes && sizes->size() != window.kernel.size())
    return node.fail("output_shape has " + Twine(sizes->size()) + " entries for " + Twine(window.kernel.size()) + " dims");
  if (sizes && window.autoPad != "SAME_UPPER")
    window.autoPad = "SAME_LOWER";
  SmallVector<Value> operands = {x, weight};
  if (bias)
    operands.push_back(bias);
  SmallVector<NamedAttribute> attributes = windowAttributes(node, window);
  attributes.append({node.named("output_padding", added), node.named("group", group)});
  if (sizes)
    attributes.push_back(node.named("output_shape", *sizes));
  node.result(node.create<ConvTransposeOp>(operands, attributes));
}

Window readPool(NodeContext &node, int dilationsSince, int ceilModeSince) {
  Window window = readWindow(node, std::nullopt);
  if (node.version >= dilationsSince)
    window.dilations = orOnes(node.intsAttribute("dilations"), window.kernel.size());
  if (node.version >= ceilModeSince)
    window.ceilMode = node.intAttribute("ceil_mode", 0) != 0;
  return window;
}

SmallVector<NamedAttribute> poolAttributes(NodeContext &node, const Window &window) {
  SmallVector<NamedAttribute> attributes = windowAttributes(node, window);
  attributes.push_back(node.named("kernel", window.kernelSizes()));
  if (window.ceilMode)
    attributes.push_back(node.flag("ceil_mode"));
  return attributes;
}

void maxPool(NodeContext &node) {
  Value x = node.input(0);
  Window window = readPool(node, 10, 10);
  bool columnMajor = node.version >= 8 && node.intAttribute("storage_order", 0) != 0;
  if (!fits(node, window, x))
    return;
  resolveAutoPad(node, window, x);
  SmallVector<NamedAttribute> attributes = poolAttributes(node, window);
  if (!node.hasOutput(1))
    return node.result(node.create<MaxPoolOp>({x}, attributes));
  if (columnMajor)
    attributes.push_back(node.flag("column_major"));
  SmallVector<Value> results = node.createAll<MaxPoolWithIndicesOp>({x}, attributes);
  for (Value result : ArrayRef(results).take_front(2))
    node.result(result);
}

/// The result is as large as `output_shape` says, or as a window's input is at least.
void maxUnpool(NodeContext &node) {
  Value x = node.input(0), indices = node.input(1);
  Window window = readWindow(node, std::nullopt);
  if (!fits(node, window, x))
    return;
  std::optional<Dims> dims = node.knownDims(x, "unpooling"), given = node.numbersOf(listInput(node, 2, node.rank(x)));
  if (!dims || node.failed())
    return;
  size_t spatial = window.kernel.size();
  for (size_t i = 0; i < spatial; ++i)
    (*dims)[i + 2] = ((*dims)[i + 2] - 1) * window.strides[i] + (window.kernel[i] - window.pads[i] - window.pads[spatial + i]);
  node.result(node.create<MaxUnpoolOp>({x, indices}, {node.named("dims", given ? *given : *dims), node.named("kernel", window.kernelSizes()),
                                                      node.named("strides", window.strides), node.named("pads", window.pads)}));
}

void averagePool(NodeContext &node) {
  Value x = node.input(0);
  Window window = readPool(node, 19, 10);
  bool includePad = node.version >= 7 && node.intAttribute("count_include_pad", 0) != 0;
  if (!fits(node, window, x))
    return;
  resolveAutoPad(node, window, x);
  SmallVector<NamedAttribute> attributes = poolAttributes(node, window);
  if (includePad)
    attributes.push_back(node.flag("count_include_pad"));
  node.result(node.create<AveragePoolOp>({x}, attributes));
}

template <typename Reduce> void globalPool(NodeContext &node) {
  Value x = node.input(0);
  if (x && node.rank(x) < 3)
    return node.fail("expects an input of rank 3 or more, got " + Twine(node.rank(x)));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, std::max<int64_t>(2, node.rank(x))));
  node.result(node.create<Reduce>({x}, {node.named("axes", axes), node.flag("keepdims")}));
}

/// p of a p-norm: a float in opset 1.
double readP(NodeContext &node) {
  double p = node.version < 2 ? node.floatAttribute("p", 2) : static_cast<double>(node.intAttribute("p", 2));
  if (p <= 0)
    node.fail("p = " + std::to_string(p) + " is not positive");
  return p;
}

/// |x| ^ p
Value powers(NodeContext &node, Value x, double p) {
  if (p == 2)
    return node.create<MulOp>({x, x});
  Value size = node.create<AbsOp>({x});
  return p == 1 ? size : node.create<PowOp>({size, node.scalar(x, p)});
}

/// x ^ (1 / p)
Value root(NodeContext &node, Value x, double p) {
  if (p == 2)
    return node.create<SqrtOp>({x});
  return p == 1 ? x : node.create<PowOp>({x, node.scalar(x, 1 / p)});
}

/// The p-norm of each window. Its sum is a mean times the size, with padding that counts as zeros.
void lpPool(NodeContext &node) {
  Value x = node.input(0);
  Window window = readPool(node, 18, 18);
  double p = readP(node);
  if (!fits(node, window, x))
    return;
  if (window.ceilMode) // the last windows may be smaller, which a mean does not tell
    return node.fail("ceil_mode = 1 is not supported");
  resolveAutoPad(node, window, x);
  SmallVector<NamedAttribute> attributes = poolAttributes(node, window);
  attributes.push_back(node.flag("count_include_pad"));
  int64_t taps = 1;
  for (int64_t size : window.kernelSizes())
    taps *= size;
  Value mean = node.create<AveragePoolOp>({powers(node, x, p)}, attributes);
  node.result(root(node, node.create<MulOp>({mean, node.scalar(x, static_cast<double>(taps))}), p));
}

void globalLpPool(NodeContext &node) {
  Value x = node.input(0);
  double p = readP(node);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, std::max<int64_t>(2, node.rank(x))));
  node.result(root(node, node.create<ReduceSumOp>({powers(node, x, p)}, {node.named("axes", axes), node.flag("keepdims")}), p));
}

/// base ^ beta. Three quarters, which every model has, are two roots: a power has no vector code.
Value powered(NodeContext &node, Value base, double beta) {
  if (beta != 0.75)
    return node.create<PowOp>({base, node.scalar(base, beta)});
  Value root = node.create<SqrtOp>({base});
  return node.create<MulOp>({root, node.create<SqrtOp>({root})});
}

/// x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta
void lrn(NodeContext &node) {
  constexpr int64_t mostTaps = 64; // each is an op
  int64_t size = node.intAttribute("size", 0);
  double alpha = node.floatAttribute("alpha", 1e-4f), beta = node.floatAttribute("beta", 0.75f),
         bias = node.floatAttribute("bias", 1);
  Value x = node.input(0);
  if (x && node.rank(x) < 2)
    return node.fail("an input of rank " + Twine(node.rank(x)) + " has no channels");
  if (size <= 0 || size > mostTaps)
    return node.fail("size " + Twine(size) + " is not supported");
  std::optional<Dims> dims = node.knownDims(x, "the channels");
  if (!dims)
    return;
  SmallVector<int64_t> pads(2 * dims->size(), 0);
  pads[1] = (size - 1) / 2;
  pads[dims->size() + 1] = size / 2;
  Value squares = node.create<PadOp>({node.create<MulOp>({x, x})}, {node.named("pads", pads), node.named("mode", int64_t(0))});
  Value sum = part(node, squares, 1, node.number(0), (*dims)[1]);
  for (int64_t tap = 1; tap < size; ++tap)
    sum = node.create<AddOp>({sum, part(node, squares, 1, node.number(tap), (*dims)[1])});
  Value base = node.create<AddOp>({node.scalar(x, bias), node.create<MulOp>({node.scalar(x, alpha / static_cast<double>(size)), sum})});
  node.result(node.create<DivOp>({x, powered(node, base, beta)}));
}

constexpr Converter table[] = {
    {"Conv", 1, newest, conv},
    {"CausalConvWithState", 27, newest, causalConvWithState},
    {"ConvTranspose", 1, newest, convTranspose},
    {"MaxPool", 1, newest, maxPool},
    {"MaxUnpool", 9, newest, maxUnpool},
    {"AveragePool", 1, newest, averagePool},
    {"GlobalAveragePool", 1, newest, globalPool<ReduceMeanOp>},
    {"GlobalMaxPool", 1, newest, globalPool<ReduceMaxOp>},
    {"LpPool", 1, newest, lpPool},
    {"GlobalLpPool", 1, newest, globalLpPool},
    {"LRN", 1, newest, lrn},
};

} // namespace

ArrayRef<Converter> windowConverters() { return table; }

Value convolution(NodeContext &node, Value x, Value weight, Value bias) {
  std::optional<Dims> kernel = kernelOf(node, weight);
  if (!kernel)
    return {};
  Window window = readWindow(node, kernel);
  window.dilations = orOnes(node.intsAttribute("dilations"), window.kernel.size());
  int64_t group = node.intAttribute("group", 1);
  if (!fits(node, window, x))
    return {};
  resolveAutoPad(node, window, x);
  SmallVector<Value> operands = {x, weight};
  if (bias)
    operands.push_back(bias);
  SmallVector<NamedAttribute> attributes = windowAttributes(node, window);
  attributes.push_back(node.named("group", group));
  return node.create<ConvOp>(operands, attributes);
}

} // namespace llmc
