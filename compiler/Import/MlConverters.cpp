// Operators of classical machine learning: ai.onnx.ml, and TfIdfVectorizer.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

void binarizer(NodeContext &node) {
  Value x = node.input(0);
  double threshold = node.floatAttribute("threshold", 0);
  if (node.failed())
    return;
  // Integers are compared as they are with the greatest integer that is not above.
  Value limit = node.scalar(x, isa<FloatType>(node.elementType(x)) ? threshold : std::floor(threshold));
  node.result(castTo(node, node.create<GreaterOp>({x, limit}), node.elementType(x)));
}

/// The columns of x that input 1 names; a list is one row.
void arrayFeatureExtractor(NodeContext &node) {
  Value x = node.input(0), places = node.create<ReshapeOp>({node.input(1), node.indices({-1})});
  if (!node.failed() && node.rank(x) == 0)
    node.fail("expects at least one dim");
  Value y = node.create<GatherOp>({x, places}, {node.named("axis", node.rank(x) - 1)});
  node.result(node.rank(x) == 1 ? node.create<UnsqueezeOp>({y}, {node.named("axes", ArrayRef<int64_t>{0})}) : y);
}

// --- TfIdfVectorizer -------------------------------------------------------------------------------------------------------

struct Grams {
  int64_t least, most, mostSkipped;
  SmallVector<int64_t> starts; // in the pool, of those of length 1, 2 ...
  SmallVector<int64_t> columns; // of the result, per gram
  SmallVector<int64_t> pool;
  std::string mode;
  SmallVector<double> weights; // per gram; empty: all 1

  size_t end(size_t length) const { return length < starts.size() ? starts[length] : pool.size(); }
};

Grams readGrams(NodeContext &node) {
  Grams grams{node.intAttribute("min_gram_length", 1), node.intAttribute("max_gram_length", 1), node.intAttribute("max_skip_count", 0),
              node.intsAttribute("ngram_counts").value_or(SmallVector<int64_t>()),
              node.intsAttribute("ngram_indexes").value_or(SmallVector<int64_t>()),
              node.intsAttribute("pool_int64s").value_or(SmallVector<int64_t>()), node.stringAttribute("mode", ""),
              node.floatsAttribute("weights").value_or(SmallVector<double>())};
  if (node.attribute("pool_strings"))
    node.fail("a pool of strings is not supported");
  if (grams.mode != "TF" && grams.mode != "IDF" && grams.mode != "TFIDF")
    node.fail("mode '" + grams.mode + "' is none of TF, IDF, TFIDF");
  if (grams.least < 1 || grams.most < grams.least || grams.mostSkipped < 0 || grams.most > static_cast<int64_t>(grams.starts.size()))
    node.fail("the lengths of the grams do not fit together");
  size_t count = 0;
  for (size_t length = 1; length <= grams.starts.size() && !node.failed(); ++length) {
    int64_t start = grams.starts[length - 1], size = static_cast<int64_t>(grams.end(length)) - start;
    if (start < 0 || size < 0 || size % length != 0 || start + size > static_cast<int64_t>(grams.pool.size()))
      node.fail("ngram_counts does not fit the pool");
    else
      count += size / length;
  }
  if (!node.failed() && grams.columns.size() != count)
    node.fail(Twine(grams.columns.size()) + " places are given for " + Twine(count) + " grams");
  if (!grams.weights.empty() && grams.weights.size() != grams.columns.size())
    node.fail(Twine(grams.weights.size()) + " weights are given for " + Twine(grams.columns.size()) + " grams");
  SmallVector<int64_t> sorted = grams.columns;
  llvm::sort(sorted);
  constexpr int64_t mostColumns = 1 << 24;
  if (!sorted.empty() && (sorted.front() < 0 || sorted.back() >= mostColumns))
    node.fail("a place of a gram is out of range");
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    node.fail("two grams with the same place are not supported");
  return grams;
}

/// How often each gram of a length is in each row of x, taking every step-th element: [..., grams].
Value countsOf(NodeContext &node, Value x, const Grams &grams, int64_t length, int64_t step) {
  int64_t axis = node.rank(x) - 1, start = grams.starts[length - 1], count = (grams.end(length) - start) / length;
  DimExpr zero = node.number(0), places = (node.dims(x)[axis] - (length - 1) * step).max(zero);
  Value isThere;
  for (int64_t k = 0; k < length; ++k) {
    SmallVector<int64_t> kth;
    for (int64_t gram = 0; gram < count; ++gram)
      kth.push_back(grams.pool[start + gram * length + k]);
    Value elements = part(node, x, axis, node.number(k * step).min(node.dims(x)[axis]), places);
    elements = node.create<UnsqueezeOp>({elements}, {node.named("axes", ArrayRef<int64_t>(axis + 1))});
    Value isEqual = node.create<EqualOp>({elements, node.indices(kth)});
    isThere = isThere ? node.create<AndOp>({isThere, isEqual}) : isEqual;
  }
  Value counted = castTo(node, isThere, Float32Type::get(node.context()));
  return node.create<ReduceSumOp>({counted}, {node.named("axes", ArrayRef<int64_t>(axis))});
}

void tfIdfVectorizer(NodeContext &node) {
  Value x = node.input(0);
  Grams grams = readGrams(node);
  std::optional<Dims> dims = node.knownDims(x, "TfIdfVectorizer");
  if (!dims || node.failed())
    return;
  if (dims->empty() || dims->size() > 2)
    return node.fail("expects rank 1 or 2, got " + Twine(dims->size()));
  x = castTo(node, x, IntegerType::get(node.context(), 64));
  int64_t axis = dims->size() - 1, numColumns = 0;
  for (int64_t column : grams.columns)
    numColumns = std::max(numColumns, column + 1);
  SmallVector<Value> counts;
  SmallVector<int64_t> places(numColumns, -1); // per column: the gram among those counted
  int64_t gram = 0, counted = 0;
  for (int64_t length = 1; length <= static_cast<int64_t>(grams.starts.size()); ++length) {
    int64_t count = (grams.end(length) - grams.starts[length - 1]) / length;
    if (length >= grams.least && length <= grams.most && count > 0) {
      Value sum;
      for (int64_t step = 1; step <= (length == 1 ? 1 : grams.mostSkipped + 1); ++step) {
        Value once = countsOf(node, x, grams, length, step);
        sum = sum ? node.create<AddOp>({sum, once}) : once;
      }
      counts.push_back(sum);
      for (int64_t i = 0; i < count; ++i)
        places[grams.columns[gram + i]] = counted++;
    }
    gram += count;
  }
  Dims none = *dims;
  none[axis] = node.number(1); // the count of what is not counted
  Type real = Float32Type::get(node.context());
  counts.push_back(node.create<BroadcastOp>({node.scalar(real, 0)}, {node.named("dims", none)}));
  Value all = node.create<ConcatOp>(counts, {node.named("axis", axis)});
  for (int64_t &place : places)
    place = place < 0 ? counted : place;
  Value y = node.create<GatherOp>({all, node.indices(places)}, {node.named("axis", axis)});
  if (grams.mode == "IDF")
    y = castTo(node, node.create<GreaterOp>({y, node.scalar(real, 0)}), real);
  if (grams.mode != "TF" && !grams.weights.empty()) {
    SmallVector<float> weights(numColumns, 0);
    for (auto [i, column] : llvm::enumerate(grams.columns))
      weights[column] = static_cast<float>(grams.weights[i]);
    y = node.create<MulOp>({y, node.constant(DenseElementsAttr::get(RankedTensorType::get({numColumns}, real), ArrayRef<float>(weights)))});
  }
  node.result(y);
}

constexpr Converter table[] = {
    {"ai.onnx.ml.ArrayFeatureExtractor", 1, 5, arrayFeatureExtractor},
    {"ai.onnx.ml.Binarizer", 1, 5, binarizer},
    {"TfIdfVectorizer", 9, newest, tfIdfVectorizer},
};

} // namespace

ArrayRef<Converter> mlConverters() { return table; }

} // namespace llmc
