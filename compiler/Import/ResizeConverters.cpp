// Resize and Upsample: graph.resize with the shape of its result.
//
// A new size is floor(size * scale), where the product rounds to f32 as in ONNX Runtime. It is an expression where it is exact; else the
// compiler or the run computes it as a tensor.
#include "compiler/Import/Converters.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// What is resized, and how.
struct Resizing {
  Value x, roi, scales, sizes; // scales and sizes per axis, one of them null
  SmallVector<int64_t> axes;
  std::string policy = "stretch";
  SmallVector<NamedAttribute> attributes;
};

/// The elements of a constant of f32.
std::optional<SmallVector<float>> knownFloats(Value value) {
  ElementsAttr attribute;
  if (!value || !matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  std::optional<ConstantView> view = ConstantView::of(attribute);
  if (!view || !view->type().getElementType().isF32())
    return std::nullopt;
  SmallVector<float> values(view->numElements());
  std::memcpy(values.data(), view->bytes().data(), view->bytes().size());
  return values;
}

/// floor(dim * scale) if the product has no rounding for any dim up to 2^16; unknown else.
DimExpr exactlyScaled(DimExpr dim, float scale) {
  constexpr int64_t divisor = 256;
  float multiple = scale * divisor;
  if (!(multiple >= 1 && multiple <= divisor * divisor && std::floor(multiple) == multiple))
    return {};
  int64_t factor = static_cast<int64_t>(multiple), common = std::gcd(factor, divisor);
  bool isExact = factor / common <= divisor;
  return isExact ? (dim * (factor / common)).floorDiv(divisor / common) : DimExpr();
}

/// The old sizes along the axes as f32.
Value oldSizes(NodeContext &node, const Resizing &resizing) {
  Value all = shapeOf(node, resizing.x, 0, INT64_MAX);
  Value chosen = node.create<GatherOp>({all, node.indices(resizing.axes)}, {node.named("axis", int64_t(0))});
  return castTo(node, chosen, Float32Type::get(node.context()));
}

/// Sets the dims of the axes to floor(dim * scale).
void scaleDims(NodeContext &node, const Resizing &resizing, Dims &dims) {
  std::optional<SmallVector<float>> scales = knownFloats(resizing.scales);
  Dims computed;
  for (auto [i, axis] : llvm::enumerate(resizing.axes)) {
    DimExpr size = scales ? exactlyScaled(dims[axis], (*scales)[i]) : DimExpr();
    if (!size && computed.empty()) {
      Value product = node.create<MulOp>({oldSizes(node, resizing), resizing.scales});
      Value sizes = castTo(node, node.create<FloorOp>({product}), IntegerType::get(node.context(), 64));
      std::optional<Dims> read = node.numbersOf(sizes);
      if (!read)
        return;
      computed = *read;
    }
    dims[axis] = size ? size : computed[i];
  }
}

/// Sets the dims of the axes to `sizes`, or to those with the old proportions that are not larger, or not smaller, in any axis. Then
/// the scale is common to all axes.
void sizeDims(NodeContext &node, Resizing &resizing, Dims &dims) {
  std::optional<Dims> sizes = node.numbersOf(resizing.sizes);
  if (!sizes)
    return node.fail("sizes that are not known are not supported");
  if (resizing.policy == "stretch") {
    for (auto [axis, size] : llvm::zip_equal(resizing.axes, *sizes))
      dims[axis] = size;
    return;
  }
  bool notLarger = resizing.policy == "not_larger";
  Dims old = dims;
  for (int64_t axis : resizing.axes) {
    DimExpr chosen; // the nearest integer to old * scale, for the least or greatest scale
    for (auto [other, size] : llvm::zip_equal(resizing.axes, *sizes)) {
      DimExpr candidate = (old[axis] * size * 2 + old[other]).floorDiv(old[other] * 2);
      chosen = !chosen ? candidate : notLarger ? chosen.min(candidate) : chosen.max(candidate);
    }
    dims[axis] = chosen;
  }
  Value ratios = node.create<DivOp>({castTo(node, resizing.sizes, Float32Type::get(node.context())), oldSizes(node, resizing)});
  SmallVector<NamedAttribute> all = {node.named("axes", ArrayRef<int64_t>{0}), node.flag("keepdims")};
  Value scale = notLarger ? node.create<ReduceMinOp>({ratios}, all) : node.create<ReduceMaxOp>({ratios}, all);
  Dims count = {node.number(resizing.axes.size())};
  resizing.scales = node.create<BroadcastOp>({scale}, {node.named("dims", count)});
}

void finishResize(NodeContext &node, Resizing resizing) {
  std::optional<Dims> dims = node.knownDims(resizing.x, "resizing");
  if (!dims)
    return;
  if (static_cast<bool>(resizing.scales) == static_cast<bool>(resizing.sizes))
    return node.fail("expects either scales or sizes");
  if (resizing.scales)
    scaleDims(node, resizing, *dims);
  else
    sizeDims(node, resizing, *dims);
  if (node.failed())
    return;
  SmallVector<NamedAttribute> attributes = resizing.attributes;
  attributes.append({node.named("dims", *dims), node.named("axes", resizing.axes)});
  SmallVector<Value> operands = node.present({resizing.x, resizing.scales, resizing.roi}, attributes);
  node.result(node.create<ResizeOp>(operands, attributes));
}

SmallVector<int64_t> allAxes(NodeContext &node, Value x) { return llvm::to_vector(llvm::seq<int64_t>(0, node.rank(x))); }

/// Opset 10, and Upsample: places are output / scale, rounded as `nearest` says.
void readOldModes(NodeContext &node, Resizing &resizing, StringRef nearest) {
  resizing.attributes = {node.named("mode", StringRef(node.stringAttribute("mode", "nearest"))),
                         node.named("coordinates", StringRef("asymmetric")), node.named("nearest", nearest)};
}

void resize10(NodeContext &node) {
  Resizing resizing;
  resizing.x = node.input(0);
  resizing.axes = allAxes(node, resizing.x);
  resizing.scales = listInput(node, 1, resizing.axes.size());
  readOldModes(node, resizing, "grow_floor_shrink_ceil");
  finishResize(node, resizing);
}

void upsample(NodeContext &node) {
  Resizing resizing;
  resizing.x = node.input(0);
  resizing.axes = allAxes(node, resizing.x);
  if (node.version >= 9) {
    resizing.scales = listInput(node, 1, resizing.axes.size());
  } else if (std::optional<SmallVector<double>> given = node.floatsAttribute("scales")) {
    SmallVector<float> scales(given->begin(), given->end());
    auto type = RankedTensorType::get({static_cast<int64_t>(scales.size())}, Float32Type::get(node.context()));
    resizing.scales = node.constant(DenseElementsAttr::get(type, ArrayRef(scales)));
  }
  readOldModes(node, resizing, "floor");
  finishResize(node, resizing);
}

void readModes(NodeContext &node, Resizing &resizing) {
  std::string coordinates = node.stringAttribute("coordinate_transformation_mode", "half_pixel");
  if (coordinates != "tf_crop_and_resize")
    resizing.roi = {};
  resizing.attributes = {node.named("mode", StringRef(node.stringAttribute("mode", "nearest"))),
                         node.named("coordinates", StringRef(coordinates)),
                         node.named("nearest", StringRef(node.stringAttribute("nearest_mode", "round_prefer_floor"))),
                         node.named("cubic_coeff", node.floatAttribute("cubic_coeff_a", -0.75)),
                         node.named("extrapolation_value", node.floatAttribute("extrapolation_value", 0))};
  if (node.intAttribute("exclude_outside", 0) != 0)
    resizing.attributes.push_back(node.flag("exclude_outside"));
  if (node.version < 18)
    return;
  if (node.intAttribute("antialias", 0) != 0)
    resizing.attributes.push_back(node.flag("antialias"));
  resizing.policy = node.stringAttribute("keep_aspect_ratio_policy", "stretch");
  if (resizing.policy != "stretch" && resizing.policy != "not_larger" && resizing.policy != "not_smaller")
    node.fail("keep_aspect_ratio_policy '" + resizing.policy + "' is not supported");
}

void resize(NodeContext &node) {
  Resizing resizing;
  resizing.x = node.input(0);
  resizing.axes = allAxes(node, resizing.x);
  if (std::optional<SmallVector<int64_t>> axes = node.version >= 18 ? node.intsAttribute("axes") : std::nullopt)
    resizing.axes = llvm::map_to_vector(*axes, [&](int64_t axis) { return node.axis(axis, node.rank(resizing.x)); });
  int64_t count = resizing.axes.size();
  resizing.roi = listInput(node, 1, 2 * count);
  resizing.sizes = listInput(node, 3, count);
  if (resizing.sizes && node.version < 13)
    node.optionalInput(2); // empty
  else
    resizing.scales = listInput(node, 2, count);
  readModes(node, resizing);
  finishResize(node, resizing);
}

constexpr Converter table[] = {
    {"Resize", 10, 10, resize10},
    {"Resize", 11, newest, resize},
    {"Upsample", 7, 9, upsample},
};

} // namespace

ArrayRef<Converter> resizeConverters() { return table; }

} // namespace llmc
