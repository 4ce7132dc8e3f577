// Attention and the rotation of its queries and keys by position.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// [batch, length, heads * size] -> [batch, heads, length, size]
Value splitHeads(NodeContext &node, Value x, int64_t heads) {
  Value apart = node.create<ReshapeOp>({x, node.indices({0, 0, heads, -1})});
  return node.create<TransposeOp>({apart}, {node.named("perm", ArrayRef<int64_t>{0, 2, 1, 3})});
}

/// [batch, heads, length, size] -> [batch, length, heads * size]
Value joinHeads(NodeContext &node, Value x) {
  Value apart = node.create<TransposeOp>({x}, {node.named("perm", ArrayRef<int64_t>{0, 2, 1, 3})});
  return node.create<ReshapeOp>({apart, node.indices({0, 0, -1})});
}

Value appended(NodeContext &node, Value past, Value x) {
  return past ? node.create<ConcatOp>({past, x}, {node.named("axis", int64_t(2))}) : x;
}

/// The square root of the scale, which multiplies queries and keys: of the attribute, or of 1 / sqrt(head size).
Value rootOfScale(NodeContext &node, Value q) {
  Type f32 = Float32Type::get(node.context());
  Value scale;
  if (node.attribute("scale")) {
    scale = node.scalar(f32, node.floatAttribute("scale", 1));
  } else {
    Value size = castTo(node, shapeOf(node, q, 3, 4), f32);
    scale = node.create<DivOp>({node.scalar(f32, 1), node.create<SqrtOp>({size})});
  }
  return castTo(node, node.create<SqrtOp>({scale}), node.elementType(q));
}

/// What the heads of queries and of keys have to do with each other: each key head serves a group of query heads.
struct Heads {
  Dims q, k;

  /// The queries of a group as rows of one matrix: [batch, heads, rows, size] -> [batch, key heads, group * rows,
  /// size].
  Value joined(NodeContext &node, Value x) const {
    DimExpr rows = q[1].floorDiv(k[1]) * q[2];
    return node.create<ViewOp>({x}, {node.named("dims", Dims{q[0], k[1], rows, node.dims(x)[3]})});
  }
  /// [batch, key heads, group * rows, size] -> [batch, heads, rows, size]
  Value split(NodeContext &node, Value x) const {
    return node.create<ViewOp>({x}, {node.named("dims", Dims{q[0], q[1], q[2], node.dims(x)[3]})});
  }
  /// a * b, with the heads of a grouped.
  Value product(NodeContext &node, Value a, Value b) const {
    if (!a || !b)
      return {};
    if (q[1] == k[1])
      return node.create<MatMulOp>({a, b});
    Value rows = node.create<MatMulOp>({joined(node, a), b});
    return rows ? split(node, rows) : Value();
  }
};

std::optional<Heads> headsOf(NodeContext &node, Value q, Value k) {
  std::optional<Dims> queryDims = node.knownDims(q, "attention"), keyDims = node.knownDims(k, "attention");
  if (!queryDims || !keyDims)
    return std::nullopt;
  std::optional<int64_t> queries = (*queryDims)[1].asConstant(), keys = (*keyDims)[1].asConstant();
  if (queries && keys && (*keys == 0 || *queries % *keys != 0)) {
    node.fail(Twine(*queries) + " heads of queries do not share " + Twine(*keys) + " heads of keys");
    return std::nullopt;
  }
  return Heads{*queryDims, *keyDims};
}

/// A mask over fewer keys than there are hides the others (since opset 24).
Value filledUp(NodeContext &node, Value mask, DimExpr keys) {
  std::optional<Dims> dims = node.knownDims(mask, "the mask");
  if (!dims || dims->empty() || dims->back() == keys)
    return mask;
  dims->back() = (keys - dims->back()).max(node.number(0));
  Value hidden = node.scalar(mask, node.elementType(mask).isInteger(1) ? 0 : -infinity);
  Value rest = node.create<BroadcastOp>({hidden}, {node.named("dims", *dims)});
  return node.create<ConcatOp>({mask, rest}, {node.named("axis", node.rank(mask) - 1)});
}

Value both(NodeContext &node, Value condition, Value other) { return condition ? node.create<AndOp>({condition, other}) : other; }

/// Query i sees the keys up to i, and all past ones.
Value causal(NodeContext &node, DimExpr queries, DimExpr keys, Value pastKey) {
  Value row = node.create<UnsqueezeOp>({iota(node, queries)}, {node.named("axes", ArrayRef<int64_t>{1})});
  if (pastKey)
    row = node.create<AddOp>({row, shapeOf(node, pastKey, 2, 3)});
  return node.create<GreaterEqualOp>({row, iota(node, keys)});
}

/// The scores with the mask added, and -infinity for the keys that a query must not see.
Value masked(NodeContext &node, Value scores, Value pastKey) {
  if (!scores)
    return {};
  DimExpr queries = node.dims(scores)[2], keys = node.dims(scores)[3];
  Value mask = node.optionalInput(3), seen;
  bool isBool = node.elementType(mask).isInteger(1);
  if (mask && !isBool)
    mask = castTo(node, mask, node.elementType(scores));
  if (mask && node.version >= 24)
    mask = filledUp(node, mask, keys);
  for (int64_t axis = 0, rank = node.rank(mask); axis < rank && rank <= 4; ++axis)
    mask = expanded(node, mask, axis, node.dims(scores)[4 - rank + axis]);
  if (mask && isBool)
    seen = mask;
  else if (mask)
    scores = node.create<AddOp>({scores, mask});
  if (node.intAttribute("is_causal", 0))
    seen = both(node, seen, causal(node, queries, keys, pastKey));
  if (Value lengths = node.version >= 24 ? node.optionalInput(6) : Value()) {
    Value limit = node.create<UnsqueezeOp>({lengths}, {node.named("axes", ArrayRef<int64_t>{1, 2, 3})});
    seen = both(node, seen, node.create<LessOp>({iota(node, keys), limit}));
  }
  return seen ? node.create<WhereOp>({seen, scores, node.scalar(scores, -infinity)}) : scores;
}

Value softmaxOfScores(NodeContext &node, Value scores) {
  Type type = node.elementType(scores), precision = type;
  if (std::optional<int64_t> given = node.intAttribute("softmax_precision"))
    precision = elementTypeOf(node.context(), *given);
  if (!isa_and_nonnull<FloatType>(precision)) {
    node.fail("softmax_precision is no type of floats");
    return {};
  }
  Value y = node.create<SoftmaxOp>({castTo(node, scores, precision)}, {node.named("axis", int64_t(3))});
  return castTo(node, y, type);
}

/// x as a graph of the node makes it.
Value modified(NodeContext &node, StringRef attribute, Value x) {
  const FlatGraph *graph = x && node.attribute(attribute) ? node.graphAttribute(attribute, 1) : nullptr;
  if (!graph)
    return x;
  std::optional<SmallVector<Item>> results = node.run(*graph, {x});
  if (!results)
    return {};
  Value result = results->size() == 1 ? results->front().tensor() : Value();
  if (!result || node.elementType(result) != node.elementType(x) || node.rank(result) != 4) {
    node.fail(attribute + " does not give a value like the one it gets");
    return {};
  }
  for (auto [size, expected] : llvm::zip(node.dims(result), node.dims(x)))
    node.require(size, expected, attribute + " does not give a value like the one it gets");
  return result;
}

/// prob_mod(softmax(score_mod(q * k^T * scale))) * v
void flexAttention(NodeContext &node) {
  Value q = node.input(0), k = node.input(1), v = node.input(2);
  for (Value x : {q, k, v})
    if (x && node.rank(x) != 4)
      return node.fail("expects inputs of rank 4, got " + Twine(node.rank(x)));
  std::optional<Heads> heads = headsOf(node, q, k);
  if (!heads)
    return;
  Type type = node.elementType(q), precision = type.isF64() ? type : Float32Type::get(node.context());
  if (std::optional<int64_t> given = node.intAttribute("softmax_precision"))
    precision = elementTypeOf(node.context(), static_cast<int32_t>(*given));
  if (!isa_and_nonnull<FloatType>(precision))
    return node.fail("softmax_precision is no type of floats");
  Value root = rootOfScale(node, q);
  Value kTransposed = node.create<TransposeOp>({k}, {node.named("perm", ArrayRef<int64_t>{0, 1, 3, 2})});
  Value scores = heads->product(node, node.create<MulOp>({q, root}), node.create<MulOp>({kTransposed, root}));
  scores = modified(node, "score_mod", castTo(node, scores, precision));
  Value weights = modified(node, "prob_mod", node.create<SoftmaxOp>({scores}, {node.named("axis", int64_t(3))}));
  node.result(castTo(node, heads->product(node, weights, castTo(node, v, precision)), type));
}

/// The state is kept in float32, from the first step to the last.
void linearAttention(NodeContext &node) {
  Type f32 = Float32Type::get(node.context());
  auto wide = [&](size_t i) { return castTo(node, node.optionalInput(i), f32); };
  Value query = castTo(node, node.input(0), f32), key = castTo(node, node.input(1), f32), value = castTo(node, node.input(2), f32);
  Type stateType = node.hasInput(3) ? node.elementType(node.input(3)) : node.elementType(node.input(0));
  Value past = wide(3), decay = wide(4), beta = wide(5);
  std::string rule = node.stringAttribute("update_rule", "gated_delta");
  node.ignoreAttribute("chunk_size"); // says how a GPU may split the steps
  bool isGated = rule == "gated" || rule == "gated_delta", isDelta = rule == "delta" || rule == "gated_delta";
  if (!isGated && !isDelta && rule != "linear")
    return node.fail("update_rule '" + rule + "' is not supported");
  if ((isGated && !decay) || (isDelta && !beta))
    return node.fail("update_rule '" + rule + "' needs an input that is missing");
  SmallVector<NamedAttribute> attributes = {node.named("query_heads", node.intAttribute("q_num_heads", 0)),
                                            node.named("heads", node.intAttribute("kv_num_heads", 0)),
                                            node.named("scale", node.floatAttribute("scale", 0))};
  SmallVector<Value> operands = node.present({query, key, value, past, isGated ? decay : Value(), isDelta ? beta : Value()}, attributes);
  SmallVector<Value> results = node.createAll<LinearAttentionOp>(operands, attributes);
  resultLikeInput(node, results[0]);
  node.result(castTo(node, results[1], stateType));
}

/// softmax(softcap(q * k^T * scale) + mask) * v
void attention(NodeContext &node) {
  Value q = node.input(0), k = node.input(1), v = node.input(2);
  int64_t queryHeads = node.intAttribute("q_num_heads", 0), keyHeads = node.intAttribute("kv_num_heads", 0);
  bool joined = node.rank(q) == 3;
  if (joined && (queryHeads <= 0 || keyHeads <= 0))
    return node.fail("inputs of rank 3 need q_num_heads and kv_num_heads");
  if (joined) {
    q = splitHeads(node, q, queryHeads);
    k = splitHeads(node, k, keyHeads);
    v = splitHeads(node, v, keyHeads);
  }
  for (Value x : {q, k, v})
    if (x && node.rank(x) != 4)
      return node.fail("expects inputs of rank 4 or of rank 3, got " + Twine(node.rank(x)));
  Value pastKey = node.optionalInput(4), pastValue = node.optionalInput(5);
  k = appended(node, pastKey, k);
  v = appended(node, pastValue, v);
  std::optional<Heads> heads = headsOf(node, q, k);
  if (!heads)
    return;

  Value root = rootOfScale(node, q);
  Value kTransposed = node.create<TransposeOp>({k}, {node.named("perm", ArrayRef<int64_t>{0, 1, 3, 2})});
  Value plain = heads->product(node, node.create<MulOp>({q, root}), node.create<MulOp>({kTransposed, root})), capped = plain;
  if (double cap = node.floatAttribute("softcap", 0); cap > 0) {
    Value limit = node.scalar(plain, cap);
    capped = node.create<MulOp>({node.create<TanhOp>({node.create<DivOp>({plain, limit})}), limit});
  }
  Value seen = masked(node, capped, pastKey);
  Value weights = softmaxOfScores(node, seen);
  Value y = heads->product(node, weights, v);

  int64_t mode = node.intAttribute("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return node.fail("qk_matmul_output_mode " + Twine(mode) + " is none of 0 to 3");
  node.result(joined ? joinHeads(node, y) : y);
  node.result(k);
  node.result(v);
  node.result(std::array{plain, capped, seen, weights}[mode]);
}

/// (x1, x2) -> (cos * x1 - sin * x2, sin * x1 + cos * x2), where x1 and x2 are the halves of the last dim or its even
/// and odd places.
Value rotated(NodeContext &node, Value x, Value cos, Value sin, DimExpr size, bool interleaved) {
  int64_t last = node.rank(x) - 1, step = interleaved ? 2 : 1;
  DimExpr half = size.floorDiv(2);
  Value x1 = part(node, x, last, node.number(0), half, step);
  Value x2 = part(node, x, last, interleaved ? node.number(1) : half, half, step);
  Value real = node.create<SubOp>({node.create<MulOp>({cos, x1}), node.create<MulOp>({sin, x2})});
  Value imaginary = node.create<AddOp>({node.create<MulOp>({sin, x1}), node.create<MulOp>({cos, x2})});
  if (!interleaved)
    return node.create<ConcatOp>({real, imaginary}, {node.named("axis", last)});
  NamedAttribute behind = node.named("axes", ArrayRef<int64_t>{last + 1});
  Value pairs = node.create<ConcatOp>({node.create<UnsqueezeOp>({real}, behind), node.create<UnsqueezeOp>({imaginary}, behind)},
                                      {node.named("axis", last + 1)});
  return node.create<ReshapeOp>({pairs, node.indices({0, 0, 0, -1})});
}

/// The cosines or sines of each position, as they are given or looked up, with a dim for the heads.
Value ofPositions(NodeContext &node, Value cache, Value positions, int64_t headAxis) {
  if (positions)
    cache = node.create<GatherOp>({cache, positions}, {node.named("axis", int64_t(0))});
  return node.create<UnsqueezeOp>({cache}, {node.named("axes", ArrayRef<int64_t>{headAxis})});
}

struct Rotation {
  int64_t heads; // of an input of rank 3
  int64_t size;  // how much of each head turns; 0: all
  bool interleaved;
};

/// Turns x, [batch, heads, length, size] or [batch, length, heads * size], by its positions, or by angles given for
/// each.
void rotate(NodeContext &node, Value x, Value cos, Value sin, Value positions, Rotation rotation) {
  bool joined = node.rank(x) == 3;
  Value y = x;
  if (joined && rotation.heads <= 0)
    return node.fail("an input of rank 3 needs num_heads");
  if (joined)
    y = node.create<ReshapeOp>({x, node.indices({0, 0, rotation.heads, -1})});
  std::optional<Dims> dims = node.knownDims(y, "the rotation");
  if (!dims)
    return;
  if (dims->size() != 4)
    return node.fail("expects an input of rank 3 or 4, got " + Twine(node.rank(x)));
  DimExpr whole = dims->back(), size = rotation.size ? node.number(rotation.size) : whole;
  if (size.asConstant() && *size.asConstant() % 2 != 0)
    return node.fail("a size of " + size.str() + " does not split into pairs");
  int64_t headAxis = joined ? 2 : 1;
  cos = ofPositions(node, cos, positions, headAxis);
  sin = ofPositions(node, sin, positions, headAxis);
  Value turned = rotated(node, y, cos, sin, size, rotation.interleaved);
  if (size != whole)
    turned = node.create<ConcatOp>({turned, part(node, y, 3, size, whole - size)}, {node.named("axis", int64_t(3))});
  node.result(joined ? reshapeLike(node, turned, x) : turned);
}

void rotaryEmbedding(NodeContext &node) {
  Value x = node.input(0), cos = node.input(1), sin = node.input(2);
  rotate(
      node, x, cos, sin, node.optionalInput(3),
      {node.intAttribute("num_heads", 0), node.intAttribute("rotary_embedding_dim", 0), node.intAttribute("interleaved", 0) != 0});
}

/// One position per element, or the position of the first.
void microsoftRotaryEmbedding(NodeContext &node) {
  Value x = node.input(0), positions = node.input(1), cos = node.input(2), sin = node.input(3);
  Rotation rotation{node.intAttribute("num_heads", 0), node.intAttribute("rotary_embedding_dim", 0),
                    node.intAttribute("interleaved", 0) != 0};
  if (node.floatAttribute("scale", 1) != 1 || node.intAttribute("is_packed_batching", 0) != 0)
    return node.fail("a scale or packed batching is not supported");
  std::optional<Dims> dims = node.knownDims(x, "the rotation"), cosDims = node.knownDims(cos, "the rotation");
  if (!dims || !cosDims)
    return;
  if (dims->size() < 3 || cosDims->size() != 2)
    return node.fail("expects an input of rank 3 or 4 and a cache of rank 2");
  if (dims->size() == 3 && rotation.heads == 0) // then all of each head turns
    rotation.heads = dims->back().floorDiv((*cosDims)[1] * 2).asConstant().value_or(0);
  if (node.rank(positions) == 1) {
    positions = node.create<AddOp>({positions, iota(node, (*dims)[dims->size() - 2])});
    positions = node.create<UnsqueezeOp>({positions}, {node.named("axes", ArrayRef<int64_t>{0})});
  }
  rotate(node, x, cos, sin, positions, rotation);
}

/// x plus its share of the bias, with heads apart. Keys and values of other layers come so already.
Value projected(NodeContext &node, Value x, Value bias, DimExpr offset, int64_t heads) {
  if (node.rank(x) == 4)
    return x;
  if (bias)
    x = node.create<AddOp>({x, part(node, bias, 0, offset, node.dims(x)[2])});
  return splitHeads(node, x, heads);
}

/// What a mask of 0 (hidden) and 1 adds to the scores.
Value ofPaddingMask(NodeContext &node, Value mask, Value scores, double hidden) {
  if (node.rank(mask) != 2 && node.rank(mask) != 3) {
    node.fail("a key_padding_mask of rank " + Twine(node.rank(mask)) + " is not supported");
    return {};
  }
  SmallVector<int64_t> axes = node.rank(mask) == 2 ? SmallVector<int64_t>{1, 2} : SmallVector<int64_t>{1};
  mask = node.create<UnsqueezeOp>({mask}, {node.named("axes", axes)});
  Value seen = castTo(node, mask, IntegerType::get(node.context(), 1));
  return node.create<WhereOp>({seen, node.scalar(scores, 0), node.scalar(scores, hidden)});
}

/// softmax(scale * q * k^T + masks) * v, with the biases of the projections added to q, k and v first.
void multiHeadAttention(NodeContext &node) {
  Value q = node.input(0), k = node.input(1), v = node.input(2), bias = node.optionalInput(3);
  Value mask = node.optionalInput(4), added = node.optionalInput(5), pastKey = node.optionalInput(6),
        pastValue = node.optionalInput(7);
  int64_t heads = node.intAttribute("num_heads", 0);
  double hidden = node.floatAttribute("mask_filter_value", -10000);
  if (node.intAttribute("unidirectional", 0) != 0)
    return node.fail("unidirectional = 1 is not supported");
  if (heads <= 0 || node.rank(q) != 3 || (node.rank(k) != 3 && node.rank(k) != 4) || node.rank(v) != node.rank(k))
    return node.fail("packed queries, keys and values are not supported");
  DimExpr width = node.dims(q)[2];
  q = projected(node, q, bias, node.number(0), heads);
  k = appended(node, pastKey, projected(node, k, bias, width, heads));
  v = appended(node, pastValue, projected(node, v, bias, width * 2, heads));
  if (!q || !k)
    return;

  Value scale;
  if (node.attribute("scale")) {
    scale = node.scalar(q, node.floatAttribute("scale", 1));
  } else {
    Value size = castTo(node, shapeOf(node, q, 3, 4), Float32Type::get(node.context()));
    scale = castTo(node, node.create<ReciprocalOp>({node.create<SqrtOp>({size})}), node.elementType(q));
  }
  Value kTransposed = node.create<TransposeOp>({k}, {node.named("perm", ArrayRef<int64_t>{0, 1, 3, 2})});
  Value scores = node.create<MulOp>({node.create<MatMulOp>({q, kTransposed}), scale});
  if (mask)
    scores = node.create<AddOp>({scores, ofPaddingMask(node, mask, scores, hidden)});
  if (added)
    scores = node.create<AddOp>({scores, added});
  Value weights = node.create<SoftmaxOp>({scores}, {node.named("axis", int64_t(3))});
  node.result(joinHeads(node, node.create<MatMulOp>({weights, v})));
  node.result(k);
  node.result(v);
}

constexpr Converter table[] = {
    {"LinearAttention", 27, newest, linearAttention},
    {"ai.onnx.preview.FlexAttention", 1, 1, flexAttention},
    {"Attention", 23, newest, attention},
    {"RotaryEmbedding", 23, newest, rotaryEmbedding},
    {"com.microsoft.RotaryEmbedding", 1, 1, microsoftRotaryEmbedding},
    {"com.microsoft.MultiHeadAttention", 1, 1, multiHeadAttention},
};

} // namespace

ArrayRef<Converter> attentionConverters() { return table; }

} // namespace llmc
