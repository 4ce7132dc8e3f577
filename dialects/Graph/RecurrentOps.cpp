// Shape rules of recurrent layers and of attention by a state.
#include "dialects/Graph/Graph.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace llmc::graph {

// As kernels/reference/Recurrent.cpp numbers them; -1 for an unknown name.
static int64_t packedDirection(StringRef name) {
  return llvm::StringSwitch<int64_t>(name).Case("forward", 0).Case("reverse", 1).Case("bidirectional", 2).Default(-1);
}
static int64_t packedActivation(StringRef name) {
  return llvm::StringSwitch<int64_t>(name)
      .Case("Relu", 0)
      .Case("Tanh", 1)
      .Case("Sigmoid", 2)
      .Case("Affine", 3)
      .Case("LeakyRelu", 4)
      .Case("ThresholdedRelu", 5)
      .Case("ScaledTanh", 6)
      .Case("HardSigmoid", 7)
      .Case("Elu", 8)
      .Case("Softsign", 9)
      .Case("Softplus", 10)
      .Default(-1);
}

static void packActivations(ArrayAttr activations, PackedAttributes &pack) {
  SmallVector<int64_t> numbers;
  for (StringAttr name : activations.getAsRange<StringAttr>())
    numbers.push_back(packedActivation(name.getValue()));
  pack.list(numbers);
}

namespace {

/// What the layer computes with: `gates` gates, `functions` activations per direction.
struct Layer {
  int64_t gates, functions;
};

template <typename Adaptor> LogicalResult checkActivations(Adaptor adaptor, ShapeInference &shapes, size_t count) {
  if (adaptor.getActivations().size() != count || adaptor.getAlphas().size() != count || adaptor.getBetas().size() != count)
    return shapes.fail("expects " + Twine(count) + " activations, alphas and betas");
  for (Attribute name : adaptor.getActivations())
    if (packedActivation(cast<StringAttr>(name).getValue()) < 0)
      return shapes.fail("unknown activation '" + cast<StringAttr>(name).getValue() + "'");
  return success();
}

/// The number of directions.
template <typename Adaptor> FailureOr<int64_t> checkLayer(Adaptor adaptor, ShapeInference &shapes, int64_t functions) {
  if (packedDirection(adaptor.getDirection()) < 0)
    return shapes.fail("unknown direction '" + adaptor.getDirection() + "'");
  int64_t directions = adaptor.getDirection() == "bidirectional" ? 2 : 1;
  if (failed(checkActivations(adaptor, shapes, directions * functions)))
    return failure();
  return directions;
}

/// Checks operand `operand` against `expected`.
LogicalResult checkDims(ShapeInference &shapes, size_t operand, const char *what, ArrayRef<DimExpr> expected) {
  if (shapes.rank(operand) != static_cast<int64_t>(expected.size()))
    return shapes.fail(Twine(what) + " has rank " + Twine(shapes.rank(operand)) + ", expected " + Twine(expected.size()));
  for (auto [dim, other] : llvm::zip_equal(shapes.dims(operand), expected))
    if (failed(shapes.same(dim, other, Twine("dims of ") + what + " do not fit")))
      return failure();
  return success();
}

/// Appends the results y and the last states.
template <typename Adaptor>
LogicalResult inferLayer(Adaptor adaptor, ShapeInference &shapes, Layer layer, ArrayRef<std::pair<const char *, Value>> optionals) {
  FailureOr<int64_t> directions = checkLayer(adaptor, shapes, layer.functions);
  if (failed(directions))
    return failure();
  if (shapes.rank(0) != 3 || shapes.rank(2) != 3)
    return shapes.fail("expects x and recurrence of rank 3, got " + Twine(shapes.rank(0)) + " and " + Twine(shapes.rank(2)));
  DimExpr steps = shapes.dims(0)[0], batch = shapes.dims(0)[1], inputs = shapes.dims(0)[2], hidden = shapes.dims(2)[2];
  DimExpr ways = shapes.constant(*directions);
  Dims state = {ways, batch, hidden};
  if (failed(checkDims(shapes, 1, "weight", {ways, hidden * layer.gates, inputs})) ||
      failed(checkDims(shapes, 2, "recurrence", {ways, hidden * layer.gates, hidden})))
    return failure();
  size_t operand = 3;
  for (auto [what, value] : optionals) {
    if (!value)
      continue;
    Dims expected = state;
    if (StringRef(what) == "bias")
      expected = {ways, hidden * (2 * layer.gates)};
    else if (StringRef(what) == "lengths")
      expected = {batch};
    else if (StringRef(what) == "peepholes")
      expected = {ways, hidden * 3};
    if (failed(checkDims(shapes, operand, what, expected)))
      return failure();
    if (StringRef(what) != "lengths" && failed(shapes.sameElementType(0, operand)))
      return failure();
    ++operand;
  }
  if (failed(shapes.sameElementType(0, 1)) || failed(shapes.sameElementType(0, 2)))
    return failure();
  shapes.result(shapes.elementType(0), {steps, ways, batch, hidden});
  shapes.result(shapes.elementType(0), state);
  return success();
}

} // namespace

LogicalResult RnnOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  return inferLayer(adaptor, shapes, {1, 1},
                    {{"bias", adaptor.getBias()}, {"lengths", adaptor.getLengths()}, {"initial_h", adaptor.getInitialH()}});
}

LogicalResult GruOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  return inferLayer(adaptor, shapes, {3, 2},
                    {{"bias", adaptor.getBias()}, {"lengths", adaptor.getLengths()}, {"initial_h", adaptor.getInitialH()}});
}

LogicalResult LstmOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (failed(inferLayer(adaptor, shapes, {4, 3},
                        {{"bias", adaptor.getBias()},
                         {"lengths", adaptor.getLengths()},
                         {"initial_h", adaptor.getInitialH()},
                         {"initial_c", adaptor.getInitialC()},
                         {"peepholes", adaptor.getPeepholes()}})))
    return failure();
  shapes.result(shapes.elementType(0), shapes.results()[1].dims);
  return success();
}

LogicalResult QuantizedLstmOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  FailureOr<int64_t> directions = checkLayer(adaptor, shapes, 3);
  if (failed(directions))
    return failure();
  if (shapes.rank(0) != 4 || shapes.rank(1) != 3)
    return shapes.fail("expects gates of rank 4 and recurrence of rank 3, got " + Twine(shapes.rank(0)) + " and " + Twine(shapes.rank(1)));
  DimExpr steps = shapes.dims(0)[1], batch = shapes.dims(0)[2], hidden = shapes.dims(1)[2], ways = shapes.constant(*directions);
  Dims state = {ways, batch, hidden};
  std::tuple<const char *, bool, Dims> operands[] = {{"gates", true, {ways, steps, batch, hidden * 4}},
                                                     {"recurrence", true, {ways, hidden * 4, hidden}},
                                                     {"scales", true, {ways, hidden * 4}},
                                                     {"zero_points", true, {ways, hidden * 4}},
                                                     {"bias", !!adaptor.getBias(), {ways, hidden * 8}},
                                                     {"initial_h", !!adaptor.getInitialH(), state},
                                                     {"initial_c", !!adaptor.getInitialC(), state},
                                                     {"peepholes", !!adaptor.getPeepholes(), {ways, hidden * 3}}};
  size_t operand = 0;
  for (const auto &[what, isPresent, expected] : operands)
    if (isPresent && failed(checkDims(shapes, operand++, what, expected)))
      return failure();
  shapes.result(shapes.elementType(0), {steps, ways, batch, hidden});
  shapes.result(shapes.elementType(0), state);
  shapes.result(shapes.elementType(0), state);
  return success();
}

LogicalResult LinearAttentionOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t queryHeads = adaptor.getQueryHeads(), heads = adaptor.getHeads();
  if (heads <= 0 || queryHeads <= 0 || queryHeads % heads != 0)
    return shapes.fail(Twine(queryHeads) + " query heads for " + Twine(heads) + " heads");
  for (size_t operand : {0, 1, 2})
    if (shapes.rank(operand) != 3)
      return shapes.fail("expects query, key and value of rank 3, got " + Twine(shapes.rank(operand)));
  DimExpr batch = shapes.dims(0)[0], steps = shapes.dims(0)[1];
  DimExpr keys = shapes.dims(1)[2].floorDiv(heads), values = shapes.dims(2)[2].floorDiv(heads);
  Dims state = {batch, shapes.constant(heads), keys, values};
  if (failed(checkDims(shapes, 0, "query", {batch, steps, keys * queryHeads})) ||
      failed(checkDims(shapes, 1, "key", {batch, steps, keys * heads})) ||
      failed(checkDims(shapes, 2, "value", {batch, steps, values * heads})))
    return failure();
  size_t operand = 3;
  if (adaptor.getPast() && failed(checkDims(shapes, operand++, "past", state)))
    return failure();
  // The kernel checks their last dim, of which there are two forms.
  for (auto [what, value] : {std::pair("decay", adaptor.getDecay()), std::pair("beta", adaptor.getBeta())}) {
    if (!value)
      continue;
    DimExpr any = shapes.rank(operand) == 3 ? shapes.dims(operand)[2] : DimExpr();
    if (failed(checkDims(shapes, operand++, what, {batch, steps, any})))
      return failure();
  }
  shapes.result(shapes.elementType(0), {batch, steps, values * queryHeads});
  shapes.result(shapes.elementType(0), state);
  return success();
}

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/RecurrentOps.cpp.inc"

void llmc::graph::GraphDialect::registerRecurrentOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/RecurrentOps.cpp.inc"
      >();
}
