// Operators that place samples on a grid or cut pictures to a size.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// The positions of `count` samples from -1 to 1: those of the outer samples' centres with `alignCorners`, else of
/// their borders.
Value positions(NodeContext &node, Value size, int64_t dim, DimExpr count, Type type, bool alignCorners) {
  Value one = node.scalar(type, 1), two = node.scalar(type, 2), start = node.scalar(type, -1);
  Value length = castTo(node, part(node, size, 0, node.number(dim), node.number(1)), type), step;
  if (alignCorners) {
    Value single = node.create<EqualOp>({length, one});
    step = node.create<DivOp>({two, node.create<SubOp>({length, one})});
    step = node.create<WhereOp>({single, node.scalar(type, 0), step});
  } else {
    step = node.create<DivOp>({two, length});
    start = node.create<AddOp>({start, node.create<DivOp>({step, two})});
  }
  return node.create<AddOp>({start, node.create<MulOp>({castTo(node, iota(node, count), type), step})});
}

/// theta * (x, y, 1) or (x, y, z, 1) at all places of a grid.
void affineGrid(NodeContext &node) {
  Value theta = node.input(0), size = node.input(1);
  bool alignCorners = node.intAttribute("align_corners", 0) != 0;
  std::optional<Dims> target = node.numbers(1), thetaDims = node.knownDims(theta, "the grid");
  if (!target || !thetaDims)
    return;
  int64_t spatial = static_cast<int64_t>(target->size()) - 2;
  if ((spatial != 2 && spatial != 3) || thetaDims->size() != 3)
    return node.fail("expects a size of 4 or 5 dims and theta of rank 3");
  Type type = node.elementType(theta);
  Dims grid(ArrayRef(*target).drop_front(2));
  Dims ofCoordinate = grid;
  ofCoordinate.push_back(node.number(1));
  SmallVector<Value> coordinates;
  for (int64_t dim = spatial - 1; dim >= 0; --dim) { // x, of the last dim, comes first
    Value line = positions(node, size, dim + 2, grid[dim], type, alignCorners);
    SmallVector<int64_t> behind = llvm::to_vector(llvm::seq<int64_t>(1, spatial - dim + 1));
    line = node.create<UnsqueezeOp>({line}, {node.named("axes", behind)});
    coordinates.push_back(node.create<BroadcastOp>({line}, {node.named("dims", ofCoordinate)}));
  }
  coordinates.push_back(node.create<BroadcastOp>({node.scalar(type, 1)}, {node.named("dims", ofCoordinate)}));
  Value places = node.create<ConcatOp>(coordinates, {node.named("axis", spatial)});
  Dims rows = {productOf(node.context(), grid), node.number(spatial + 1)};
  places = node.create<ViewOp>({places}, {node.named("dims", rows)});
  Value columns = node.create<TransposeOp>({theta}, {node.named("perm", ArrayRef<int64_t>{0, 2, 1})});
  Dims result = {(*thetaDims)[0]};
  result.append(grid);
  result.push_back(node.number(spatial));
  node.result(node.create<ViewOp>({node.create<MatMulOp>({places, columns})}, {node.named("dims", result)}));
}

void centerCropPad(NodeContext &node) {
  Value x = node.input(0);
  std::optional<SmallVector<int64_t>> sizes = node.constantInput(1), axes = node.intsAttribute("axes");
  int64_t rank = node.rank(x);
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (!sizes || node.failed())
    return;
  if (sizes->size() != axes->size())
    return node.fail(Twine(sizes->size()) + " sizes are given for " + Twine(axes->size()) + " axes");
  SmallVector<int64_t> pads(2 * rank, 0);
  for (auto [given, target] : llvm::zip_equal(*axes, *sizes)) {
    int64_t axis = node.axis(given, rank);
    if (!x || node.failed())
      return;
    DimExpr dim = node.dims(x)[axis];
    std::optional<int64_t> size = dim ? dim.asConstant() : std::nullopt;
    if (!size)
      return node.fail("the size of dim " + Twine(axis) + " is not known at compile time, which is not supported");
    if (target < *size)
      x = part(node, x, axis, node.number((*size - target) / 2), node.number(target));
    else
      pads[axis] = (target - *size) / 2;
    pads[rank + axis] = std::max<int64_t>(0, target - *size) - pads[axis];
  }
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return node.result(x);
  node.result(node.create<PadOp>({x}, {node.named("pads", pads), node.named("mode", int64_t(0))}));
}

constexpr Converter table[] = {
    {"AffineGrid", 20, newest, affineGrid},
    {"CenterCropPad", 18, newest, centerCropPad},
};

} // namespace

ArrayRef<Converter> imageConverters() { return table; }

} // namespace llmc
