// Operators whose results have sizes that depend on data.
#include "compiler/Import/Converters.h"
#include "dialects/Graph/DimLogic.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// The first `count` elements of each of `rows` rows that lie one after the other; without rows a list.
Value prefix(NodeContext &node, Value x, Dims dims) {
  if (node.failed())
    return {};
  return node.create<PrefixOp>({x}, {node.named("dims", dims)});
}

/// How many there are, at most `most`.
DimExpr countOf(NodeContext &node, Value count, DimExpr most) {
  int64_t bound = most ? node.shared().ranges.of(most).hi : INT64_MAX;
  return node.readNumber(count, {0, bound});
}

/// The places of what is not zero, as [rank, count].
Value nonZeroPlaces(NodeContext &node, Value x) {
  SmallVector<Value> results = node.createAll<NonZeroOp>({x});
  DimExpr count = countOf(node, results[1], productOf(node.context(), node.dims(x)));
  return prefix(node, results[0], {node.number(node.rank(x)), count});
}

void nonZero(NodeContext &node) { node.result(nonZeroPlaces(node, node.input(0))); }

Value flat(NodeContext &node, Value x) { return node.create<ReshapeOp>({x, node.indices({-1})}); }

void compress(NodeContext &node) {
  Value x = node.input(0), condition = node.input(1);
  std::optional<int64_t> axis = node.intAttribute("axis");
  if (node.failed())
    return;
  if (node.rank(condition) != 1)
    return node.fail("the condition has rank " + Twine(node.rank(condition)) + ", expected 1");
  int64_t along = axis ? node.axis(*axis, node.rank(x)) : 0;
  Value places = node.create<SqueezeOp>({nonZeroPlaces(node, condition)}, {node.named("axes", ArrayRef<int64_t>{0})});
  node.result(node.create<GatherOp>({axis ? x : flat(node, x), places}, {node.named("axis", along)}));
}

void unique(NodeContext &node) {
  Value x = node.input(0);
  std::optional<int64_t> axis = node.intAttribute("axis");
  SmallVector<NamedAttribute> attributes;
  if (axis && !node.failed())
    attributes.push_back(node.named("axis", node.axis(*axis, node.rank(x))));
  if (node.intAttribute("sorted", 1))
    attributes.push_back(node.flag("sorted"));
  if (!axis && x)
    x = flat(node, x);
  SmallVector<Value> results = node.createAll<UniqueOp>({x}, attributes);
  if (node.failed())
    return;
  DimExpr count = countOf(node, results[3], node.dims(results[0])[0]);
  Value first = prefix(node, results[0], {count}), counts = prefix(node, results[2], {count});
  node.result(node.create<GatherOp>({x, first}, {node.named("axis", axis ? node.axis(*axis, node.rank(x)) : 0)}));
  node.result(first);
  node.result(results[1]);
  node.result(counts);
}

void nonMaxSuppression(NodeContext &node) {
  Value boxes = node.input(0), scores = node.input(1), limit = node.optionalInput(2), overlap = node.optionalInput(3);
  Value threshold = node.optionalInput(4);
  Type real = Float32Type::get(node.context());
  SmallVector<NamedAttribute> attributes;
  if (node.intAttribute("center_point_box", 0))
    attributes.push_back(node.flag("centered"));
  SmallVector<Value> operands = {boxes, scores, limit ? limit : node.indices({0}), overlap ? overlap : node.scalar(real, 0),
                                 threshold ? threshold : node.scalar(real, -std::numeric_limits<double>::infinity())};
  SmallVector<Value> results = node.createAll<NonMaxSuppressionOp>(operands, attributes);
  if (node.failed())
    return;
  DimExpr count = countOf(node, results[2], node.dims(results[0])[0]);
  node.result(prefix(node, results[0], {count, node.number(3)}));
}

// --- Range -----------------------------------------------------------------------------------------------------------------

/// How many steps of `delta` lead from start to below limit.
DimExpr integerCount(NodeContext &node, DimExpr start, DimExpr limit, DimExpr delta) {
  DimExpr up = limit - start, down = start - limit, one = node.number(1), minus = delta * -1;
  if (std::optional<int64_t> step = delta.asConstant())
    return node.shared().ranges.simplify(atLeastZero(*step > 0 ? up.ceilDiv(delta) : down.ceilDiv(minus)));
  return select(isNegative(delta), down.ceilDiv(minus.max(one)), up.ceilDiv(delta.max(one)));
}

DimExpr floatCount(NodeContext &node, Value start, Value limit, Value delta) {
  Type real = Float64Type::get(node.context()), index = IntegerType::get(node.context(), 64);
  Value span = node.create<SubOp>({castTo(node, limit, real), castTo(node, start, real)});
  Value count = node.create<CeilOp>({node.create<DivOp>({span, castTo(node, delta, real)})});
  return node.readNumber(node.create<MaxOp>({castTo(node, count, index), node.indices({0})}), {0, INT64_MAX});
}

void range(NodeContext &node) {
  Value start = node.input(0), limit = node.input(1), delta = node.input(2);
  if (node.failed())
    return;
  for (Value value : {start, limit, delta})
    if (!llvm::all_of(node.dims(value), [](DimExpr dim) { return dim.isConstant(1); }))
      return node.fail("an input is no scalar");
  DimExpr size;
  if (isa<FloatType>(node.elementType(start))) {
    size = floatCount(node, start, limit, delta);
  } else {
    auto number = [&](size_t i) { return node.numbers(i).value_or(Dims(1)).front(); };
    DimExpr from = number(0), to = number(1), step = number(2);
    if (node.failed())
      return;
    if (step.isConstant(0))
      return node.fail("delta is 0");
    node.require(isEqual(step, node.number(0)), node.number(0), "Range needs a delta that is not 0");
    size = integerCount(node, from, to, step);
  }
  if (!node.failed())
    node.result(node.create<RangeOp>({start, limit, delta}, {node.named("size", size)}));
}

constexpr Converter table[] = {
    {"Compress", 9, newest, compress},
    {"NonMaxSuppression", 10, newest, nonMaxSuppression},
    {"NonZero", 9, newest, nonZero},
    {"Range", 11, newest, range},
    {"Unique", 11, newest, unique},
};

} // namespace

ArrayRef<Converter> selectionConverters() { return table; }

} // namespace llmc
