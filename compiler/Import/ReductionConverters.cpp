// Reductions. Their axes were an attribute first, and became an input with opset 13 (ReduceSum) or 18 (the others).
#include "compiler/Import/AxisList.h"
#include "compiler/Import/Converters.h"
#include "dialects/Graph/DimLogic.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

struct Reduction {
  Value x;
  SmallVector<int64_t> axes;
  bool keepdims;
  std::optional<Dims> resultDims; // of axes that only the run shows: what the result is viewed as
};

/// How many dims a reduction by these axes leaves, without those it keeps as 1.
std::optional<int64_t> remainingRank(NodeContext &node, DimExpr count, int64_t rank) {
  if (std::optional<int64_t> known = count.asConstant())
    return std::max<int64_t>(0, rank - *known);
  std::optional<int64_t> declared = node.declaredRank(0);
  if (!declared || *declared > rank)
    node.fail("a number of axes that is not known, without keepdims or a declared rank of the result, is not supported");
  return declared;
}

/// Axes that only the run shows. Each dim D of x becomes the two dims [D, 1], or [1, D] if it is among them; reduced are the second
/// ones. An empty list is all axes, or none (`noop`).
Reduction reduceAtRunTime(NodeContext &node, Value x, bool keepdims, bool noop) {
  std::optional<Dims> dims = node.knownDims(x, "a reduction");
  Value axes = node.input(1);
  if (!dims || !axes)
    return {};
  DimExpr one = node.number(1);
  AxisList list(node, axes, dims->size());
  Reduction reduction{{}, {}, false, Dims()};
  Dims apart, stays, chosen = list.chosen();
  if (node.failed())
    return {};
  if (!noop && !list.count().asConstant())
    for (DimExpr &isAxis : chosen)
      isAxis = isAxis.max(isEqual(list.count(), node.number(0)));
  for (auto [i, dim] : llvm::enumerate(*dims)) {
    apart.append({select(chosen[i], one, dim), select(chosen[i], dim, one)});
    reduction.axes.push_back(2 * i + 1);
    reduction.resultDims->push_back(apart[2 * i]);
    stays.push_back(one - chosen[i]);
  }
  std::optional<int64_t> rank = keepdims ? std::nullopt : remainingRank(node, list.count(), dims->size());
  if (rank) {
    DimExpr kept = node.number(0);
    for (DimExpr one : stays)
      kept = kept + one;
    node.require(kept, node.number(*rank), "the result has rank " + Twine(*rank) + ", but the axes leave another one");
    reduction.resultDims = keptDims(node, *dims, stays, *rank);
  }
  reduction.x = node.create<ViewOp>({x}, {node.named("dims", apart)});
  return reduction;
}

Reduction readReduction(NodeContext &node, int axesInputSince) {
  Reduction reduction{node.input(0), {}, node.intAttribute("keepdims", 1) != 0, std::nullopt};
  int64_t rank = node.rank(reduction.x);
  std::optional<SmallVector<int64_t>> axes;
  bool noop = false;
  if (node.version >= axesInputSince) {
    noop = node.intAttribute("noop_with_empty_axes", 0) != 0;
    if (node.hasInput(1) && !node.isConstantInput(1))
      return reduceAtRunTime(node, reduction.x, reduction.keepdims, noop);
    axes = node.constantInput(1);
  } else {
    axes = node.intsAttribute("axes");
  }
  if (axes && !axes->empty())
    reduction.axes = node.axes(*axes, rank);
  else if (!noop)
    reduction.axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  return reduction;
}

/// The result of a reduction as the node gives it.
Value finished(NodeContext &node, const Reduction &reduction, Value result) {
  return reduction.resultDims ? node.create<ViewOp>({result}, {node.named("dims", *reduction.resultDims)}) : result;
}

template <typename Op> Value reduce(NodeContext &node, const Reduction &reduction, Value x, bool keepdims) {
  SmallVector<NamedAttribute> attributes = {node.named("axes", reduction.axes)};
  if (keepdims)
    attributes.push_back(node.flag("keepdims"));
  return node.create<Op>({x}, attributes);
}

template <typename Op> Value reduce(NodeContext &node, const Reduction &reduction, Value x) {
  return finished(node, reduction, reduce<Op>(node, reduction, x, reduction.keepdims));
}

template <typename Op, int AxesInputSince> void plain(NodeContext &node) {
  Reduction reduction = readReduction(node, AxesInputSince);
  node.result(reduce<Op>(node, reduction, reduction.x));
}

Value sumOfSquares(NodeContext &node, const Reduction &reduction) {
  return reduce<ReduceSumOp>(node, reduction, node.create<MulOp>({reduction.x, reduction.x}));
}

void reduceL1(NodeContext &node) {
  Reduction reduction = readReduction(node, 18);
  node.result(reduce<ReduceSumOp>(node, reduction, node.create<AbsOp>({reduction.x})));
}

/// The reduction of x as doubles, where its elements are integers: roots and logarithms are rounded at the end alone.
Reduction readReductionOfFloats(NodeContext &node) {
  Reduction reduction = readReduction(node, 18);
  if (reduction.x && !isa<FloatType>(node.elementType(reduction.x)))
    reduction.x = castTo(node, reduction.x, Float64Type::get(node.context()));
  return reduction;
}

void reduceL2(NodeContext &node) { resultLikeInput(node, node.create<SqrtOp>({sumOfSquares(node, readReductionOfFloats(node))})); }

void reduceSumSquare(NodeContext &node) { node.result(sumOfSquares(node, readReduction(node, 18))); }

void reduceLogSum(NodeContext &node) {
  Reduction reduction = readReductionOfFloats(node);
  resultLikeInput(node, node.create<LogOp>({reduce<ReduceSumOp>(node, reduction, reduction.x)}));
}

/// log(sum(exp(x - m))) + m with the greatest element m, which keeps exp from overflowing; m = 0 if that is infinite.
void reduceLogSumExp(NodeContext &node) {
  Reduction reduction = readReductionOfFloats(node);
  Value x = reduction.x;
  Value most = reduce<ReduceMaxOp>(node, reduction, x, /*keepdims=*/true);
  Value infinite = node.create<IsNanOp>({node.create<SubOp>({most, most})});
  most = node.create<WhereOp>({infinite, node.scalar(x, 0), most});
  Value powers = node.create<ExpOp>({node.create<SubOp>({x, most})});
  Value sum = node.create<LogOp>({reduce<ReduceSumOp>(node, reduction, powers, /*keepdims=*/true)});
  Value result = node.create<AddOp>({sum, most});
  if (!reduction.keepdims && !reduction.axes.empty())
    result = node.create<SqueezeOp>({result}, {node.named("axes", reduction.axes)});
  resultLikeInput(node, finished(node, reduction, result));
}

template <typename Op> void argExtremum(NodeContext &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.intAttribute("axis", 0), node.rank(x));
  SmallVector<NamedAttribute> attributes = {node.named("axis", axis)};
  if (node.intAttribute("keepdims", 1))
    attributes.push_back(node.flag("keepdims"));
  if (node.version >= 12 && node.intAttribute("select_last_index", 0))
    attributes.push_back(node.flag("select_last"));
  node.result(node.create<Op>({x}, attributes));
}

constexpr Converter table[] = {
    {"ReduceSum", 1, newest, plain<ReduceSumOp, 13>},
    {"ReduceMean", 1, newest, plain<ReduceMeanOp, 18>},
    {"ReduceMax", 1, newest, plain<ReduceMaxOp, 18>},
    {"ReduceMin", 1, newest, plain<ReduceMinOp, 18>},
    {"ReduceProd", 1, newest, plain<ReduceProdOp, 18>},
    {"ReduceL1", 1, newest, reduceL1},
    {"ReduceL2", 1, newest, reduceL2},
    {"ReduceSumSquare", 1, newest, reduceSumSquare},
    {"ReduceLogSum", 1, newest, reduceLogSum},
    {"ReduceLogSumExp", 1, newest, reduceLogSumExp},
    {"ArgMax", 1, newest, argExtremum<ArgMaxOp>},
    {"ArgMin", 1, newest, argExtremum<ArgMinOp>},
};

} // namespace

ArrayRef<Converter> reductionConverters() { return table; }

} // namespace llmc
