// Broadcasting of dims of which only the run shows whether they are 1: a gather repeats their one element where they are.
#include "compiler/Import/Stretching.h"

#include "compiler/Import/Converters.h"
#include "dialects/Graph/DimLogic.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace llmc {

using namespace graph;

namespace {

bool shareSymbols(DimExpr lhs, DimExpr rhs) {
  llvm::StringSet<> names;
  bool found = false;
  lhs.forEachSymbol([&](StringRef name) { names.insert(name); });
  rhs.forEachSymbol([&](StringRef name) { found |= names.contains(name); });
  return found;
}

/// Whether either dim may be 1 where the other is not. Dims over the same symbols are held to be equal, as different ways to compute one
/// size are common in models and cost nothing then; and so are a dim and a number.
bool mayStretch(NodeContext &node, DimExpr lhs, DimExpr rhs) {
  if (!lhs || !rhs || lhs.asConstant() || rhs.asConstant() || node.shared().ranges.provesEqual(lhs, rhs))
    return false;
  const auto &sizes = node.shared().broadcastSizes;
  return !shareSymbols(lhs, rhs) || sizes.contains(lhs.attribute()) || sizes.contains(rhs.attribute());
}

/// What two dims broadcast to, of which each run checks that they do.
DimExpr broadcastSize(NodeContext &node, DimExpr lhs, DimExpr rhs) {
  DimExpr one = node.number(1);
  DimExpr fits = isEqual(lhs, rhs).max(isEqual(lhs, one)).max(isEqual(rhs, one));
  node.require(fits, one, "dims of " + lhs.str() + " and " + rhs.str() + " do not broadcast");
  DimExpr size = select(isEqual(lhs, one), rhs, lhs);
  node.shared().broadcastSizes.insert(size.attribute());
  return size;
}

/// The dims of one place of the result.
struct Place {
  DimExpr size;
  bool isStretched = false;

  void add(NodeContext &node, DimExpr dim) {
    if (!size || size.isConstant(1)) {
      size = dim;
    } else if (mayStretch(node, size, dim)) {
      size = broadcastSize(node, size, dim);
      isStretched = true;
    }
  }
};

} // namespace

Value stretchedAlong(NodeContext &node, Value x, int64_t axis, DimExpr size) {
  Value own = shapeOf(node, x, axis, axis + 1), isOne = node.create<EqualOp>({own, node.scalar(own, 1)});
  Value places = node.create<WhereOp>({isOne, node.scalar(own, 0), iota(node, size)});
  return node.create<GatherOp>({x, places}, {node.named("axis", axis)});
}

SmallVector<Value> stretched(NodeContext &node, ValueRange operands, int64_t own) {
  SmallVector<Value> values(operands);
  if (node.failed() || llvm::is_contained(values, Value()))
    return values;
  SmallVector<Place> places; // from the last one
  for (Value value : values) {
    Dims dims = node.dims(value);
    dims.pop_back_n(std::min(own, node.rank(value)));
    places.resize(std::max(places.size(), dims.size()));
    for (size_t i = 0; i < dims.size(); ++i)
      places[i].add(node, dims[dims.size() - 1 - i]);
  }
  for (Value &value : values)
    for (int64_t axis = 0, last = node.rank(value) - own - 1; axis <= last && value; ++axis) {
      const Place &place = places[last - axis];
      DimExpr dim = node.dims(value)[axis];
      if (!place.isStretched || !dim || dim.asConstant() || node.shared().ranges.provesEqual(dim, place.size))
        continue;
      remark::missed(node.loc(), remark::RemarkOpts::name("Stretched").category("import"))
          << "a dim of " + dim.str() + " may be 1 and is copied to " + place.size.str() + "; --dim, or one name for dims that are equal, spares the copy";
      value = stretchedAlong(node, value, axis, place.size);
    }
  return values;
}

Value expandedTo(NodeContext &node, Value x, ArrayRef<DimExpr> target) {
  Dims result(target), dims = x ? node.dims(x) : Dims();
  if (!x || node.failed())
    return {};
  while (result.size() < dims.size())
    result.insert(result.begin(), node.number(1));
  int64_t before = result.size() - dims.size();
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    DimExpr &wanted = result[before + axis];
    if (!dim || dim.isConstant(1) || node.shared().ranges.provesEqual(dim, wanted))
      continue;
    if (wanted.isConstant(1)) {
      wanted = dim;
    } else if (dim.asConstant() && !wanted.asConstant()) {
      node.require((wanted - dim) * (wanted - 1), node.number(0), "a dim of " + dim.str() + " does not expand to " + wanted.str());
      wanted = dim;
    } else if (!dim.asConstant() && (wanted.asConstant() || mayStretch(node, dim, wanted))) {
      wanted = wanted.asConstant() ? wanted : broadcastSize(node, dim, wanted);
      x = stretchedAlong(node, x, axis, wanted);
    }
  }
  return node.create<ExpandOp>({x, node.create<FromDimsOp>({}, {node.named("dims", result)})});
}

} // namespace llmc
