// Operators that sample images, cut pictures to a size, or put blocks back into them.
#include "compiler/Import/Converters.h"
#include "compiler/Import/RunTimeParts.h"
#include "dialects/Graph/DimLogic.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// The positions of `count` samples from -1 to 1: those of the outer samples' centres with `alignCorners`, else of
/// their borders.
Value positions(NodeContext &node, Value size, int64_t dim, DimExpr count, Type type, bool alignCorners) {
  Value one = node.scalar(type, 1), two = node.scalar(type, 2), start = node.scalar(type, -1);
  Value length = castTo(node, part(node, size, 0, node.number(dim), node.number(1)), type), step;
  if (alignCorners) {
    Value single = node.create<EqualOp>({length, one});
    step = node.create<DivOp>({two, node.create<SubOp>({length, one})});
    step = node.create<WhereOp>({single, node.scalar(type, 0), step});
  } else {
    step = node.create<DivOp>({two, length});
    start = node.create<AddOp>({start, node.create<DivOp>({step, two})});
  }
  return node.create<AddOp>({start, node.create<MulOp>({castTo(node, iota(node, count), type), step})});
}

/// theta * (x, y, 1) or (x, y, z, 1) at all places of a grid.
void affineGrid(NodeContext &node) {
  Value theta = node.input(0), size;
  bool alignCorners = node.intAttribute("align_corners", 0) != 0;
  std::optional<int64_t> declared = node.declaredRank(0);
  std::optional<int64_t> rows = node.rank(theta) == 3 ? node.dims(theta)[1].asConstant() : std::nullopt; // one per coordinate
  size = node.listInput(1, declared ? declared : rows ? std::optional(*rows + 2) : std::nullopt);
  std::optional<Dims> target = node.numbersOf(size), thetaDims = node.knownDims(theta, "the grid");
  if (!target || !thetaDims)
    return;
  int64_t spatial = static_cast<int64_t>(target->size()) - 2;
  if ((spatial != 2 && spatial != 3) || thetaDims->size() != 3)
    return node.fail("expects a size of 4 or 5 dims and theta of rank 3");
  Type type = node.elementType(theta);
  Dims grid(ArrayRef(*target).drop_front(2));
  Dims ofCoordinate = grid;
  ofCoordinate.push_back(node.number(1));
  SmallVector<Value> coordinates;
  for (int64_t dim = spatial - 1; dim >= 0; --dim) { // x, of the last dim, comes first
    Value line = positions(node, size, dim + 2, grid[dim], type, alignCorners);
    SmallVector<int64_t> behind = llvm::to_vector(llvm::seq<int64_t>(1, spatial - dim + 1));
    line = node.create<UnsqueezeOp>({line}, {node.named("axes", behind)});
    coordinates.push_back(node.create<BroadcastOp>({line}, {node.named("dims", ofCoordinate)}));
  }
  coordinates.push_back(node.create<BroadcastOp>({node.scalar(type, 1)}, {node.named("dims", ofCoordinate)}));
  Value places = node.create<ConcatOp>(coordinates, {node.named("axis", spatial)});
  Dims asRows = {productOf(node.context(), grid), node.number(spatial + 1)};
  places = node.create<ViewOp>({places}, {node.named("dims", asRows)});
  Value columns = node.create<TransposeOp>({theta}, {node.named("perm", ArrayRef<int64_t>{0, 2, 1})});
  Dims result = {(*thetaDims)[0]};
  result.append(grid);
  result.push_back(node.number(spatial));
  node.result(node.create<ViewOp>({node.create<MatMulOp>({places, columns})}, {node.named("dims", result)}));
}

void centerCropPad(NodeContext &node) {
  Value x = node.input(0);
  int64_t rank = node.rank(x);
  SmallVector<int64_t> axes = node.intsAttribute("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  std::optional<Dims> sizes = node.numbers(1, axes.size()), dims = node.knownDims(x, "CenterCropPad");
  if (!sizes || !dims)
    return;
  DimExpr zero = node.number(0);
  Dims before(rank, zero), after(rank, zero);
  for (auto [given, target] : llvm::zip_equal(axes, *sizes)) {
    int64_t axis = node.axis(given, rank);
    if (node.failed())
      return;
    node.require(isNegative(target), zero, "a size is negative");
    DimExpr more = target - (*dims)[axis];
    before[axis] = more.max(zero).floorDiv(2) - (zero - more).max(zero).floorDiv(2);
    after[axis] = more - before[axis];
  }
  node.result(padded(node, x, before, after, Value(), /*mode=*/0));
}

void gridSample(NodeContext &node) {
  Value x = node.input(0), grid = node.input(1);
  std::string mode = node.stringAttribute("mode", node.version < 20 ? "bilinear" : "linear");
  if (node.version < 20 && StringRef(mode).starts_with("bi")) // bilinear and bicubic are linear and cubic since
    mode = mode.substr(2);
  std::string padding = node.stringAttribute("padding_mode", "zeros");
  SmallVector<NamedAttribute> attributes = {node.named("mode", StringRef(mode)), node.named("padding", StringRef(padding))};
  if (node.intAttribute("align_corners", 0) != 0)
    attributes.push_back(node.flag("align_corners"));
  node.result(node.create<GridSampleOp>({x, grid}, attributes));
}

void roiAlign(NodeContext &node) {
  Value x = node.input(0), rois = node.input(1), images = node.input(2);
  std::string mode = node.stringAttribute("mode", "avg");
  std::string places = node.version < 16 ? "output_half_pixel" : node.stringAttribute("coordinate_transformation_mode", "half_pixel");
  if (mode != "avg" && mode != "max")
    return node.fail("mode '" + mode + "' is not supported");
  if (places != "half_pixel" && places != "output_half_pixel")
    return node.fail("coordinate_transformation_mode '" + places + "' is not supported");
  SmallVector<NamedAttribute> attributes = {
      node.named("height", node.intAttribute("output_height", 1)), node.named("width", node.intAttribute("output_width", 1)),
      node.named("samples", node.intAttribute("sampling_ratio", 0)), node.named("scale", node.floatAttribute("spatial_scale", 1))};
  if (places == "half_pixel")
    attributes.push_back(node.flag("half_pixel"));
  if (mode == "max")
    attributes.push_back(node.flag("maximum"));
  node.result(node.create<RoiAlignOp>({x, rois, images}, attributes));
}

void maxRoiPool(NodeContext &node) {
  Value x = node.input(0), rois = node.input(1);
  std::optional<SmallVector<int64_t>> shape = node.intsAttribute("pooled_shape");
  double scale = node.floatAttribute("spatial_scale", 1);
  if (!shape || shape->size() != 2)
    return node.fail("attribute 'pooled_shape' must have two entries");
  node.result(node.create<MaxRoiPoolOp>(
      {x, rois}, {node.named("height", (*shape)[0]), node.named("width", (*shape)[1]), node.named("scale", scale)}));
}

/// Strides, pads and dilations of `spatial` dims.
SmallVector<NamedAttribute> placement(NodeContext &node, int64_t spatial) {
  SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
  return {node.named("strides", node.intsAttribute("strides").value_or(ones)),
          node.named("pads", node.intsAttribute("pads").value_or(zeros)),
          node.named("dilations", node.intsAttribute("dilations").value_or(ones))};
}

void deformConv(NodeContext &node) {
  Value x = node.input(0), weight = node.input(1), offset = node.input(2), bias = node.optionalInput(3), mask = node.optionalInput(4);
  SmallVector<NamedAttribute> attributes = placement(node, node.rank(x) - 2);
  attributes.append({node.named("group", node.intAttribute("group", 1)), node.named("offset_group", node.intAttribute("offset_group", 1))});
  Dims weightDims = node.dims(weight);
  if (std::optional<SmallVector<int64_t>> kernel = node.intsAttribute("kernel_shape"))
    for (auto [dim, size] : llvm::zip(ArrayRef(weightDims).drop_front(std::min<int64_t>(2, weightDims.size())), *kernel))
      node.require(dim, node.number(size), "kernel_shape is not that of the weight");
  SmallVector<Value> operands = node.present({x, weight, offset, bias, mask}, attributes);
  node.result(node.create<DeformConvOp>(operands, attributes));
}

/// How many dims the image of Col2Im has, as far as attributes or the result's declared rank say it.
std::optional<int64_t> dimsOfImage(NodeContext &node) {
  if (auto strides = node.intsAttribute("strides"))
    return strides->size();
  if (auto dilations = node.intsAttribute("dilations"))
    return dilations->size();
  if (auto pads = node.intsAttribute("pads"))
    return pads->size() / 2;
  std::optional<int64_t> declared = node.declaredRank(0);
  return declared ? std::optional(*declared - 2) : std::nullopt;
}

void col2Im(NodeContext &node) {
  std::optional<int64_t> spatial = dimsOfImage(node);
  Value x = node.input(0), block = node.listInput(2, spatial);
  std::optional<Dims> dims = node.knownDims(x, "the image"), image = node.numbersOf(node.numbersInput(1, spatial)),
                      sizes = node.numbersOf(block);
  if (!dims || !image || !sizes)
    return;
  if (dims->size() != 3 || image->size() != sizes->size())
    return node.fail("expects x of rank 3 and an image and a block of as many dims");
  Dims result = {(*dims)[0], (*dims)[1].floorDiv(productOf(node.context(), *sizes).max(node.number(1)))};
  result.append(*image);
  SmallVector<NamedAttribute> attributes = placement(node, image->size());
  attributes.push_back(node.named("dims", result));
  node.result(node.create<Col2ImOp>({x, block}, attributes));
}

constexpr Converter table[] = {
    {"AffineGrid", 20, newest, affineGrid},
    {"CenterCropPad", 18, newest, centerCropPad},
    {"Col2Im", 18, newest, col2Im},
    {"DeformConv", 19, newest, deformConv},
    {"GridSample", 16, newest, gridSample},
    {"MaxRoiPool", 1, newest, maxRoiPool},
    {"RoiAlign", 10, newest, roiAlign},
};

} // namespace

ArrayRef<Converter> imageConverters() { return table; }

} // namespace llmc
