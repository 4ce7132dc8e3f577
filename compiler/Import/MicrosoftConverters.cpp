// Operators of the domain com.microsoft that ONNX Runtime's optimizer leaves in files: fused forms of ordinary ones.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// With the last two dims exchanged.
Value transposed(NodeContext &node, Value x) {
  int64_t rank = node.rank(x);
  if (rank < 2)
    return x;
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(perm[rank - 1], perm[rank - 2]);
  return node.create<TransposeOp>({x}, {node.named("perm", perm)});
}

void fusedMatMul(NodeContext &node) {
  Value a = node.input(0), b = node.input(1);
  double alpha = node.floatAttribute("alpha", 1);
  if (node.intAttribute("transBatchA", 0) || node.intAttribute("transBatchB", 0))
    return node.fail("transBatchA or transBatchB = 1 is not supported");
  a = node.intAttribute("transA", 0) ? transposed(node, a) : a;
  b = node.intAttribute("transB", 0) ? transposed(node, b) : b;
  Value product = node.create<MatMulOp>({a, b});
  node.result(alpha == 1 ? product : node.create<MulOp>({node.scalar(product, alpha), product}));
}

/// gelu(x + bias), where the bias is optional.
template <bool TanhForm> void biasedGelu(NodeContext &node) {
  Value x = node.input(0), bias = node.optionalInput(1);
  SmallVector<NamedAttribute> attributes;
  if (TanhForm)
    attributes.push_back(node.flag("tanh_form"));
  node.result(node.create<GeluOp>({bias ? node.create<AddOp>({x, bias}) : x}, attributes));
}

/// x * sigmoid(alpha * x)
void quickGelu(NodeContext &node) {
  Value x = node.input(0), alpha = node.scalar(x, node.floatAttribute("alpha", 1.702f));
  node.result(node.create<MulOp>({x, node.create<SigmoidOp>({node.create<MulOp>({alpha, x})})}));
}

Value layerNorm(NodeContext &node, Value x, Value scale, Value bias, double epsilon) {
  SmallVector<Value> operands = {x, scale};
  if (bias)
    operands.push_back(bias);
  return node.create<LayerNormOp>(operands, {node.named("axis", node.rank(x) - 1), node.named("epsilon", epsilon)});
}

void skipLayerNormalization(NodeContext &node) {
  Value sum = node.create<AddOp>({node.input(0), node.input(1)});
  Value scale = node.input(2), shift = node.optionalInput(3);
  if (Value bias = node.optionalInput(4))
    sum = node.create<AddOp>({sum, bias});
  double epsilon = node.floatAttribute("epsilon", 1e-12f);
  node.result(layerNorm(node, sum, scale, shift, epsilon));
  if (node.hasOutput(1) || node.hasOutput(2))
    addStatistics(node, sum, node.rank(sum) - 1, epsilon);
  else
    for (int i = 1; i < 3; ++i)
      node.result(sum); // read by nobody
  node.result(sum);
}

void skipSimplifiedLayerNormalization(NodeContext &node) {
  Value sum = node.create<AddOp>({node.input(0), node.input(1)}), scale = node.input(2);
  if (Value bias = node.optionalInput(3))
    sum = node.create<AddOp>({sum, bias});
  double epsilon = node.floatAttribute("epsilon", 1e-12f);
  if (node.hasOutput(1) || node.hasOutput(2))
    return node.fail("results of training are not supported");
  node.result(node.create<RmsNormOp>({sum, scale}, {node.named("axis", node.rank(sum) - 1), node.named("epsilon", epsilon)}));
  for (int i = 1; i < 4; ++i) // result 3, behind two that nobody reads
    node.result(sum);
}

Value looked(NodeContext &node, Value table, Value indices) {
  return node.create<GatherOp>({table, indices}, {node.named("axis", int64_t(0))});
}

/// The norm of the sum of a word's, its position's and its segment's embedding.
void embedLayerNormalization(NodeContext &node) {
  Value words = node.input(0), segments = node.optionalInput(1), wordTable = node.input(2), positionTable = node.input(3);
  Value segmentTable = node.optionalInput(4), scale = node.input(5), shift = node.input(6);
  node.optionalInput(7); // the mask, of which only mask_index speaks
  node.ignoreAttribute("mask_index_type");
  Value positions = node.optionalInput(8);
  double epsilon = node.floatAttribute("epsilon", 1e-12f);
  if (node.hasOutput(1))
    return node.fail("mask_index is not supported");
  if (static_cast<bool>(segments) != static_cast<bool>(segmentTable))
    return node.fail("segments and their embedding must come together");
  std::optional<Dims> dims = node.knownDims(words, "the positions");
  if (!dims)
    return;
  if (dims->size() != 2)
    return node.fail("expects words of rank 2, got " + Twine(dims->size()));
  Value places = positions ? looked(node, positionTable, positions) : part(node, positionTable, 0, node.number(0), (*dims)[1]);
  Value sum = node.create<AddOp>({looked(node, wordTable, words), places});
  if (segments)
    sum = node.create<AddOp>({sum, looked(node, segmentTable, segments)});
  Value y = layerNorm(node, sum, scale, shift, epsilon);
  for (Value result : {y, y, sum}) // result 1 is none
    node.result(result);
}

constexpr Converter table[] = {
    {"com.microsoft.FusedMatMul", 1, 1, fusedMatMul},
    {"com.microsoft.Gelu", 1, 1, biasedGelu<false>},
    {"com.microsoft.BiasGelu", 1, 1, biasedGelu<false>},
    {"com.microsoft.FastGelu", 1, 1, biasedGelu<true>},
    {"com.microsoft.QuickGelu", 1, 1, quickGelu},
    {"com.microsoft.SkipLayerNormalization", 1, 1, skipLayerNormalization},
    {"com.microsoft.SkipSimplifiedLayerNormalization", 1, 1, skipSimplifiedLayerNormalization},
    {"com.microsoft.EmbedLayerNormalization", 1, 1, embedLayerNormalization},
};

} // namespace

ArrayRef<Converter> microsoftConverters() { return table; }

} // namespace llmc
