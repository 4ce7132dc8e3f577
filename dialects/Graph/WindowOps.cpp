// Shape rules of convolution and pooling, in the order of WindowOps.td.
#include "dialects/Graph/Graph.h"

using namespace mlir;

namespace llmc::graph {
namespace {

struct Window {
  ArrayRef<int64_t> strides, pads, dilations;
  bool ceilMode = false;
  std::optional<StringRef> autoPad = std::nullopt;
};

LogicalResult checkWindow(ShapeInference &shapes, const Window &window, size_t spatial) {
  if (window.autoPad && *window.autoPad != "same_upper" && *window.autoPad != "same_lower")
    return shapes.fail("unknown auto_pad '" + *window.autoPad + "'");
  if (window.strides.size() != spatial || window.dilations.size() != spatial || window.pads.size() != 2 * spatial)
    return shapes.fail("expects " + Twine(spatial) + " strides and dilations and " + Twine(2 * spatial) + " pads");
  auto positive = [](int64_t value) { return value > 0 && value < (1 << 30); };
  if (!llvm::all_of(window.strides, positive) || !llvm::all_of(window.dilations, positive))
    return shapes.fail("strides and dilations must be positive");
  if (!llvm::all_of(window.pads, [](int64_t value) { return value >= 0 && value < (1 << 30); }))
    return shapes.fail("pads must not be negative");
  return success();
}

/// Number of window positions along spatial dim i.
FailureOr<DimExpr> positions(ShapeInference &shapes, const Window &window, size_t i, DimExpr input, DimExpr kernel) {
  if (!input || !kernel)
    return DimExpr();
  size_t spatial = window.strides.size();
  int64_t stride = window.strides[i];
  if (window.autoPad)
    return input.ceilDiv(stride);
  DimExpr padded = input + (window.pads[i] + window.pads[spatial + i]);
  DimExpr span = padded - ((kernel - 1) * window.dilations[i] + 1);
  if (auto value = span.asConstant(); value && *value < 0)
    return shapes.fail("window of " + kernel.str() + " (dilation " + Twine(window.dilations[i]) +
                       ") exceeds the padded input of " + padded.str());
  if (!window.ceilMode)
    return span.floorDiv(stride) + 1;
  // The last window must start inside the input or its leading pad.
  DimExpr rounded = span.ceilDiv(stride) + 1;
  return shapes.simplify(rounded.min((input + window.pads[i]).ceilDiv(stride)));
}

/// Dims of the result: [N, channels, positions...] or channels last.
FailureOr<Dims> resultDims(ShapeInference &shapes, const Window &window, ArrayRef<DimExpr> kernel, DimExpr channels,
                           bool channelsLast) {
  ArrayRef<DimExpr> x = shapes.dims(0);
  Dims dims = {x.front()};
  if (!channelsLast)
    dims.push_back(channels);
  for (size_t i = 0; i < kernel.size(); ++i) {
    FailureOr<DimExpr> dim = positions(shapes, window, i, x[i + (channelsLast ? 1 : 2)], kernel[i]);
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
  }
  if (channelsLast)
    dims.push_back(channels);
  return dims;
}

LogicalResult checkBias(ShapeInference &shapes, DimExpr channels) {
  if (shapes.rank(2) != 1)
    return shapes.fail("expects a bias of rank 1, got " + Twine(shapes.rank(2)));
  return shapes.same(shapes.dims(2)[0], channels, "bias size and output channels differ");
}

template <typename Adaptor> LogicalResult inferPool(Adaptor adaptor, ShapeInference &shapes) {
  Window window{adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations(), adaptor.getCeilMode(), adaptor.getAutoPad()};
  size_t spatial = adaptor.getKernel().size();
  if (shapes.rank(0) != static_cast<int64_t>(spatial) + 2)
    return shapes.fail("a window of " + Twine(spatial) + " dims needs an input of rank " + Twine(spatial + 2) + ", got " +
                       Twine(shapes.rank(0)));
  if (failed(checkWindow(shapes, window, spatial)))
    return failure();
  Dims kernel;
  for (int64_t size : adaptor.getKernel()) {
    if (size <= 0)
      return shapes.fail("window size " + Twine(size) + " is not positive");
    kernel.push_back(shapes.constant(size));
  }
  bool last = adaptor.getChannelsLast();
  DimExpr channels = last ? shapes.dims(0).back() : shapes.dims(0)[1];
  FailureOr<Dims> dims = resultDims(shapes, window, kernel, channels, last);
  if (failed(dims))
    return failure();
  shapes.result(shapes.elementType(0), *dims);
  return success();
}

} // namespace

LogicalResult ConvOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t rank = shapes.rank(0);
  if (rank < 3 || rank > 5 || shapes.rank(1) != rank)
    return shapes.fail("expects input and weight of one rank from 3 to 5, got " + Twine(rank) + " and " +
                       Twine(shapes.rank(1)));
  if (failed(shapes.sameElementType(0, 1)))
    return failure();
  Window window{adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations(), false, adaptor.getAutoPad()};
  if (failed(checkWindow(shapes, window, rank - 2)))
    return failure();
  bool last = adaptor.getChannelsLast();
  ArrayRef<DimExpr> weight = shapes.dims(1);
  DimExpr channels = last ? shapes.dims(0).back() : shapes.dims(0)[1];
  int64_t group = adaptor.getGroup();
  if (group < 0)
    return shapes.fail("group " + Twine(group) + " is negative");
  if (failed(group ? shapes.same(channels, weight[1] * group, "input channels and group * weight channels differ")
                   : shapes.same(weight[1], shapes.constant(1), "one group per channel, and channels of a weight")))
    return failure();
  if (!group && failed(shapes.same(channels, weight[0], "one group per channel: input and output channels differ")))
    return failure();
  if (auto outputs = weight[0].asConstant(); group && outputs && *outputs % group)
    return shapes.fail(Twine(*outputs) + " output channels do not divide into " + Twine(group) + " groups");
  if (adaptor.getBias() && failed(checkBias(shapes, weight[0])))
    return failure();
  FailureOr<Dims> dims = resultDims(shapes, window, weight.drop_front(2), weight[0], last);
  if (failed(dims))
    return failure();
  shapes.result(shapes.elementType(0), *dims);
  return success();
}

LogicalResult ConvTransposeOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t rank = shapes.rank(0), spatial = rank - 2, group = adaptor.getGroup();
  if (rank < 3 || rank > 5 || shapes.rank(1) != rank)
    return shapes.fail("expects input and weight of one rank from 3 to 5, got " + Twine(rank) + " and " + Twine(shapes.rank(1)));
  ArrayRef<int64_t> strides = adaptor.getStrides(), pads = adaptor.getPads(), added = adaptor.getOutputPadding();
  std::optional<ArrayRef<int64_t>> sizes = adaptor.getOutputShape();
  Window window{strides, pads, adaptor.getDilations(), false, adaptor.getAutoPad()};
  if (failed(shapes.sameElementType(0, 1)) || failed(checkWindow(shapes, window, spatial)))
    return failure();
  if (sizes && (!window.autoPad || static_cast<int64_t>(sizes->size()) != spatial))
    return shapes.fail("expects auto_pad and " + Twine(spatial) + " sizes for output_shape");
  if (static_cast<int64_t>(added.size()) != spatial || llvm::any_of(added, [](int64_t value) { return value < 0; }))
    return shapes.fail("expects " + Twine(spatial) + " numbers of added elements, none negative");
  ArrayRef<DimExpr> x = shapes.dims(0), weight = shapes.dims(1);
  if (group <= 0)
    return shapes.fail("group " + Twine(group) + " is not positive");
  FailureOr<DimExpr> channels = shapes.same(x[1], weight[0], "channels of input and weight differ");
  if (failed(channels))
    return failure();
  if (auto inputs = channels->asConstant(); inputs && *inputs % group)
    return shapes.fail(Twine(*inputs) + " input channels do not divide into " + Twine(group) + " groups");
  Dims dims = {x[0], weight[1] * group};
  if (adaptor.getBias() && failed(checkBias(shapes, dims[1])))
    return failure();
  for (int64_t i = 0; window.autoPad && i < spatial; ++i)
    dims.push_back(sizes ? shapes.constant((*sizes)[i]) : x[i + 2] * strides[i]);
  for (int64_t i = 0; !window.autoPad && i < spatial; ++i) {
    DimExpr extent = (weight[i + 2] - 1) * adaptor.getDilations()[i] + 1;
    DimExpr size = (x[i + 2] - 1) * strides[i] + extent + (added[i] - pads[i] - pads[spatial + i]);
    if (auto known = size.asConstant(); known && *known < 0)
      return shapes.fail("the result has " + Twine(*known) + " positions along spatial dim " + Twine(i));
    dims.push_back(size);
  }
  shapes.result(shapes.elementType(0), dims);
  return success();
}

LogicalResult MaxPoolOp::inferShape(Adaptor adaptor, ShapeInference &shapes) { return inferPool(adaptor, shapes); }
LogicalResult MaxPoolWithIndicesOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (failed(inferPool(adaptor, shapes)))
    return failure();
  shapes.result(IntegerType::get(shapes.context(), 64), shapes.results()[0].dims);
  return success();
}
LogicalResult AveragePoolOp::inferShape(Adaptor adaptor, ShapeInference &shapes) { return inferPool(adaptor, shapes); }

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/WindowOps.cpp.inc"

void llmc::graph::GraphDialect::registerWindowOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/WindowOps.cpp.inc"
      >();
}
