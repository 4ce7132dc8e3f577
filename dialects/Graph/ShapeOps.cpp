// Shape rules, folds and canonical forms of the ops that move elements, in the order of ShapeOps.td.
#include "dialects/Graph/Graph.h"
#include "dialects/Graph/DimLogic.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace llmc::graph {

LogicalResult ShapeOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t rank = shapes.rank(0), start = adaptor.getStart(), end = adaptor.getEnd();
  if (start < 0 || start > end || end > rank)
    return shapes.fail("dims " + Twine(start) + " to " + Twine(end) + " of a tensor of rank " + Twine(rank));
  Dims contents(shapes.dims(0).slice(start, end - start));
  shapes.result(IntegerType::get(shapes.context(), 64), {shapes.constant(end - start)}, std::move(contents));
  return success();
}

/// Rank that a one-dimensional shape operand asks for.
static FailureOr<int64_t> targetRank(ShapeInference &shapes, size_t operand) {
  if (shapes.rank(operand) != 1)
    return shapes.fail("the shape operand must be of rank 1, got " + Twine(shapes.rank(operand)));
  DimExpr length = shapes.dims(operand)[0];
  if (auto rank = length ? length.asConstant() : std::nullopt)
    return *rank;
  return shapes.fail("the shape operand has no static length, so the rank of the result is unknown, which is not supported");
}

/// Targets that the run may show to be 0 (keep) or -1 (whatever is left): all cases in one expression per dim.
static FailureOr<Dims> openTarget(ShapeInference &shapes, ArrayRef<DimExpr> target, bool allowZero) {
  DimExpr one = shapes.constant(1), known = one;
  Dims kept, isRest, dims;
  for (auto [i, size] : llvm::enumerate(target)) {
    bool canKeep = !allowZero && static_cast<int64_t>(i) < shapes.rank(0);
    kept.push_back(canKeep ? size + isEqual(size, shapes.constant(0)) * shapes.dims(0)[i] : size);
    isRest.push_back(isEqual(size, shapes.constant(-1)));
    known = known * select(isRest.back(), one, kept.back());
  }
  DimExpr rest = productOf(shapes.context(), shapes.dims(0)).floorDiv(known.max(one));
  for (auto [size, condition] : llvm::zip_equal(kept, isRest))
    dims.push_back(select(condition, rest, size));
  if (failed(shapes.same(productOf(shapes.context(), shapes.dims(0)), productOf(shapes.context(), dims),
                         "element counts of input and target shape differ")))
    return failure();
  return dims;
}

LogicalResult ReshapeOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  FailureOr<int64_t> rank = targetRank(shapes, 1);
  if (failed(rank))
    return failure();
  const std::optional<Dims> &target = shapes.contents(1);
  if (!target) {
    shapes.result(shapes.elementType(0), Dims(*rank));
    return success();
  }
  if (llvm::any_of(*target, [&](DimExpr dim) { return dim && !dim.asConstant() && shapes.ranges().of(dim).lo < 0; })) {
    FailureOr<Dims> open = openTarget(shapes, *target, adaptor.getAllowZero());
    if (failed(open))
      return failure();
    shapes.result(shapes.elementType(0), *open, shapes.contents(0));
    return success();
  }
  Dims dims(*target);
  std::optional<size_t> open;
  DimExpr known = shapes.constant(1);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    std::optional<int64_t> value = dim ? dim.asConstant() : std::nullopt;
    if (value == -1 && open)
      return shapes.fail("the target shape has more than one -1");
    if (value && *value < -1)
      return shapes.fail("the target shape has the size " + Twine(*value));
    if (value == -1) {
      open = i;
      continue;
    }
    if (value == 0 && !adaptor.getAllowZero()) {
      if (static_cast<int64_t>(i) >= shapes.rank(0))
        return shapes.fail("the target shape keeps dim " + Twine(i) + " of an input of rank " + Twine(shapes.rank(0)));
      dim = shapes.dims(0)[i];
    }
    known = known * dim;
  }
  DimExpr total = productOf(shapes.context(), shapes.dims(0));
  if (open) {
    if (known.isConstant(0))
      return shapes.fail("-1 in the target shape is ambiguous beside a 0");
    dims[*open] = total.floorDiv(known);
    if (total && known && total.asConstant() && known.asConstant() && *total.asConstant() % *known.asConstant())
      return shapes.fail(total.str() + " elements do not divide into " + known.str());
  } else if (failed(shapes.same(total, known, "element counts of input and target shape differ"))) {
    return failure();
  }
  shapes.result(shapes.elementType(0), dims, shapes.contents(0));
  return success();
}

LogicalResult SqueezeOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Dims dims;
  for (int64_t axis : adaptor.getAxes()) {
    if (axis < 0 || axis >= shapes.rank(0))
      return shapes.fail("axis " + Twine(axis) + " of a tensor of rank " + Twine(shapes.rank(0)));
    if (failed(shapes.same(shapes.dims(0)[axis], shapes.constant(1), "dim " + Twine(axis) + " to drop is not 1")))
      return failure();
  }
  for (auto [i, dim] : llvm::enumerate(shapes.dims(0)))
    if (!llvm::is_contained(adaptor.getAxes(), static_cast<int64_t>(i)))
      dims.push_back(dim);
  shapes.result(shapes.elementType(0), dims, shapes.contents(0));
  return success();
}

LogicalResult UnsqueezeOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Dims dims(shapes.dims(0));
  int64_t rank = dims.size() + adaptor.getAxes().size();
  for (int64_t axis : adaptor.getAxes()) {
    if (axis < 0 || axis >= rank || axis > static_cast<int64_t>(dims.size()))
      return shapes.fail("axis " + Twine(axis) + " of a result of rank " + Twine(rank));
    dims.insert(dims.begin() + axis, shapes.constant(1));
  }
  shapes.result(shapes.elementType(0), dims, shapes.contents(0));
  return success();
}

LogicalResult FlattenOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis > shapes.rank(0))
    return shapes.fail("axis " + Twine(axis) + " of a tensor of rank " + Twine(shapes.rank(0)));
  ArrayRef<DimExpr> dims = shapes.dims(0);
  shapes.result(shapes.elementType(0), {productOf(shapes.context(), dims.take_front(axis)),
                                        productOf(shapes.context(), dims.drop_front(axis))});
  return success();
}

LogicalResult ViewOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Dims dims = dimsOf(adaptor.getDims());
  DimExpr from = productOf(shapes.context(), shapes.dims(0)), to = productOf(shapes.context(), dims);
  if (from && to && from.asConstant() && to.asConstant() && from != to)
    return shapes.fail(from.str() + " elements viewed as " + to.str());
  shapes.result(shapes.elementType(0), dims, shapes.contents(0));
  return success();
}

// view(x) of the type of x -> x. With two dynamic dims the sizes could trade places.
OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getX().getType() == getType() && getType().getNumDynamicDims() <= 1)
    return getX();
  return {};
}

namespace {
/// view(view(x)) -> view(x)
struct MergeViews final : OpRewritePattern<ViewOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(ViewOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ViewOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a view");
    rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(inner.getX()); });
    return success();
  }
};

/// transpose(transpose(x)) -> transpose(x)
struct MergeTransposes final : OpRewritePattern<TransposeOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is not a transpose");
    SmallVector<int64_t> perm =
        llvm::map_to_vector(op.getPerm(), [&](int64_t i) { return inner.getPerm()[i]; });
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getX(), perm);
    return success();
  }
};
} // namespace

void ViewOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeViews>(context);
}

LogicalResult ExpandOp::inferShape(Adaptor, ShapeInference &shapes) {
  FailureOr<int64_t> rank = targetRank(shapes, 1);
  if (failed(rank))
    return failure();
  if (!shapes.contents(1)) {
    shapes.result(shapes.elementType(0), Dims(std::max(*rank, shapes.rank(0))));
    return success();
  }
  FailureOr<Dims> dims = shapes.broadcast(shapes.dims(0), *shapes.contents(1));
  if (failed(dims))
    return failure();
  shapes.result(shapes.elementType(0), *dims);
  return success();
}

LogicalResult BroadcastOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Dims target = dimsOf(adaptor.getDims());
  FailureOr<Dims> dims = shapes.broadcast(shapes.dims(0), target);
  if (failed(dims))
    return failure();
  if (dims->size() != target.size())
    return shapes.fail("a tensor of rank " + Twine(shapes.rank(0)) + " broadcast to rank " + Twine(target.size()));
  shapes.result(shapes.elementType(0), target);
  return success();
}

// broadcast(x) to the static type of x -> x
OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getX().getType() == getType() && getType().hasStaticShape() ? getX() : OpFoldResult();
}

LogicalResult TransposeOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  ArrayRef<int64_t> perm = adaptor.getPerm();
  SmallVector<bool> seen(shapes.rank(0));
  if (perm.size() != seen.size())
    return shapes.fail("a permutation of " + Twine(perm.size()) + " dims for a tensor of rank " + Twine(shapes.rank(0)));
  Dims dims;
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= shapes.rank(0) || seen[axis])
      return shapes.fail("perm is not a permutation");
    seen[axis] = true;
    dims.push_back(shapes.dims(0)[axis]);
  }
  shapes.result(shapes.elementType(0), dims);
  return success();
}

// transpose(x) by the identity -> x
OpFoldResult TransposeOp::fold(FoldAdaptor) {
  for (auto [i, axis] : llvm::enumerate(getPerm()))
    if (static_cast<int64_t>(i) != axis)
      return {};
  return getX().getType() == getType() ? getX() : OpFoldResult();
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeTransposes>(context);
}

LogicalResult ConcatOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  if (shapes.size() == 0)
    return shapes.fail("nothing to join");
  int64_t axis = adaptor.getAxis(), rank = shapes.rank(0);
  if (axis < 0 || axis >= rank)
    return shapes.fail("axis " + Twine(axis) + " of a tensor of rank " + Twine(rank));
  Dims dims(shapes.dims(0));
  std::optional<Dims> contents = shapes.contents(0);
  for (size_t i = 1; i < shapes.size(); ++i) {
    if (shapes.rank(i) != rank)
      return shapes.fail("operand " + Twine(i) + " has rank " + Twine(shapes.rank(i)) + ", operand 0 has " + Twine(rank));
    if (failed(shapes.sameElementType(0, i)))
      return failure();
    for (int64_t d = 0; d < rank; ++d) {
      if (d == axis) {
        dims[d] = dims[d] + shapes.dims(i)[d];
        continue;
      }
      FailureOr<DimExpr> dim = shapes.same(dims[d], shapes.dims(i)[d], "dim " + Twine(d) + " of operand " + Twine(i) + " differs");
      if (failed(dim))
        return failure();
      dims[d] = *dim;
    }
    if (contents && shapes.contents(i))
      contents->append(*shapes.contents(i));
    else
      contents.reset();
  }
  if (rank != 1 || (contents && contents->size() > maxContents))
    contents.reset();
  shapes.result(shapes.elementType(0), dims, contents);
  return success();
}

// concat(x) -> x
OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 && getInputs().front().getType() == getType() ? getInputs().front() : OpFoldResult();
}

/// Negative places count from the end. Unknown if the sign is.
static DimExpr fromEnd(ShapeInference &shapes, DimExpr place, DimExpr dim) {
  if (!place || !dim)
    return {};
  // Sentinels such as the greatest int64 stay far beyond any dim, but no longer overflow.
  constexpr int64_t far = int64_t(1) << 48;
  if (auto value = place.asConstant())
    place = shapes.constant(std::clamp(*value, -far, far));
  DimRange range = shapes.ranges().of(place);
  if (range.lo >= 0)
    return place;
  return range.hi < 0 ? place + dim : countedFromEnd(place, dim);
}

static DimExpr clamp(ShapeInference &shapes, DimExpr value, DimExpr lo, DimExpr hi) {
  return shapes.simplify(shapes.simplify(value.max(lo)).min(hi));
}

FailureOr<std::optional<SliceBounds>> resolveSlice(ShapeInference &shapes, bool hasAxes, bool hasSteps) {
  int64_t rank = shapes.rank(0);
  FailureOr<int64_t> count = targetRank(shapes, 1);
  if (failed(count))
    return std::optional<SliceBounds>();
  std::optional<Dims> axes = hasAxes ? shapes.contents(3) : std::nullopt;
  std::optional<Dims> steps = hasSteps ? shapes.contents(hasAxes ? 4 : 3) : std::nullopt;
  if ((hasAxes && !axes) || (hasSteps && !steps))
    return std::optional<SliceBounds>();
  SliceBounds bounds{Dims(rank, shapes.constant(0)), Dims(shapes.dims(0)), SmallVector<int64_t>(rank, 1)};
  for (int64_t i = 0; i < *count; ++i) {
    std::optional<int64_t> axis = axes ? (*axes)[i].asConstant() : i;
    std::optional<int64_t> step = steps ? (*steps)[i].asConstant() : 1;
    if (!axis || !step)
      return std::optional<SliceBounds>();
    if (*axis < -rank || *axis >= rank)
      return shapes.fail("axis " + Twine(*axis) + " of a tensor of rank " + Twine(rank));
    if (*step == 0)
      return shapes.fail("step 0 along axis " + Twine(*axis));
    step = std::max(*step, -INT64_MAX); // no dim is longer than that; the least number itself means "open" to MLIR
    int64_t d = *axis < 0 ? *axis + rank : *axis;
    DimExpr dim = shapes.dims(0)[d], zero = shapes.constant(0), one = shapes.constant(1);
    DimExpr start = shapes.contents(1) ? fromEnd(shapes, (*shapes.contents(1))[i], dim) : DimExpr();
    DimExpr end = shapes.contents(2) ? fromEnd(shapes, (*shapes.contents(2))[i], dim) : DimExpr();
    DimExpr distance;
    if (*step > 0) {
      start = clamp(shapes, start, zero, dim);
      end = clamp(shapes, end, zero, dim);
      distance = end - start;
    } else {
      start = clamp(shapes, start, zero, dim - one);
      end = clamp(shapes, end, zero - one, dim - one);
      distance = start - end;
    }
    bounds.offsets[d] = start;
    bounds.sizes[d] = shapes.simplify(distance.max(zero)).ceilDiv(std::abs(*step));
    bounds.steps[d] = *step;
  }
  return std::optional(bounds);
}

LogicalResult SliceOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  bool hasAxes = static_cast<bool>(adaptor.getAxes()), hasSteps = static_cast<bool>(adaptor.getSteps());
  FailureOr<std::optional<SliceBounds>> bounds = resolveSlice(shapes, hasAxes, hasSteps);
  if (failed(bounds))
    return failure();
  if (!*bounds) {
    shapes.result(shapes.elementType(0), Dims(shapes.rank(0)));
    return success();
  }
  std::optional<Dims> contents;
  std::optional<int64_t> offset, size;
  if (shapes.rank(0) == 1 && shapes.contents(0) && (*bounds)->offsets[0] && (*bounds)->sizes[0]) {
    offset = (*bounds)->offsets[0].asConstant();
    size = (*bounds)->sizes[0].asConstant();
  }
  if (offset && size) {
    contents.emplace();
    for (int64_t k = 0; k < *size; ++k)
      contents->push_back((*shapes.contents(0))[*offset + k * (*bounds)->steps[0]]);
  }
  shapes.result(shapes.elementType(0), (*bounds)->sizes, contents);
  return success();
}

LogicalResult SubviewOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  size_t rank = shapes.rank(0);
  if (adaptor.getOffsets().size() != rank || adaptor.getSizes().size() != rank || adaptor.getSteps().size() != rank)
    return shapes.fail("expects " + Twine(rank) + " offsets, sizes and steps");
  shapes.result(shapes.elementType(0), dimsOf(adaptor.getSizes()));
  return success();
}

// subview(x) of all of a static x -> x
OpFoldResult SubviewOp::fold(FoldAdaptor) {
  bool whole = getX().getType() == getType() && getType().hasStaticShape() &&
               llvm::all_of(dimsOf(getOffsets()), [](DimExpr offset) { return offset.isConstant(0); }) &&
               llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  return whole ? getX() : OpFoldResult();
}

/// As lists of starts, ends, axes and steps; an end below 0 is said in a way that ONNX does not count from the end.
static void packSubview(SubviewOp op, PackedAttributes &pack) {
  SmallVector<int64_t> starts, ends, axes;
  for (auto [axis, offset, size] : llvm::enumerate(dimsOf(op.getOffsets()), dimsOf(op.getSizes()))) {
    std::optional<int64_t> start = offset.asConstant(), count = size.asConstant();
    pack.known &= start && count;
    int64_t end = start.value_or(0) + count.value_or(0) * op.getSteps()[axis];
    starts.push_back(start.value_or(0));
    ends.push_back(end < 0 ? INT64_MIN : end);
    axes.push_back(axis);
  }
  pack.list(starts);
  pack.list(ends);
  pack.list(axes);
  pack.list(op.getSteps());
}

LogicalResult GatherOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= shapes.rank(0))
    return shapes.fail("axis " + Twine(axis) + " of a tensor of rank " + Twine(shapes.rank(0)));
  ArrayRef<DimExpr> x = shapes.dims(0);
  Dims dims(x.take_front(axis));
  dims.append(shapes.dims(1).begin(), shapes.dims(1).end());
  dims.append(x.begin() + axis + 1, x.end());
  std::optional<Dims> contents;
  if (shapes.rank(0) == 1 && shapes.contents(0) && shapes.contents(1)) {
    contents.emplace();
    int64_t size = shapes.contents(0)->size();
    for (DimExpr place : *shapes.contents(1)) {
      std::optional<int64_t> index = place ? place.asConstant() : std::nullopt;
      if (index && (*index < -size || *index >= size))
        return shapes.fail("index " + Twine(*index) + " of a dim of size " + Twine(size));
      contents->push_back(index ? (*shapes.contents(0))[*index < 0 ? *index + size : *index] : DimExpr());
    }
  }
  shapes.result(shapes.elementType(0), dims, contents);
  return success();
}

LogicalResult PadOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  int64_t rank = shapes.rank(0);
  if (static_cast<int64_t>(adaptor.getPads().size()) != 2 * rank)
    return shapes.fail("expects " + Twine(2 * rank) + " pads, got " + Twine(adaptor.getPads().size()));
  if (adaptor.getMode() < 0 || adaptor.getMode() > 3)
    return shapes.fail("unknown mode " + Twine(adaptor.getMode()));
  Dims dims;
  for (auto [i, dim] : llvm::enumerate(shapes.dims(0))) {
    dims.push_back(dim + (adaptor.getPads()[i] + adaptor.getPads()[rank + i]));
    if (auto size = dims.back() ? dims.back().asConstant() : std::nullopt; size && *size < 0)
      return shapes.fail("dim " + Twine(i) + " of " + dim.str() + " padded to " + Twine(*size));
  }
  shapes.result(shapes.elementType(0), dims);
  return success();
}

LogicalResult FromDimsOp::inferShape(Adaptor adaptor, ShapeInference &shapes) {
  Dims contents = dimsOf(adaptor.getDims());
  shapes.result(IntegerType::get(shapes.context(), 64), {shapes.constant(contents.size())}, contents);
  return success();
}

// from_dims of numbers -> constant
OpFoldResult FromDimsOp::fold(FoldAdaptor) {
  SmallVector<int64_t> values;
  for (DimExpr dim : dimsOf(getDims())) {
    if (!dim.asConstant())
      return {};
    values.push_back(*dim.asConstant());
  }
  return makeIndexConstant(getContext(), values);
}

} // namespace llmc::graph

#define GET_OP_CLASSES
#include "dialects/Graph/ShapeOps.cpp.inc"

void llmc::graph::GraphDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/ShapeOps.cpp.inc"
      >();
}
