// What ops do with rows, one function per kind of op.
#include "passes/Graph/RowFlow.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmc {

using States = std::optional<SmallVector<RowState>>;

namespace {

using namespace graph;

class Rule {
public:
  Rule(RowFlow &flow, Operation *op) : flow(flow), op(op) {}
  States apply();

private:
  RowState of(Value value) const { return value ? flow.of(value) : RowState::shared(); }
  size_t rank(Value value) const { return flow.dims(value).size(); }
  bool areShared(ValueRange values) const {
    return llvm::all_of(values, [&](Value value) { return of(value).isShared(); });
  }
  bool isOne(Value value, int64_t axis) const { return axis < 0 || flow.dims(value)[axis].isConstant(1); }
  RowState mix(int64_t axis) { return flow.mix(op, axis); }
  RowState unknown(const Twine &what) { return flow.lose(op, what, false); }
  States all(RowState state) const { return SmallVector<RowState>(op->getNumResults(), state); }

  RowState broadcast();
  RowState stretched(Value x);
  RowState view(Value x, ArrayRef<DimExpr> dims);
  RowState product(MatMulOp matmul);
  RowState reduce(Value x, ArrayRef<int64_t> axes, bool keepsDims);
  RowState along(Value x, int64_t axis);
  RowState from(Value x, int64_t axis);
  RowState images(Value x);
  RowState concat(ConcatOp concat);
  RowState gather(GatherOp gather);
  RowState gatherElements(GatherElementsOp gather);
  RowState gatherParts(GatherNDOp gather);
  RowState scatter(ScatterElementsOp scatter);
  RowState subview(SubviewOp slice);
  RowState pad(PadOp pad);
  States recurrent();

  RowFlow &flow;
  Operation *op;
};

/// numpy's broadcasting: all rows come to lie along one axis of the result, and what is shared is stretched along it.
RowState Rule::broadcast() {
  Value result = op->getResult(0);
  std::optional<int64_t> axis;
  for (Value operand : op->getOperands())
    if (RowState state = of(operand); state.isRows()) {
      int64_t place = state.axis + rank(result) - rank(operand);
      if (axis.value_or(place) != place)
        return flow.lose(op, "combines each of the rows with all others", true);
      axis = place;
    }
  for (Value operand : op->getOperands()) {
    int64_t place = *axis - int64_t(rank(result)) + int64_t(rank(operand));
    bool fits = of(operand).isRows() ? flow.dims(operand)[place] == flow.dims(result)[*axis] : isOne(operand, place);
    if (!fits)
      return unknown("has an operand with a value for each of the rows");
  }
  return RowState::rows(*axis);
}

/// Copies along new or stretched dims.
RowState Rule::stretched(Value x) {
  Value result = op->getResult(0);
  int64_t shift = int64_t(rank(result)) - int64_t(rank(x));
  RowState state = of(x);
  if (state.isRows())
    return flow.dims(x)[state.axis] == flow.dims(result)[state.axis + shift] ? RowState::rows(state.axis + shift) : unknown("stretches rows");
  for (auto [axis, size] : llvm::enumerate(flow.dims(result)))
    if (flow.mentions(size)) {
      bool fits = state.isShared() && flow.factorOf(size) && isOne(x, int64_t(axis) - shift);
      state = fits ? RowState::rows(axis) : unknown("makes rows in a way that is not followed");
    }
  return state;
}

/// The axis of the new shape whose stretches are the rows: as many elements come before it, and it is a multiple of the dim.
RowState Rule::view(Value x, ArrayRef<DimExpr> newDims) {
  RowState state = of(x);
  DimExpr before = productOf(op->getContext(), flow.dims(x).take_front(state.axis));
  for (size_t axis = 0; axis < newDims.size(); ++axis)
    if (flow.mentions(newDims[axis])) {
      bool fits = productOf(op->getContext(), newDims.take_front(axis)) == before && flow.factorOf(newDims[axis]);
      return fits ? RowState::rows(axis) : unknown("joins rows with a dim in front of them");
    }
  return unknown("has a shape without the rows");
}

RowState Rule::product(MatMulOp matmul) {
  Value lhs = matmul.getLhs(), rhs = matmul.getRhs();
  int64_t left = rank(lhs), right = rank(rhs), result = rank(matmul.getResult());
  RowState rows = of(lhs), columns = of(rhs);
  if (left < 2 || right < 2)
    return unknown("multiplies a vector");
  if (rows.isRows() && rows.axis == left - 1)
    return mix(rows.axis);
  if (columns.isRows() && columns.axis == right - 2)
    return mix(columns.axis);
  int64_t place = rows.isRows() ? rows.axis + result - left : columns.axis + result - right;
  bool isBatch = place < result - 2;
  auto fits = [&](Value operand, int64_t operandRank) {
    int64_t axis = place - result + operandRank;
    return of(operand).isRows() ? of(operand).axis == axis && (!isBatch || flow.dims(operand)[axis] == flow.dims(matmul.getResult())[place])
                                : !isBatch || isOne(operand, axis);
  };
  bool bothInMatrices = !isBatch && rows.isRows() && columns.isRows();
  return !bothInMatrices && fits(lhs, left) && fits(rhs, right) ? RowState::rows(place)
                                                                : flow.lose(op, "multiplies each of the rows with all others", true);
}

RowState Rule::reduce(Value x, ArrayRef<int64_t> axes, bool keepsDims) {
  RowState state = of(x);
  if (llvm::is_contained(axes, state.axis))
    return mix(state.axis);
  int64_t before = llvm::count_if(axes, [&](int64_t axis) { return axis < state.axis; });
  return RowState::rows(keepsDims ? state.axis : state.axis - before);
}

/// An op that works along `axis`, each line of it for itself.
RowState Rule::along(Value x, int64_t axis) { return of(x).axis == axis ? mix(axis) : of(x); }

/// The same for all dims from `axis` on.
RowState Rule::from(Value x, int64_t axis) { return of(x).axis >= axis ? mix(of(x).axis) : of(x); }

/// An op on the images of a batch, each for itself, with parameters that all share.
RowState Rule::images(Value x) {
  if (!areShared(op->getOperands().drop_front()))
    return unknown("has parameters that come from rows");
  return of(x).axis == 0 ? of(x) : mix(of(x).axis);
}

RowState Rule::concat(ConcatOp concat) {
  std::optional<RowState> state;
  for (Value input : concat.getInputs()) {
    if (of(input).isRows() && of(input).axis == int64_t(concat.getAxis()))
      return flow.lose(op, "joins other elements to axis " + Twine(concat.getAxis()) + ", along which the rows are", true);
    if (state && !(*state == of(input)))
      return unknown("joins rows with what has none");
    state = of(input);
  }
  return *state;
}

RowState Rule::gather(GatherOp gather) {
  RowState x = of(gather.getX()), indices = of(gather.getIndices());
  int64_t axis = gather.getAxis();
  if (x.isRows() && x.axis == axis)
    return flow.lose(op, "picks from axis " + Twine(axis) + ", along which the rows are", true);
  if (x.isRows() && indices.isRows())
    return flow.lose(op, "picks from each of the rows what all others ask for", true);
  if (indices.isRows())
    return RowState::rows(axis + indices.axis);
  return RowState::rows(x.axis < axis ? x.axis : x.axis - 1 + int64_t(rank(gather.getIndices())));
}

/// Where the rows are along another axis than the one picked from, each picks from itself.
RowState Rule::gatherElements(GatherElementsOp gather) {
  RowState x = of(gather.getX()), indices = of(gather.getIndices());
  int64_t axis = gather.getAxis();
  if (x.isShared() && indices.axis == axis)
    return indices;
  if (x.isRows() && x.axis == axis)
    return flow.lose(op, "picks from axis " + Twine(axis) + ", along which the rows are", true);
  bool fits = x == indices && flow.dims(gather.getX())[x.axis] == flow.dims(gather.getIndices())[x.axis];
  return fits ? x : unknown("picks elements by their place in the batch");
}

RowState Rule::gatherParts(GatherNDOp gather) {
  RowState x = of(gather.getX()), indices = of(gather.getIndices());
  int64_t common = gather.getBatchDims();
  bool hasOwn = x == indices && x.axis < common;
  bool hasShared = x.isShared() && indices.axis >= common && indices.axis + 1 < int64_t(rank(gather.getIndices()));
  return hasOwn || hasShared ? indices : unknown("picks by tuples across rows");
}

RowState Rule::scatter(ScatterElementsOp scatter) {
  RowState x = of(scatter.getX());
  bool alike = x.isRows() && of(scatter.getIndices()) == x && of(scatter.getUpdates()) == x &&
               flow.dims(scatter.getIndices())[x.axis] == flow.dims(scatter.getX())[x.axis];
  return alike && x.axis != int64_t(scatter.getAxis()) ? x : unknown("writes elements across rows");
}

RowState Rule::subview(SubviewOp slice) {
  RowState state = of(slice.getX());
  Dims offsets = dimsOf(slice.getOffsets()), sizes = dimsOf(slice.getSizes());
  bool isWhole = offsets[state.axis].isConstant(0) && slice.getSteps()[state.axis] == 1 && sizes[state.axis] == flow.dims(slice.getX())[state.axis];
  for (auto [axis, offset] : llvm::enumerate(offsets))
    if (flow.mentions(offset) || (int64_t(axis) != state.axis && flow.mentions(sizes[axis])))
      return unknown("cuts at the number of rows");
  return isWhole ? state : flow.lose(op, "takes some of the places of axis " + Twine(state.axis) + ", along which the rows are", true);
}

RowState Rule::pad(PadOp pad) {
  RowState state = of(pad.getX());
  ArrayRef<int64_t> pads = pad.getPads();
  bool isWhole = pads[state.axis] == 0 && pads[state.axis + pads.size() / 2] == 0;
  if (!isWhole)
    return flow.lose(op, "pads axis " + Twine(state.axis) + ", along which the rows are", true);
  return areShared(op->getOperands().drop_front()) ? state : unknown("pads with a value that comes from rows");
}

/// x, lengths and states have a batch dim; each sequence is computed for itself.
States Rule::recurrent() {
  auto check = [&](Value value, int64_t axis) { return !value || of(value) == RowState::rows(axis); };
  auto layer = [&](auto recurrent) {
    bool fits = check(recurrent.getX(), 1) && (check(recurrent.getLengths(), 0)) && check(recurrent.getInitialH(), 1) &&
                areShared({recurrent.getWeight(), recurrent.getRecurrence()}) && of(recurrent.getBias()).isShared();
    if constexpr (requires { recurrent.getInitialC(); })
      fits &= check(recurrent.getInitialC(), 1) && of(recurrent.getPeepholes()).isShared();
    return fits;
  };
  bool fits = TypeSwitch<Operation *, bool>(op).Case<RnnOp, GruOp, LstmOp>(layer).Default(false);
  if (!fits)
    return all(unknown("has rows elsewhere than in the batch of the layer"));
  States states = all(RowState::rows(1));
  states->front() = RowState::rows(2);
  return states;
}

States Rule::apply() {
  if (isa<BroadcastOp>(op))
    return all(stretched(op->getOperand(0)));
  if (op->getNumOperands() == 0 || op->getNumRegions() != 0 || areShared(op->getOperands()))
    return std::nullopt;
  if (op->hasTrait<Elementwise>())
    return all(broadcast());
  Value x = op->getOperand(0);
  bool onlyFirst = areShared(op->getOperands().drop_front());
  return TypeSwitch<Operation *, States>(op)
      .Case<ReshapeOp, SqueezeOp, UnsqueezeOp, FlattenOp, ViewOp>([&](auto) { return onlyFirst ? all(view(x, flow.dims(op->getResult(0)))) : States(); })
      .Case<MatMulOp>([&](MatMulOp matmul) { return all(product(matmul)); })
      .Case<ConvOp, ConvTransposeOp, MaxPoolOp, AveragePoolOp>([&](auto) { return all(images(x)); })
      .Case<BatchNormOp>([&](auto) { return onlyFirst ? all(along(x, 1)) : States(); })
      .Case<SoftmaxOp, LogSoftmaxOp, CumSumOp, CumProdOp, TopKOp>([&](auto line) { return all(along(x, line.getAxis())); })
      .Case<LayerNormOp, RmsNormOp>([&](auto norm) { return onlyFirst ? all(from(x, norm.getAxis())) : States(); })
      .Case<ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp>(
          [&](auto sum) { return all(reduce(x, sum.getAxes(), sum.getKeepdims())); })
      .Case<ArgMaxOp, ArgMinOp>([&](auto best) { return all(reduce(x, {int64_t(best.getAxis())}, best.getKeepdims())); })
      .Case<TransposeOp>([&](TransposeOp transpose) { return all(RowState::rows(llvm::find(transpose.getPerm(), of(x).axis) - transpose.getPerm().begin())); })
      .Case<TriluOp>([&](auto) { return all(from(x, rank(x) - 2)); })
      .Case<ResizeOp>([&](ResizeOp resize) { return onlyFirst ? all(reduce(x, resize.getAxes(), true)) : States(); })
      .Case<ConcatOp>([&](ConcatOp joined) { return all(concat(joined)); })
      .Case<GatherOp>([&](GatherOp picked) { return all(gather(picked)); })
      .Case<GatherElementsOp>([&](GatherElementsOp picked) { return all(gatherElements(picked)); })
      .Case<GatherNDOp>([&](GatherNDOp picked) { return all(gatherParts(picked)); })
      .Case<ScatterElementsOp>([&](ScatterElementsOp written) { return all(scatter(written)); })
      .Case<SubviewOp>([&](SubviewOp slice) { return all(subview(slice)); })
      .Case<PadOp>([&](PadOp padded) { return all(pad(padded)); })
      .Case<RnnOp, GruOp, LstmOp>([&](auto) { return recurrent(); })
      .Default(States());
}

} // namespace

States rowRule(RowFlow &flow, Operation *op) { return Rule(flow, op).apply(); }

} // namespace llmc
