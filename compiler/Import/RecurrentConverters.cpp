// RNN, GRU and LSTM, the latter also with integer weights.
#include "compiler/Import/Converters.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// The defaults of an activation's parameters; nothing for one that it does not have.
struct Parameters {
  std::optional<double> alpha, beta;
};

Parameters parametersOf(StringRef activation) {
  return llvm::StringSwitch<Parameters>(activation)
      .Case("Affine", {1, 0})
      .Case("LeakyRelu", {0.01f, std::nullopt})
      .Case("ThresholdedRelu", {1, std::nullopt})
      .Case("ScaledTanh", {1, 1})
      .Case("HardSigmoid", {0.2f, 0.5})
      .Case("Elu", {1, std::nullopt})
      .Default({});
}

/// Takes the next of the given values, in their order, for an activation that has the parameter.
double take(ArrayRef<double> &given, std::optional<double> absent) {
  if (!absent || given.empty())
    return absent.value_or(0);
  double value = given.front();
  given = given.drop_front();
  return value;
}

/// `defaults` are those of one direction.
void readActivations(NodeContext &node, ArrayRef<StringRef> defaults, bool twice, SmallVector<NamedAttribute> &attributes) {
  SmallVector<std::string> names = node.stringsAttribute("activations").value_or(SmallVector<std::string>());
  if (names.empty())
    for (int i = 0; i < (twice ? 2 : 1); ++i)
      names.append(defaults.begin(), defaults.end());
  // Old files write the names in any case.
  constexpr StringRef known[] = {"Relu",       "Tanh",        "Sigmoid", "Affine",   "LeakyRelu", "ThresholdedRelu",
                                 "ScaledTanh", "HardSigmoid", "Elu",     "Softsign", "Softplus"};
  SmallVector<double> alphas = node.floatsAttribute("activation_alpha").value_or(SmallVector<double>()), usedAlphas;
  SmallVector<double> betas = node.floatsAttribute("activation_beta").value_or(SmallVector<double>()), usedBetas;
  ArrayRef<double> alphasLeft = alphas, betasLeft = betas;
  SmallVector<Attribute> functions;
  for (StringRef name : names) {
    const StringRef *place = llvm::find_if(known, [&](StringRef other) { return other.equals_insensitive(name); });
    if (place == std::end(known))
      return node.fail("activation '" + name + "' is not supported");
    Parameters parameters = parametersOf(*place);
    functions.push_back(StringAttr::get(node.context(), *place));
    usedAlphas.push_back(take(alphasLeft, parameters.alpha));
    usedBetas.push_back(take(betasLeft, parameters.beta));
  }
  attributes.append({node.named("activations", ArrayAttr::get(node.context(), functions)),
                     node.named("alphas", DenseF64ArrayAttr::get(node.context(), usedAlphas)),
                     node.named("betas", DenseF64ArrayAttr::get(node.context(), usedBetas))});
}

/// The attributes that all layers have.
SmallVector<NamedAttribute> readLayer(NodeContext &node, ArrayRef<StringRef> defaults, Value recurrence) {
  std::string direction = node.stringAttribute("direction", "forward");
  SmallVector<NamedAttribute> attributes = {node.named("direction", StringRef(direction))};
  readActivations(node, defaults, direction == "bidirectional", attributes);
  if (node.attribute("clip"))
    attributes.push_back(node.named("clip", node.floatAttribute("clip", 0)));
  std::optional<int64_t> hidden = node.intAttribute("hidden_size");
  if (hidden && node.rank(recurrence) == 3)
    node.require(node.dims(recurrence)[2], node.number(*hidden), "hidden_size is not that of the weights");
  if (node.version < 7)
    node.ignoreAttribute("output_sequence"); // says what the names of the outputs say too
  return attributes;
}

Value permuted(NodeContext &node, Value x, ArrayRef<int64_t> perm) {
  return x ? node.create<TransposeOp>({x}, {node.named("perm", perm)}) : Value();
}

/// Between ONNX's layout 1, with the batch in front, and the op's.
struct Layout {
  bool batchFirst;
  Value toOp(NodeContext &node, Value x) const { return batchFirst ? permuted(node, x, {1, 0, 2}) : x; }
  Value fromOp(NodeContext &node, Value state) const { return toOp(node, state); }
  Value sequenceFromOp(NodeContext &node, Value y) const { return batchFirst ? permuted(node, y, {2, 0, 1, 3}) : y; }
};

Layout readLayout(NodeContext &node) { return {node.version >= 14 && node.intAttribute("layout", 0) != 0}; }

template <typename Op> void simpleLayer(NodeContext &node, ArrayRef<StringRef> defaults, bool linearBeforeReset) {
  Layout layout = readLayout(node);
  Value x = layout.toOp(node, node.input(0)), weight = node.input(1), recurrence = node.input(2), bias = node.optionalInput(3);
  Value lengths = node.optionalInput(4), initial = layout.toOp(node, node.optionalInput(5));
  SmallVector<NamedAttribute> attributes = readLayer(node, defaults, recurrence);
  if (linearBeforeReset)
    attributes.push_back(node.flag("linear_before_reset"));
  SmallVector<Value> operands = node.present({x, weight, recurrence, bias, lengths, initial}, attributes);
  SmallVector<Value> results = node.createAll<Op>(operands, attributes);
  node.result(layout.sequenceFromOp(node, results[0]));
  node.result(layout.fromOp(node, results[1]));
}

void rnn(NodeContext &node) { simpleLayer<RnnOp>(node, {"Tanh"}, false); }

void gru(NodeContext &node) {
  bool linear = node.version >= 3 && node.intAttribute("linear_before_reset", 0) != 0;
  simpleLayer<GruOp>(node, {"Sigmoid", "Tanh"}, linear);
}

void lstm(NodeContext &node) {
  Layout layout = readLayout(node);
  Value x = layout.toOp(node, node.input(0)), weight = node.input(1), recurrence = node.input(2), bias = node.optionalInput(3);
  Value lengths = node.optionalInput(4), initialH = layout.toOp(node, node.optionalInput(5));
  Value initialC = layout.toOp(node, node.optionalInput(6)), peepholes = node.optionalInput(7);
  SmallVector<NamedAttribute> attributes = readLayer(node, {"Sigmoid", "Tanh", "Tanh"}, recurrence);
  if (node.intAttribute("input_forget", 0) != 0)
    attributes.push_back(node.flag("input_forget"));
  SmallVector<Value> operands = node.present({x, weight, recurrence, bias, lengths, initialH, initialC, peepholes}, attributes);
  SmallVector<Value> results = node.createAll<LstmOp>(operands, attributes);
  node.result(layout.sequenceFromOp(node, results[0]));
  node.result(layout.fromOp(node, results[1]));
  node.result(layout.fromOp(node, results[2]));
}

/// A value per direction, or per direction and row of the gates, as the latter.
Value ofRows(NodeContext &node, Value value, ArrayRef<DimExpr> dims) {
  if (node.rank(value) == 1)
    value = node.create<UnsqueezeOp>({value}, {node.named("axes", ArrayRef<int64_t>{1})});
  return node.create<BroadcastOp>({value}, {node.named("dims", dims)});
}

/// What x gives to the gates, [directions, steps, batch, gates], where it is quantized as a whole.
Value quantizedGates(NodeContext &node, Value x, Value weight, Value scales, Value zeroPoints) {
  Type f32 = Float32Type::get(node.context()), i32 = IntegerType::get(node.context(), 32);
  QuantizedBytes quantized = dynamicallyQuantized(node, x);
  auto inFront = [&](Value value, ArrayRef<int64_t> axes) { return node.create<UnsqueezeOp>({value}, {node.named("axes", axes)}); };
  Value steps = node.create<SubOp>({castTo(node, quantized.bytes, i32), castTo(node, quantized.zeroPoint, i32)});
  Value columns = node.create<SubOp>({castTo(node, weight, i32), inFront(zeroPoints, {1})});
  Value products = castTo(node, node.create<MatMulOp>({steps, inFront(columns, {1})}), f32);
  return node.create<MulOp>({products, node.create<MulOp>({quantized.scale, inFront(scales, {1, 2})})});
}

/// An LSTM with weights of bytes, [directions, inputs or hidden, 4 * hidden].
void dynamicQuantizeLstm(NodeContext &node) {
  Value x = node.input(0), weight = node.input(1), recurrence = node.input(2), bias = node.optionalInput(3);
  Value initialH = node.optionalInput(5), initialC = node.optionalInput(6), peepholes = node.optionalInput(7);
  Value weightScale = node.input(8), weightZero = node.input(9), recurrenceScale = node.input(10), recurrenceZero = node.input(11);
  if (node.hasInput(4))
    return node.fail("sequence_lens is not supported");
  if (node.rank(x) != 3 || node.rank(weight) != 3 || node.rank(recurrence) != 3)
    return node.fail("expects an input and weights of rank 3");
  std::optional<Dims> dims = node.knownDims(recurrence, "the layer");
  if (!dims)
    return;
  Value rows = permuted(node, recurrence, {0, 2, 1});
  SmallVector<NamedAttribute> attributes = readLayer(node, {"Sigmoid", "Tanh", "Tanh"}, rows);
  if (node.intAttribute("input_forget", 0) != 0)
    attributes.push_back(node.flag("input_forget"));
  Type i32 = IntegerType::get(node.context(), 32);
  Dims gateDims = {(*dims)[0], (*dims)[2]};
  auto perRow = [&](Value value) { return ofRows(node, value, gateDims); };
  Value gates = quantizedGates(node, x, weight, perRow(weightScale), perRow(castTo(node, weightZero, i32)));
  Value scales = perRow(recurrenceScale), zeros = perRow(castTo(node, recurrenceZero, i32));
  SmallVector<Value> operands = node.present({gates, rows, scales, zeros, bias, initialH, initialC, peepholes}, attributes);
  SmallVector<Value> results = node.createAll<QuantizedLstmOp>(operands, attributes);
  for (Value result : ArrayRef(results).take_front(3))
    node.result(result);
}

constexpr Converter table[] = {
    {"RNN", 1, newest, rnn},
    {"GRU", 1, newest, gru},
    {"LSTM", 1, newest, lstm},
    {"com.microsoft.DynamicQuantizeLSTM", 1, 1, dynamicQuantizeLstm},
};

} // namespace

ArrayRef<Converter> recurrentConverters() { return table; }

} // namespace llmc
