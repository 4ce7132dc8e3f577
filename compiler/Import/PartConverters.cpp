// Operators that take tensors apart, put them together and repeat them.
#include "compiler/Import/AxisList.h"
#include "compiler/Import/Converters.h"
#include "compiler/Import/RunTimeParts.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// Of very many tensors in pieces first: a kernel has code for each operand, and compile time grows faster than their number.
Value concatOf(NodeContext &node, ArrayRef<Value> inputs, int64_t axis) {
  constexpr size_t most = 64;
  SmallVector<Value> pieces;
  if (inputs.size() > most)
    for (ArrayRef<Value> left = inputs; !left.empty(); left = left.drop_front(std::min(most, left.size())))
      pieces.push_back(concatOf(node, left.take_front(most), axis));
  if (!pieces.empty())
    return concatOf(node, pieces, axis);
  return node.create<ConcatOp>(inputs, {node.named("axis", axis)});
}

void concat(NodeContext &node) {
  SmallVector<Value> inputs;
  for (size_t i = 0; i < node.numInputs(); ++i)
    inputs.push_back(node.input(i));
  if (inputs.empty())
    return node.fail("it has no inputs");
  std::optional<int64_t> axis = node.intAttribute("axis");
  if (!axis && node.version >= 4)
    return node.fail("attribute 'axis' is missing");
  int64_t along = node.axis(axis.value_or(1), node.rank(inputs[0]));
  node.result(concatOf(node, inputs, along));
}

Value slice(NodeContext &node, Value x, Value starts, Value ends, Value axes, Value steps) {
  SmallVector<NamedAttribute> attributes;
  SmallVector<Value> operands = node.present({x, starts, ends, axes, steps}, attributes);
  return node.create<SliceOp>(operands, attributes);
}

void sliceByAttributes(NodeContext &node) {
  std::optional<SmallVector<int64_t>> starts = node.intsAttribute("starts"), ends = node.intsAttribute("ends"),
                                      axes = node.intsAttribute("axes");
  if (!starts || !ends)
    return node.fail("attribute 'starts' or 'ends' is missing");
  node.result(slice(node, node.input(0), node.indices(*starts), node.indices(*ends), axes ? node.indices(*axes) : Value(),
                    Value()));
}

void sliceByInputs(NodeContext &node) {
  Value x = node.input(0), axes = node.optionalInput(3), steps = node.optionalInput(4);
  auto isOpen = [&](size_t i) { return node.hasInput(i) && !node.isConstantInput(i); };
  if (node.isOpenList(1) || node.isOpenList(2) || isOpen(3) || isOpen(4))
    return node.result(sliceAtRunTime(node, x, node.input(1), node.input(2), axes, steps));
  node.result(slice(node, x, node.numbersInput(1), node.numbersInput(2), axes, steps));
}

/// The part of each output: an attribute, an input from opset 13 on (and in opset 1), else equal parts. The last part is what is
/// left, from opset 18 on perhaps a smaller one.
std::optional<Dims> partSizes(NodeContext &node, DimExpr whole) {
  std::optional<Dims> given;
  if (node.version >= 13 || (node.version == 1 && node.hasInput(1)))
    given = node.numbers(1, node.numOutputs());
  else if (std::optional<SmallVector<int64_t>> sizes = node.intsAttribute("split"))
    given = llvm::map_to_vector<4>(*sizes, [&](int64_t size) { return node.number(size); });
  int64_t count = node.numOutputs();
  if (node.version >= 18)
    if (std::optional<int64_t> parts = node.intAttribute("num_outputs"); parts && *parts != count)
      node.fail("num_outputs is " + Twine(*parts) + ", but the node has " + Twine(count) + " outputs");
  if (given && static_cast<int64_t>(given->size()) != count) // the attribute
    node.fail(Twine(given->size()) + " sizes are given for " + Twine(count) + " outputs");
  if (node.failed())
    return std::nullopt;
  if (given)
    return given;
  Dims sizes;
  if (!whole) {
    node.fail("the size of the dim to split is not known");
    return std::nullopt;
  }
  DimExpr part = node.version >= 18 ? whole.ceilDiv(count) : whole.floorDiv(count);
  if (whole.asConstant() && node.version < 18 && *whole.asConstant() % count != 0)
    node.fail("a dim of " + whole.str() + " does not split into " + Twine(count) + " equal parts");
  sizes.assign(count - 1, part);
  sizes.push_back(whole - part * (count - 1));
  return sizes;
}

void split(NodeContext &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.intAttribute("axis", 0), node.rank(x));
  if (!x || node.failed())
    return;
  std::optional<Dims> parts = partSizes(node, node.dims(x)[axis]);
  std::optional<Dims> dims = node.knownDims(x, "Split");
  if (!parts || !dims)
    return;
  DimExpr covered = node.number(0), whole = (*dims)[axis];
  for (DimExpr size : *parts) {
    node.result(part(node, x, axis, covered, size));
    covered = covered + size;
  }
  node.require(covered, whole, "the parts make " + covered.str() + " of a dim of " + whole.str());
}

void gather(NodeContext &node) {
  Value x = node.input(0), indices = node.input(1);
  int64_t axis = node.axis(node.intAttribute("axis", 0), node.rank(x));
  node.result(node.create<GatherOp>({x, indices}, {node.named("axis", axis)}));
}

/// Pads of the axes in a list as pads of all dims: those before, then those after.
Value padsOfAxes(NodeContext &node, Value pads, Value axes, int64_t rank) {
  AxisList list(node, axes, rank);
  list.chosen(); // for its check
  DimExpr count = list.count();
  if (!pads || !count)
    return {};
  DimExpr given = productOf(node.context(), node.dims(pads));
  node.require(given, count * 2, given.str() + " pads are given for " + count.str() + " axes");
  pads = firstOf(node, pads, 0, count * 2);
  auto half = [&](DimExpr offset) { return list.spread(part(node, pads, 0, offset, count), node.scalar(pads, 0)); };
  Value before = half(node.number(0)), after = half(count);
  return node.create<ConcatOp>({before, after}, {node.named("axis", int64_t(0))});
}

/// The attribute or input that lists pads, as pads of all dims: those before, then those after.
Dims allPads(NodeContext &node, int64_t rank) {
  std::optional<Dims> pads;
  if (node.version < 11) {
    if (std::optional<SmallVector<int64_t>> given = node.intsAttribute(node.version == 1 ? "paddings" : "pads"))
      pads = llvm::map_to_vector<4>(*given, [&](int64_t pad) { return node.number(pad); });
  } else if (node.version < 18 || !node.hasInput(3)) {
    pads = node.numbers(1, 2 * rank);
  } else {
    pads = node.numbersOf(padsOfAxes(node, node.input(1), node.input(3), rank));
  }
  if (!pads)
    node.fail("the pads are missing");
  else if (static_cast<int64_t>(pads->size()) != 2 * rank)
    node.fail(Twine(pads->size()) + " pads are given for rank " + Twine(rank));
  return pads.value_or(Dims());
}

void pad(NodeContext &node) {
  Value x = node.input(0), value;
  std::string mode = node.stringAttribute("mode", "constant");
  int64_t rank = node.rank(x);
  Dims pads = allPads(node, rank);
  const char *modes[] = {"constant", "reflect", "edge", "wrap"};
  const char *const *number = llvm::find(modes, mode);
  if (number == std::end(modes) || (mode == "wrap" && node.version < 19))
    return node.fail("mode '" + mode + "' is not supported");
  if (node.version < 11) {
    double constant = node.floatAttribute("value", 0);
    value = constant != 0 ? node.scalar(x, constant) : Value();
  } else {
    value = node.optionalInput(2);
  }
  if (!node.failed())
    node.result(padded(node, x, ArrayRef(pads).take_front(rank), ArrayRef(pads).take_back(rank), value, number - modes));
}

/// [d0, d1] repeated r0, r1 times: a view as [1, d0, 1, d1], broadcast to [r0, d0, r1, d1], is a view of [r0 * d0, r1 * d1].
void repeated(NodeContext &node, Value x, const Dims &repeats) {
  std::optional<Dims> dims = node.knownDims(x, "Tile");
  if (!dims)
    return;
  Dims apart, wide, result;
  for (auto [dim, repeat] : llvm::zip_equal(*dims, repeats)) {
    if (!repeat)
      return node.fail("repeats that are not known at compile time are not supported");
    apart.append({node.number(1), dim});
    wide.append({repeat, dim});
    result.push_back(repeat * dim);
  }
  Value y = node.create<ViewOp>({x}, {node.named("dims", apart)});
  y = node.create<BroadcastOp>({y}, {node.named("dims", wide)});
  node.result(node.create<ViewOp>({y}, {node.named("dims", result)}));
}

void tile(NodeContext &node) {
  Value x = node.input(0);
  if (std::optional<Dims> repeats = node.numbers(1, node.rank(x)))
    repeated(node, x, *repeats);
}

/// Opset 1 repeats one axis.
void tileAxis(NodeContext &node) {
  Value x = node.input(0);
  std::optional<SmallVector<int64_t>> tiles = node.constantInput(1), axis = node.constantInput(2);
  if (!tiles || !axis || tiles->size() != 1 || axis->size() != 1)
    return node.fail("expects one count of tiles and one axis");
  int64_t along = node.axis((*axis)[0], node.rank(x));
  if (node.failed())
    return;
  Dims repeats(node.rank(x), node.number(1));
  repeats[along] = node.number((*tiles)[0]);
  repeated(node, x, repeats);
}

/// Views x in `apart`, permutes those dims, and views the result in `together`.
Value rearranged(NodeContext &node, Value x, const Dims &apart, ArrayRef<int64_t> perm, const Dims &together) {
  Value y = node.create<ViewOp>({x}, {node.named("dims", apart)});
  y = node.create<TransposeOp>({y}, {node.named("perm", perm)});
  return node.create<ViewOp>({y}, {node.named("dims", together)});
}

struct Blocks {
  Dims dims; // N, C, H, W
  int64_t size;
  bool channelsFirst; // CRD: the channels vary slower than the place in the block
};

/// The attributes of DepthToSpace and SpaceToDepth, whose `mode` came with the given opset.
std::optional<Blocks> readBlocks(NodeContext &node, Value x, int modeSince) {
  std::string mode = node.version >= modeSince ? node.stringAttribute("mode", "DCR") : "DCR";
  int64_t size = node.intAttribute("blocksize", 0);
  std::optional<Dims> dims = node.knownDims(x, "the rearrangement");
  if (!dims)
    return std::nullopt;
  if (dims->size() != 4 || size <= 0 || (mode != "DCR" && mode != "CRD")) {
    node.fail("expects rank 4, a positive blocksize and mode DCR or CRD");
    return std::nullopt;
  }
  return Blocks{*dims, size, mode == "CRD"};
}

/// What is left of a dim after a division that must be exact.
DimExpr divided(NodeContext &node, DimExpr dim, int64_t divisor) {
  if (std::optional<int64_t> size = dim.asConstant(); size && *size % divisor != 0)
    node.fail("a dim of " + Twine(*size) + " is no multiple of " + Twine(divisor));
  return dim.floorDiv(divisor);
}

void depthToSpace(NodeContext &node) {
  Value x = node.input(0);
  std::optional<Blocks> blocks = readBlocks(node, x, 11);
  if (!blocks)
    return;
  DimExpr n = blocks->dims[0], h = blocks->dims[2], w = blocks->dims[3], b = node.number(blocks->size);
  DimExpr depth = divided(node, blocks->dims[1], blocks->size * blocks->size);
  Dims result = {n, depth, h * b, w * b};
  node.result(blocks->channelsFirst ? rearranged(node, x, {n, depth, b, b, h, w}, {0, 1, 4, 2, 5, 3}, result)
                                    : rearranged(node, x, {n, b, b, depth, h, w}, {0, 3, 4, 1, 5, 2}, result));
}

void spaceToDepth(NodeContext &node) {
  Value x = node.input(0);
  std::optional<Blocks> blocks = readBlocks(node, x, 28);
  if (!blocks)
    return;
  DimExpr n = blocks->dims[0], c = blocks->dims[1], b = node.number(blocks->size);
  DimExpr h = divided(node, blocks->dims[2], blocks->size), w = divided(node, blocks->dims[3], blocks->size);
  SmallVector<int64_t> perm = blocks->channelsFirst ? SmallVector<int64_t>{0, 1, 3, 5, 2, 4} : SmallVector<int64_t>{0, 3, 5, 1, 2, 4};
  node.result(rearranged(node, x, {n, c, h, b, w, b}, perm, {n, c * b * b, h, w}));
}

constexpr Converter table[] = {
    {"Concat", 1, newest, concat},
    {"Slice", 1, 9, sliceByAttributes},
    {"Slice", 10, newest, sliceByInputs},
    {"Split", 1, newest, split},
    {"Gather", 1, newest, gather},
    {"Pad", 1, newest, pad},
    {"DepthToSpace", 1, newest, depthToSpace},
    {"SpaceToDepth", 1, newest, spaceToDepth},
    {"Tile", 1, 5, tileAxis},
    {"Tile", 6, newest, tile},
};

} // namespace

ArrayRef<Converter> partConverters() { return table; }

Value part(NodeContext &node, Value x, int64_t axis, DimExpr offset, DimExpr size, int64_t step) {
  std::optional<Dims> sizes = node.knownDims(x, "the part");
  if (!sizes)
    return {};
  Dims offsets(sizes->size(), node.number(0));
  SmallVector<int64_t> steps(sizes->size(), 1);
  offsets[axis] = offset;
  (*sizes)[axis] = size;
  steps[axis] = step;
  return node.create<SubviewOp>({x}, {node.named("offsets", offsets), node.named("sizes", *sizes), node.named("steps", steps)});
}

} // namespace llmc
