// Shape rules of the ops that sample images, in the order of ImageOps.td.
#include "dialects/Graph/Graph.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace llmc::graph {

// As kernels/reference/Resize.cpp and GridSample.cpp number them; -1 for an unknown name.
static int64_t packedMode(StringRef name) {
  return llvm::StringSwitch<int64_t>(name).Case("nearest", 0).Case("linear", 1).Case("cubic", 2).Default(-1);
}
static int64_t packedCoordinates(StringRef name) {
  return llvm::StringSwitch<int64_t>(name)
      .Case("half_pixel", 0)
      .Case("half_pixel_symmetric", 1)
      .Case("pytorch_half_pixel", 2)
      .Case("align_corners", 3)
      .Case("asymmetric", 4)
      .Case("tf_half_pixel_for_nn", 5)
      .Case("tf_crop_and_resize", 6)
      .Default(-1);
}
static int64_t packedNearest(StringRef name) {
  return llvm::StringSwitch<int64_t>(name)
      .Case("round_prefer_floor", 0)
      .Case("round_prefer_ceil", 1)
      .Case("floor", 2)
      .Case("ceil", 3)
      .Case("grow_floor_shrink_ceil", 4)
      .Default(-1);
}

static int64_t packedPadding(StringRef name) {
  return llvm::StringSwitch<int64_t>(name).Case("zeros", 0).Case("border", 1).Case("reflection", 2).Default(-1);
}

/// Operand `operand` must be a list of `count` elements.
static LogicalResult checkList(ShapeInference &shapes, size_t operand, int64_t count, const Twine &what) {
  if (shapes.rank(operand) != 1)
    return shapes.fail(what + " has rank " + Twine(shapes.rank(operand)) + ", expected 1");
  return shapes.same(shapes.dims(operand)[0], shapes.constant(count), "the number of elements of " + what);
}

static LogicalResult checkResizeModes(ResizeOp::Adaptor adaptor, ShapeInference &shapes) {
  if (packedMode(adaptor.getMode()) < 0)
    return shapes.fail("unknown mode '" + adaptor.getMode() + "'");
  if (packedCoordinates(adaptor.getCoordinates()) < 0)
    return shapes.fail("unknown coordinates '" + adaptor.getCoordinates() + "'");
  if (packedNearest(adaptor.getNearest()) < 0)
    return shapes.fail("unknown rounding '" + adaptor.getNearest() + "'");
  if (adaptor.getCoordinates() == "tf_crop_and_resize" && !adaptor.getRoi())
    return shapes.fail("tf_crop_and_resize needs a region of interest");
  if (adaptor.getAntialias() && adaptor.getMode() == "nearest")
    return shapes.fail("mode nearest has no antialiasing");
  return success();
}

LogicalResult ResizeOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t rank = shapes.rank(0), count = adaptor.getAxes().size();
  SmallVector<bool> resized(rank);
  for (int64_t axis : adaptor.getAxes()) {
    if (axis < 0 || axis >= rank || resized[axis])
      return shapes.fail("axis " + Twine(axis) + " of a tensor of rank " + Twine(rank) + " is out of range or given twice");
    resized[axis] = true;
  }
  if (failed(checkResizeModes(adaptor, shapes)))
    return failure();
  if (adaptor.getScales() && failed(checkList(shapes, 1, count, "scales")))
    return failure();
  if (adaptor.getRoi() && failed(checkList(shapes, adaptor.getScales() ? 2 : 1, 2 * count, "roi")))
    return failure();
  Dims dims = dimsOf(adaptor.getDims());
  if (static_cast<int64_t>(dims.size()) != rank)
    return shapes.fail("expects " + Twine(rank) + " dims, got " + Twine(dims.size()));
  for (int64_t d = 0; d < rank; ++d)
    if (!resized[d] && failed(shapes.same(dims[d], shapes.dims(0)[d], "dim " + Twine(d) + " is not resized")))
      return failure();
  shapes.result(shapes.elementType(0), dims);
  return success();
}

LogicalResult GridSampleOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t rank = shapes.rank(0);
  if (rank < 3 || rank > 5 || shapes.rank(1) != rank)
    return shapes.fail("expects input and grid of one rank from 3 to 5, got " + Twine(rank) + " and " + Twine(shapes.rank(1)));
  if (packedMode(adaptor.getMode()) < 0)
    return shapes.fail("unknown mode '" + adaptor.getMode() + "'");
  if (packedPadding(adaptor.getPadding()) < 0)
    return shapes.fail("unknown padding '" + adaptor.getPadding() + "'");
  if (packedMode(adaptor.getMode()) > 0 && !isa<FloatType>(shapes.elementType(0)))
    return shapes.fail("interpolation of other than floats is not supported");
  ArrayRef<DimExpr> x = shapes.dims(0), grid = shapes.dims(1);
  FailureOr<DimExpr> batch = shapes.same(x[0], grid[0], "batches of input and grid differ");
  if (failed(batch) || failed(shapes.same(grid.back(), shapes.constant(rank - 2), "the places of the grid have other dims")))
    return failure();
  Dims dims = {*batch, x[1]};
  dims.append(grid.begin() + 1, grid.end() - 1);
  shapes.result(shapes.elementType(0), dims);
  return success();
}

/// [regions, channels, height, width]; operand 1 has `columns` numbers per region.
static LogicalResult inferRegions(ShapeInference &shapes, int64_t columns, int64_t height, int64_t width) {
  if (shapes.rank(0) != 4 || shapes.rank(1) != 2)
    return shapes.fail("expects images of rank 4 and regions of rank 2, got " + Twine(shapes.rank(0)) + " and " + Twine(shapes.rank(1)));
  if (failed(shapes.sameElementType(0, 1)) ||
      failed(shapes.same(shapes.dims(1)[1], shapes.constant(columns), "the numbers of a region")))
    return failure();
  if (height <= 0 || width <= 0)
    return shapes.fail("pictures of " + Twine(height) + " x " + Twine(width) + " pixels");
  shapes.result(shapes.elementType(0), {shapes.dims(1)[0], shapes.dims(0)[1], shapes.constant(height), shapes.constant(width)});
  return success();
}

LogicalResult RoiAlignOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (adaptor.getSamples() < 0)
    return shapes.fail(Twine(adaptor.getSamples()) + " samples");
  if (shapes.rank(2) != 1)
    return shapes.fail("images has rank " + Twine(shapes.rank(2)) + ", expected 1");
  if (shapes.rank(1) == 2 && failed(shapes.same(shapes.dims(2)[0], shapes.dims(1)[0], "numbers of images and regions differ")))
    return failure();
  return inferRegions(shapes, 4, adaptor.getHeight(), adaptor.getWidth());
}

LogicalResult MaxRoiPoolOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  return inferRegions(shapes, 5, adaptor.getHeight(), adaptor.getWidth());
}

/// A result's channels and positions as those of a convolution of images.
static LogicalResult checkDeformWeight(DeformConvOp::Adaptor adaptor, ShapeInference &shapes) {
  for (size_t operand : {0, 1, 2})
    if (shapes.rank(operand) != 4)
      return shapes.fail("expects operands of rank 4, got " + Twine(shapes.rank(operand)) + ": other images are not supported");
  int64_t group = adaptor.getGroup(), offsetGroup = adaptor.getOffsetGroup();
  if (group <= 0 || offsetGroup <= 0)
    return shapes.fail("groups must be positive");
  FailureOr<DimExpr> channels = shapes.same(shapes.dims(0)[1], shapes.dims(1)[1] * group,
                                            "input channels and group * weight channels differ");
  if (failed(channels))
    return failure();
  auto divides = [](DimExpr dim, int64_t groups) { return !dim || !dim.asConstant() || *dim.asConstant() % groups == 0; };
  if (!divides(*channels, offsetGroup) || !divides(shapes.dims(1)[0], group))
    return shapes.fail("channels do not divide into the groups");
  return success();
}

LogicalResult DeformConvOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (failed(checkDeformWeight(adaptor, shapes)))
    return failure();
  ArrayRef<int64_t> strides = adaptor.getStrides(), pads = adaptor.getPads(), dilations = adaptor.getDilations();
  if (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4)
    return shapes.fail("expects 2 strides and dilations and 4 pads");
  auto inReach = [](int64_t value) { return value >= 0 && value < (1 << 30); };
  if (llvm::is_contained(strides, 0) || !llvm::all_of(strides, inReach) || !llvm::all_of(dilations, inReach) || !llvm::all_of(pads,
      inReach))
    return shapes.fail("strides must be positive, dilations and pads not negative");
  ArrayRef<DimExpr> x = shapes.dims(0), weight = shapes.dims(1);
  DimExpr taps = weight[2] * weight[3] * adaptor.getOffsetGroup();
  Dims dims = {x[0], weight[0]};
  for (int d = 0; d < 2; ++d)
    dims.push_back((x[d + 2] + (pads[d] + pads[d + 2]) - ((weight[d + 2] - 1) * dilations[d] + 1)).floorDiv(strides[d]) + 1);
  auto checkPlaces = [&](size_t operand, DimExpr channels) {
    if (shapes.rank(operand) != 4)
      return failure();
    Dims expected = {x[0], channels, dims[2], dims[3]};
    for (auto [dim, other] : llvm::zip_equal(shapes.dims(operand), expected))
      if (failed(shapes.same(dim, other, "dims of operand " + Twine(operand) + " do not fit")))
        return failure();
    return success();
  };
  if (failed(checkPlaces(2, taps * 2)))
    return failure();
  size_t next = 3;
  if (adaptor.getBias()) {
    if (shapes.rank(next) != 1 || failed(shapes.same(shapes.dims(next)[0], weight[0], "bias size and output channels differ")))
      return shapes.fail("expects a bias of rank 1 with one element per output channel");
    ++next;
  }
  if (adaptor.getMask() && failed(checkPlaces(next, taps)))
    return shapes.fail("the mask does not fit");
  shapes.result(shapes.elementType(0), dims);
  return success();
}

LogicalResult Col2ImOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Dims dims = dimsOf(adaptor.getDims());
  int64_t spatial = static_cast<int64_t>(dims.size()) - 2;
  if (shapes.rank(0) != 3 || spatial < 1)
    return shapes.fail("expects x of rank 3 and a result of rank 3 or more, got " + Twine(shapes.rank(0)) + " and " + Twine(dims.size()));
  if (failed(checkList(shapes, 1, spatial, "block")))
    return failure();
  auto counts = [](ArrayRef<int64_t> values, int64_t count, int64_t least) {
    return static_cast<int64_t>(values.size()) == count && llvm::all_of(values,
        [=](int64_t value) { return value >= least && value < (1 << 30); });
  };
  if (!counts(adaptor.getStrides(), spatial, 1) || !counts(adaptor.getDilations(), spatial, 1) || !counts(adaptor.getPads(),
                                                                                                          2 * spatial, 0))
    return shapes.fail("expects " + Twine(spatial) + " positive strides and dilations and " + Twine(2 * spatial) + " pads");
  if (failed(shapes.same(dims[0], shapes.dims(0)[0], "batches differ")))
    return failure();
  shapes.result(shapes.elementType(0), dims);
  return success();
}

LogicalResult MaxUnpoolOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Dims dims = dimsOf(adaptor.getDims());
  size_t rank = shapes.rank(0), spatial = adaptor.getKernel().size();
  if (rank != spatial + 2 || dims.size() != rank || shapes.rank(1) != shapes.rank(0))
    return shapes.fail("expects x, indices and a result of rank " + Twine(spatial + 2));
  if (adaptor.getStrides().size() != spatial || adaptor.getPads().size() != 2 * spatial)
    return shapes.fail("expects " + Twine(spatial) + " strides and " + Twine(2 * spatial) + " pads");
  for (auto [dim, index] : llvm::zip_equal(shapes.dims(0), shapes.dims(1)))
    if (failed(shapes.same(dim, index, "dims of x and indices differ")))
      return failure();
  shapes.result(shapes.elementType(0), dims);
  return success();
}

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/ImageOps.cpp.inc"

void llmc::graph::GraphDialect::registerImageOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/ImageOps.cpp.inc"
      >();
}
