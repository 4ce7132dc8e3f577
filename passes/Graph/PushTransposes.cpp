// op(transpose(x)) -> transpose(op(x)), for each kind of op.
#include "passes/Graph/PushTransposes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmc {

SmallVector<int64_t> toChannelsLast(int64_t rank) {
  SmallVector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i)
    perm.push_back(i);
  perm.push_back(1);
  return perm;
}

SmallVector<int64_t> toChannelsFirst(int64_t rank) { return invertPermutationVector(toChannelsLast(rank)); }

RankedTensorType permuted(RankedTensorType type, ArrayRef<int64_t> perm) {
  return RankedTensorType::get(applyPermutation(type.getShape(), perm), type.getElementType());
}

bool movesOnlyUnitDims(RankedTensorType type, ArrayRef<int64_t> perm) {
  int64_t last = -1;
  for (int64_t dim : perm) {
    if (type.getDimSize(dim) == 1)
      continue;
    if (dim < last)
      return false;
    last = dim;
  }
  return true;
}

namespace {

/// The transpose to channels first that makes `value`. Below rank 4 it would be its own inverse, and could move up and
/// down forever.
graph::TransposeOp channelsFirst(Value value) {
  auto op = value.getDefiningOp<graph::TransposeOp>();
  return op && op.getPerm().size() >= 4 && op.getPerm() == ArrayRef(toChannelsFirst(op.getPerm().size()))
             ? op
             : graph::TransposeOp();
}

bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

bool hasOneElement(RankedTensorType type) { return type.hasStaticShape() && type.getNumElements() == 1; }

/// The first operand of `op` that is transposed to channels first and not constant.
graph::TransposeOp transposedOperand(Operation *op) {
  for (Value operand : op->getOperands())
    if (auto transpose = channelsFirst(operand); transpose && !isConstant(transpose.getX()))
      return transpose;
  return {};
}

/// The operands of an op, of which some are transposed by `perm`, in the layout before that.
class Untransposed {
public:
  explicit Untransposed(ArrayRef<int64_t> perm) : perm(perm), inverse(invertPermutationVector(perm)) {}

  /// Whether `value` has that layout, or gets it for nothing at run time: transposed already, by the same permutation
  /// or elsewhere, constant, or without an element to move. Operands of lower rank get dims of size 1 in front, as
  /// broadcasting says.
  bool isFree(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    if (isTransposed(value) || hasOneElement(type) || isConstant(value))
      return true;
    return type.getRank() == rank() &&
           (movesOnlyUnitDims(type, inverse) || llvm::any_of(value.getUsers(), [&](Operation *user) {
              auto transpose = dyn_cast<graph::TransposeOp>(user);
              return transpose && transpose.getPerm() == ArrayRef(inverse);
            }));
  }

  /// `value`, for which isFree holds, in that layout.
  Value get(Value value, PatternRewriter &rewriter) const {
    auto type = cast<RankedTensorType>(value.getType());
    if (isTransposed(value))
      return value.getDefiningOp<graph::TransposeOp>().getX();
    if (hasOneElement(type))
      return value;
    if (type.getRank() < rank())
      value = withLeadingOnes(value, rewriter);
    type = permuted(cast<RankedTensorType>(value.getType()), inverse);
    return graph::TransposeOp::create(rewriter, value.getLoc(), type, value, inverse);
  }

  RankedTensorType get(RankedTensorType type) const { return permuted(type, inverse); }

private:
  int64_t rank() const { return perm.size(); }

  bool isTransposed(Value value) const {
    auto op = value.getDefiningOp<graph::TransposeOp>();
    return op && op.getPerm() == ArrayRef(perm);
  }

  Value withLeadingOnes(Value constant, PatternRewriter &rewriter) const {
    auto type = cast<RankedTensorType>(constant.getType());
    SmallVector<int64_t> shape(rank() - type.getRank(), 1);
    llvm::append_range(shape, type.getShape());
    auto exprs =
        llvm::map_to_vector(shape, [&](int64_t size) { return graph::DimExpr::constant(rewriter.getContext(), size); });
    return graph::ViewOp::create(rewriter, constant.getLoc(), RankedTensorType::get(shape, type.getElementType()),
                                 constant, graph::dimsAttr(rewriter.getContext(), exprs));
  }

  SmallVector<int64_t> perm, inverse;
};

/// A copy of `op` for operands and result in another layout; its attributes are for the caller to change.
Operation *cloneFor(Operation *op, ValueRange operands, Type type, PatternRewriter &rewriter) {
  Operation *copy = rewriter.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return copy;
}

/// op(transpose(x), y, ..) -> transpose(op(x, y', ..)) for element-wise ops, where y' costs nothing
struct PushThroughElementwise final : RewritePattern {
  explicit PushThroughElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<graph::Elementwise>())
      return rewriter.notifyMatchFailure(op, "not element-wise");
    graph::TransposeOp first = transposedOperand(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!first || static_cast<int64_t>(first.getPerm().size()) != type.getRank())
      return rewriter.notifyMatchFailure(op, "no operand of the result's rank is transposed to channels first");
    Untransposed layout(first.getPerm());
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return layout.isFree(operand); }))
      return rewriter.notifyMatchFailure(op, "an operand would need a transpose of its own");
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return layout.get(operand, rewriter); });
    Operation *moved = cloneFor(op, operands, layout.get(type), rewriter);
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, type, moved->getResult(0), first.getPerm());
    return success();
  }
};

/// concat(transpose(x), transpose(y)) -> transpose(concat(x, y)) along the other axis
struct PushThroughConcat final : OpRewritePattern<graph::ConcatOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(graph::ConcatOp op, PatternRewriter &rewriter) const override {
    graph::TransposeOp first = transposedOperand(op);
    if (!first)
      return rewriter.notifyMatchFailure(op, "no input is transposed to channels first");
    Untransposed layout(first.getPerm());
    if (!llvm::all_of(op.getInputs(), [&](Value input) { return layout.isFree(input); }))
      return rewriter.notifyMatchFailure(op, "an input would need a transpose of its own");
    SmallVector<Value> inputs =
        llvm::map_to_vector(op.getInputs(), [&](Value input) { return layout.get(input, rewriter); });
    auto moved = cast<graph::ConcatOp>(cloneFor(op, inputs, layout.get(op.getType()), rewriter));
    moved.setAxis(first.getPerm()[op.getAxis()]);
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, op.getType(), moved, first.getPerm());
    return success();
  }
};

/// An op on one tensor whose shape-like attributes go by dim: op(transpose(x)) -> transpose(op'(x)). `remap` changes
/// the attributes.
template <typename Op> struct PushThroughUnary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  virtual void remap(Op moved, Op op, ArrayRef<int64_t> perm) const = 0;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    graph::TransposeOp transpose = channelsFirst(op.getX());
    if (!transpose || op.getType().getRank() != static_cast<int64_t>(transpose.getPerm().size()))
      return rewriter.notifyMatchFailure(op, "input is not transposed to channels first");
    ArrayRef<int64_t> perm = transpose.getPerm();
    SmallVector<Value> operands(op->getOperands());
    operands.front() = transpose.getX();
    auto moved = cast<Op>(cloneFor(op, operands, permuted(op.getType(), invertPermutationVector(perm)), rewriter));
    remap(moved, op, perm);
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, op.getType(), moved->getResult(0), perm);
    return success();
  }
};

/// Attributes listed by dim of the result, put at the places of the dims before the transpose.
ArrayAttr untransposed(ArrayAttr byDim, ArrayRef<int64_t> perm) {
  return ArrayAttr::get(byDim.getContext(), applyPermutation(byDim.getValue(), invertPermutationVector(perm)));
}

struct PushThroughPad final : PushThroughUnary<graph::PadOp> {
  using PushThroughUnary::PushThroughUnary;
  void remap(graph::PadOp moved, graph::PadOp op, ArrayRef<int64_t> perm) const override {
    size_t rank = perm.size();
    SmallVector<int64_t> pads(2 * rank);
    for (size_t i = 0; i < rank; ++i) {
      pads[perm[i]] = op.getPads()[i];
      pads[rank + perm[i]] = op.getPads()[rank + i];
    }
    moved.setPads(pads);
  }
};

struct PushThroughBroadcast final : PushThroughUnary<graph::BroadcastOp> {
  using PushThroughUnary::PushThroughUnary;
  void remap(graph::BroadcastOp moved, graph::BroadcastOp op, ArrayRef<int64_t> perm) const override {
    moved.setDimsAttr(untransposed(op.getDims(), perm));
  }
};

struct PushThroughSubview final : PushThroughUnary<graph::SubviewOp> {
  using PushThroughUnary::PushThroughUnary;
  void remap(graph::SubviewOp moved, graph::SubviewOp op, ArrayRef<int64_t> perm) const override {
    moved.setOffsetsAttr(untransposed(op.getOffsets(), perm));
    moved.setSizesAttr(untransposed(op.getSizes(), perm));
    moved.setSteps(applyPermutation(op.getSteps(), invertPermutationVector(perm)));
  }
};

template <typename Op> struct PushThroughSoftmax final : PushThroughUnary<Op> {
  using PushThroughUnary<Op>::PushThroughUnary;
  void remap(Op moved, Op op, ArrayRef<int64_t> perm) const override { moved.setAxis(perm[op.getAxis()]); }
};

/// What is left of `perm` when `axes` (places in the transposed tensor) are dropped: a permutation of the dims that
/// stay.
SmallVector<int64_t> withoutAxes(ArrayRef<int64_t> perm, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept;
  for (auto [i, dim] : llvm::enumerate(perm))
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      kept.push_back(dim);
  return llvm::map_to_vector(
      kept, [&](int64_t dim) -> int64_t { return llvm::count_if(kept, [&](int64_t other) { return other < dim; }); });
}

/// reduce(transpose(x)) -> transpose(reduce(x)) over the axes before the transpose
template <typename Op> struct PushThroughReduce final : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    graph::TransposeOp transpose = channelsFirst(op.getX());
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "input is not transposed to channels first");
    SmallVector<int64_t> axes =
        llvm::map_to_vector(op.getAxes(), [&](int64_t axis) { return transpose.getPerm()[axis]; });
    llvm::sort(axes);
    SmallVector<int64_t> perm(transpose.getPerm());
    if (!op.getKeepdims())
      perm = withoutAxes(perm, op.getAxes());
    auto moved =
        cast<Op>(cloneFor(op, transpose.getX(), permuted(op.getType(), invertPermutationVector(perm)), rewriter));
    moved.setAxes(axes);
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, op.getType(), moved, perm);
    return success();
  }
};

/// view(transpose(x)) -> transpose(view(x)) if the view joins the spatial dims: [N, C, H, W] as [N, C, H * W]. All but
/// N must be static; N then is the same before and after, since the number of elements is.
struct PushThroughJoinOfSpatialDims final : OpRewritePattern<graph::ViewOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(graph::ViewOp op, PatternRewriter &rewriter) const override {
    graph::TransposeOp transpose = channelsFirst(op.getX());
    RankedTensorType type = op.getType();
    if (!transpose || type.getRank() != 3)
      return rewriter.notifyMatchFailure(op, "not a view of rank 3 of what is transposed to channels first");
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(transpose.getType()).getShape().drop_front();
    if (ShapedType::isDynamicShape(sizes) || ShapedType::getNumElements(sizes) == 0)
      return rewriter.notifyMatchFailure(op, "channels or spatial dims are not static and positive");
    if (type.getDimSize(1) != sizes[0] || type.getDimSize(2) != ShapedType::getNumElements(sizes.drop_front()))
      return rewriter.notifyMatchFailure(op, "does not join the spatial dims alone");
    int64_t perm[] = {0, 2, 1};
    auto moved = cast<graph::ViewOp>(cloneFor(op, transpose.getX(), permuted(type, perm), rewriter));
    moved.setDimsAttr(untransposed(op.getDims(), perm));
    rewriter.replaceOpWithNewOp<graph::TransposeOp>(op, type, moved, perm);
    return success();
  }
};

} // namespace

void populatePushTransposesPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<PushThroughElementwise, PushThroughConcat, PushThroughPad, PushThroughBroadcast, PushThroughSubview,
               PushThroughJoinOfSpatialDims, PushThroughSoftmax<graph::SoftmaxOp>,
               PushThroughSoftmax<graph::LogSoftmaxOp>, PushThroughReduce<graph::ReduceSumOp>,
               PushThroughReduce<graph::ReduceMeanOp>, PushThroughReduce<graph::ReduceMaxOp>,
               PushThroughReduce<graph::ReduceMinOp>, PushThroughReduce<graph::ReduceProdOp>>(context);
  graph::TransposeOp::getCanonicalizationPatterns(patterns, context);
}

} // namespace llmc
