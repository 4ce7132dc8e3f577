// Picking, placing and ordering elements by data; running results; and what is made of indices: one-hot and identity matrices.
#include "compiler/Import/AxisList.h"
#include "compiler/Import/Converters.h"
#include "compiler/Import/Stretching.h"
#include "dialects/Graph/DimLogic.h"

using namespace mlir;

namespace llmc {

using namespace graph;

Value iota(NodeContext &node, DimExpr size) {
  if (!size) {
    node.fail("a size that depends on data is not supported");
    return {};
  }
  if (std::optional<int64_t> known = size.asConstant(); known && *known <= maxContents)
    return node.indices(llvm::to_vector(llvm::seq<int64_t>(0, *known)));
  Type integer = IntegerType::get(node.context(), 64);
  Value ones = node.create<BroadcastOp>({node.scalar(integer, 1)}, {node.named("dims", ArrayRef(size))});
  return node.create<CumSumOp>({ones}, {node.named("axis", int64_t(0)), node.flag("exclusive")});
}

Value firstOf(NodeContext &node, Value x, int64_t axis, DimExpr size) {
  return node.create<GatherOp>({x, iota(node, size)}, {node.named("axis", axis)});
}

Value expanded(NodeContext &node, Value x, int64_t axis, DimExpr size) {
  DimExpr dim = x ? node.dims(x)[axis] : DimExpr();
  if (!dim || !size || dim.asConstant() || dim == size)
    return x;
  return stretchedAlong(node, x, axis, dim.max(size));
}

namespace {

Value unsqueezed(NodeContext &node, Value x, SmallVector<int64_t> axes) {
  return axes.empty() ? x : node.create<UnsqueezeOp>({x}, {node.named("axes", axes)});
}

void gatherElements(NodeContext &node) {
  Value x = node.input(0), indices = node.input(1);
  int64_t axis = node.axis(node.intAttribute("axis", 0), node.rank(x));
  node.result(node.create<GatherElementsOp>({x, indices}, {node.named("axis", axis)}));
}

/// Tuples of indices of a length that follows from ranks, where their type does not have it; each run checks it then.
Value withTuples(NodeContext &node, Value indices, int64_t length) {
  std::optional<Dims> dims = node.knownDims(indices, "a list of index tuples");
  if (!dims || dims->empty() || dims->back().asConstant() || length < 0)
    return indices;
  node.require(dims->back(), node.number(length), "index tuples have " + dims->back().str() + " elements, expected " + Twine(length));
  return firstOf(node, indices, dims->size() - 1, node.number(length));
}

void gatherND(NodeContext &node) {
  int64_t batch = node.version >= 12 ? node.intAttribute("batch_dims", 0) : 0;
  Value x = node.input(0), indices = node.input(1);
  std::optional<int64_t> declared = node.declaredRank(0); // rank of x + that of the indices - batch dims - 1 - length of a tuple
  if (declared)
    indices = withTuples(node, indices, node.rank(x) + node.rank(indices) - batch - 1 - *declared);
  node.result(node.create<GatherNDOp>({x, indices}, {node.named("batch_dims", batch)}));
}

NamedAttribute reduction(NodeContext &node) {
  std::string name = node.version >= 16 ? node.stringAttribute("reduction", "none") : "none";
  if ((name == "max" || name == "min") && node.version < 18)
    node.fail("reduction '" + name + "' is not of this version");
  if (name != "none" && node.input(0) && node.elementType(node.input(0)).isInteger(1))
    node.fail("reduction '" + name + "' of booleans is not supported");
  return node.named("reduction", StringRef(name));
}

void scatterElements(NodeContext &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.intAttribute("axis", 0), node.rank(x));
  node.result(node.create<ScatterElementsOp>({x, node.input(1), node.input(2)}, {reduction(node), node.named("axis", axis)}));
}

void scatterND(NodeContext &node) {
  Value x = node.input(0), indices = node.input(1), updates = node.input(2);
  indices = withTuples(node, indices, node.rank(x) + node.rank(indices) - 1 - node.rank(updates));
  node.result(node.create<ScatterNDOp>({x, indices, updates}, {reduction(node)}));
}

/// The one element of an input that must be known at compile time.
std::optional<int64_t> constantScalar(NodeContext &node, size_t i) {
  std::optional<SmallVector<int64_t>> values = node.constantInput(i);
  if (values && values->size() == 1)
    return values->front();
  if (values)
    node.fail("input " + Twine(i) + " has " + Twine(values->size()) + " elements, expected one");
  return std::nullopt;
}

/// x where column - row >= k (upper) or <= k, for a k that only the run shows.
void triluAtRunTime(NodeContext &node, Value x, bool upper) {
  std::optional<Dims> dims = node.knownDims(x, "Trilu");
  Value k = node.input(1);
  if (!dims)
    return;
  if (dims->size() < 2)
    return node.fail("expects matrices, got rank " + Twine(dims->size()));
  Value rows = unsqueezed(node, iota(node, dims->end()[-2]), {1});
  Value distance = node.create<SubOp>({iota(node, dims->back()), rows});
  Value keeps = upper ? node.create<GreaterEqualOp>({distance, k}) : node.create<LessEqualOp>({distance, k});
  node.result(node.create<WhereOp>({keeps, x, node.scalar(x, 0)}));
}

void trilu(NodeContext &node) {
  SmallVector<NamedAttribute> attributes;
  bool upper = node.intAttribute("upper", 1) != 0;
  if (upper)
    attributes.push_back(node.flag("upper"));
  Value x = node.input(0);
  if (node.hasInput(1) && !node.isConstantInput(1))
    return triluAtRunTime(node, x, upper);
  int64_t k = node.hasInput(1) ? constantScalar(node, 1).value_or(0) : 0;
  attributes.push_back(node.named("k", k));
  node.result(node.create<TriluOp>({x}, attributes));
}

/// Along an axis that only the run shows: x as [in front, along, behind].
std::optional<Dims> aroundAxis(NodeContext &node, Value x) {
  std::optional<Dims> dims = node.knownDims(x, "a running result");
  Value axis = node.list(1, 1);
  if (!axis || !dims)
    return std::nullopt;
  Dims chosen = AxisList(node, axis, dims->size()).chosen();
  if (node.failed())
    return std::nullopt;
  DimExpr one = node.number(1), passed = node.number(0);
  Dims around(3, one);
  for (auto [dim, isAxis] : llvm::zip_equal(*dims, chosen)) {
    around[0] = around[0] * select(isAxis + passed, one, dim);
    around[1] = around[1] * select(isAxis, dim, one);
    around[2] = around[2] * select(passed, dim, one);
    passed = passed + isAxis;
  }
  return around;
}

template <typename Op> void cumulative(NodeContext &node) {
  Value x = node.input(0);
  SmallVector<NamedAttribute> attributes;
  for (StringRef name : {"exclusive", "reverse"})
    if (node.intAttribute(name, 0))
      attributes.push_back(node.flag(name));
  if (node.hasInput(1) && !node.isConstantInput(1)) {
    std::optional<Dims> around = aroundAxis(node, x), dims = node.knownDims(x, "a running result");
    if (!around || !dims)
      return;
    attributes.push_back(node.named("axis", int64_t(1)));
    Value y = node.create<Op>({node.create<ViewOp>({x}, {node.named("dims", *around)})}, attributes);
    return node.result(node.create<ViewOp>({y}, {node.named("dims", *dims)}));
  }
  std::optional<int64_t> axis = constantScalar(node, 1);
  attributes.push_back(node.named("axis", axis ? node.axis(*axis, node.rank(x)) : 0));
  node.result(node.create<Op>({x}, attributes));
}

/// The number of elements: an attribute at first, an input since opset 10.
DimExpr countOfTopK(NodeContext &node) {
  if (node.version < 10)
    return node.number(node.intAttribute("k", 0));
  std::optional<Dims> known = node.numbers(1, 1);
  return known ? known->front() : DimExpr();
}

void topK(NodeContext &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.intAttribute("axis", -1), node.rank(x));
  bool largest = node.version < 11 || node.intAttribute("largest", 1) != 0;
  if (node.version >= 11)
    node.ignoreAttribute("sorted"); // any order is allowed without it
  DimExpr count = countOfTopK(node);
  if (!count)
    return node.fail("input 1 is missing");
  SmallVector<NamedAttribute> attributes = {node.named("k", count), node.named("axis", axis)};
  if (largest)
    attributes.push_back(node.flag("largest"));
  SmallVector<Value> results = node.createAll<TopKOp>({x}, attributes);
  node.result(results[0]);
  node.result(results[1]);
}

/// `on` where an index (counted from the end if negative) is its own place along the new axis, else `off`.
void oneHot(NodeContext &node) {
  Value indices = node.input(0), values = node.input(2);
  std::optional<Dims> depth = node.numbersOf(castTo(node, node.list(1, 1), IntegerType::get(node.context(), 64)), {0, INT64_MAX});
  int64_t rank = node.rank(indices) + 1, axis = node.axis(node.intAttribute("axis", -1), rank);
  if (!depth || node.failed())
    return;
  DimExpr size = depth->front();
  Type integer = IntegerType::get(node.context(), 64);
  Value index = castTo(node, indices, integer);
  Value isNegative = node.create<LessOp>({index, node.scalar(integer, 0)});
  index = node.create<WhereOp>({isNegative, node.create<AddOp>({index, node.create<FromDimsOp>({}, {node.named("dims", ArrayRef{size})})}), index});
  Value places = unsqueezed(node, iota(node, size), llvm::to_vector(llvm::seq<int64_t>(1, rank - axis)));
  Value isHot = node.create<EqualOp>({unsqueezed(node, index, {axis}), places});
  auto value = [&](double i) {
    return node.create<GatherOp>({values, node.scalar(integer, i)}, {node.named("axis", int64_t(0))});
  };
  node.result(node.create<WhereOp>({isHot, value(1), value(0)}));
}

/// Ones where column = row + k.
void eyeLike(NodeContext &node) {
  Value x = node.input(0);
  int64_t k = node.intAttribute("k", 0);
  std::optional<int64_t> dtype = node.intAttribute("dtype");
  std::optional<Dims> dims = node.knownDims(x, "an identity matrix");
  if (!dims)
    return;
  if (dims->size() != 2)
    return node.fail("expects a matrix, got rank " + Twine(dims->size()));
  Type element = dtype ? elementTypeOf(node.context(), *dtype) : node.elementType(x);
  if (!element)
    return node.fail("the element type is not supported");
  Value rows = unsqueezed(node, iota(node, (*dims)[0]), {1}), columns = iota(node, (*dims)[1]);
  Value isOne = node.create<EqualOp>({node.create<AddOp>({rows, node.scalar(rows, double(k))}), columns});
  node.result(castTo(node, isOne, element));
}

void reverseSequence(NodeContext &node) {
  Value x = node.input(0), lengths = node.input(1);
  int64_t batchAxis = node.axis(node.intAttribute("batch_axis", 1), node.rank(x));
  int64_t timeAxis = node.axis(node.intAttribute("time_axis", 0), node.rank(x));
  node.result(node.create<ReverseSequenceOp>({x, lengths}, {node.named("batch_axis", batchAxis), node.named("time_axis", timeAxis)}));
}

/// Writes `update` into the cache from a place of each batch element on, which may wrap around.
void tensorScatter(NodeContext &node) {
  Value cache = node.input(0), update = node.input(1), starts = node.optionalInput(2);
  int64_t rank = node.rank(cache), axis = node.axis(node.intAttribute("axis", -2), rank);
  std::string mode = node.stringAttribute("mode", "linear");
  std::optional<Dims> dims = node.knownDims(update, "an update");
  if (!dims || node.failed())
    return;
  if (axis == 0 || node.rank(update) != rank)
    return node.fail("expects an axis behind the batch, and an update of the cache's rank");
  if (mode != "linear" && mode != "circular")
    return node.fail("mode '" + mode + "' is not supported");
  DimExpr batch = (*dims)[0], count = (*dims)[axis], one = node.number(1);
  Value places = iota(node, count); // [count], or [batch, count]
  if (starts)
    places = node.create<AddOp>({unsqueezed(node, starts, {1}), places});
  if (mode == "circular")
    places = node.create<ModOp>({places, shapeOf(node, cache, axis, axis + 1)});
  Value rows = unsqueezed(node, iota(node, batch), {1, 2});
  SmallVector<Value> tuples = {rows, unsqueezed(node, places, {node.rank(places)})};
  for (Value &tuple : tuples)
    tuple = node.create<BroadcastOp>({tuple}, {node.named("dims", ArrayRef{batch, count, one})});
  Value indices = node.create<ConcatOp>(tuples, {node.named("axis", int64_t(2))});
  SmallVector<int64_t> toFront = llvm::to_vector(llvm::seq<int64_t>(0, rank)), back(rank);
  std::rotate(toFront.begin() + 1, toFront.begin() + axis, toFront.begin() + axis + 1);
  for (auto [i, dim] : llvm::enumerate(toFront))
    back[dim] = i;
  auto moved = [&](Value x, ArrayRef<int64_t> perm) { return axis == 1 ? x : node.create<TransposeOp>({x}, {node.named("perm", perm)}); };
  Value y = node.create<ScatterNDOp>({moved(cache, toFront), indices, moved(update, toFront)},
                                     {node.named("reduction", StringRef("none"))});
  node.result(moved(y, back));
}

constexpr Converter table[] = {
    {"GatherElements", 11, newest, gatherElements},
    {"GatherND", 11, newest, gatherND},
    {"Scatter", 9, 10, scatterElements},
    {"ScatterElements", 11, newest, scatterElements},
    {"ScatterND", 11, newest, scatterND},
    {"Trilu", 14, newest, trilu},
    {"CumSum", 11, newest, cumulative<CumSumOp>},
    {"CumProd", 26, newest, cumulative<CumProdOp>},
    {"TopK", 1, newest, topK},
    {"OneHot", 9, newest, oneHot},
    {"EyeLike", 9, newest, eyeLike},
    {"TensorScatter", 24, newest, tensorScatter},
    {"ReverseSequence", 10, newest, reverseSequence},
};

} // namespace

ArrayRef<Converter> indexingConverters() { return table; }

} // namespace llmc
