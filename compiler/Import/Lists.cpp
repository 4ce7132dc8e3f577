// Packed lists: offsets follow from the rows of `shapes`, parts are cut out and put together.
#include "compiler/Import/Lists.h"

#include "compiler/Import/Converters.h"
#include "compiler/Import/LoopBuilder.h"

using namespace mlir;

namespace llmc {

using namespace graph;

DimExpr lengthOf(NodeContext &node, const Item &list) {
  if (list.form.kind == Form::Kind::List)
    return node.number(list.form.parts.size());
  std::optional<Dims> dims = node.knownDims(list.tensors.empty() ? Value() : list.tensors[1], "a sequence");
  return dims ? dims->front() : DimExpr();
}

namespace {

constexpr DimRange sizes = {0, INT64_MAX};

/// Where element number `place` starts in the values, or, for the number of elements, where they end.
DimExpr offsetOf(NodeContext &node, Value shapes, DimExpr place) {
  Value rows = part(node, shapes, 0, node.number(0), place);
  Value isDim = node.create<GreaterEqualOp>({rows, node.scalar(rows, 0)});
  Value dims = node.create<WhereOp>({isDim, rows, node.scalar(rows, 1)});
  Value counts = node.create<ReduceProdOp>({dims}, {node.named("axes", ArrayRef<int64_t>{1})});
  Value offset = node.create<ReduceSumOp>({counts}, {node.named("axes", ArrayRef<int64_t>{0})});
  return node.failed() ? DimExpr() : node.readNumber(offset, sizes);
}

/// x[0:from] ++ middle ++ x[to:], along dim 0.
Value spliced(NodeContext &node, Value x, DimExpr from, Value middle, DimExpr to) {
  if (node.failed() || !from || !to)
    return {};
  SmallVector<Value> pieces = {part(node, x, 0, node.number(0), from)};
  if (middle)
    pieces.push_back(middle);
  pieces.push_back(part(node, x, 0, to, node.dims(x)[0] - to));
  return node.create<ConcatOp>(pieces, {node.named("axis", int64_t(0))});
}

} // namespace

Value elementAt(NodeContext &node, const Item &list, DimExpr place) {
  if (!list.form.rank)
    node.fail("a sequence of tensors of different ranks, or of ranks that are not declared, is not supported here");
  if (node.failed() || !place)
    return {};
  Value values = list.tensors[0], shapes = list.tensors[1];
  int64_t rank = *list.form.rank;
  Value behind = node.create<ReshapeOp>({node.indices(SmallVector<int64_t>(packedRank, -1)), node.indices({1, packedRank})});
  Value rows = node.create<ConcatOp>({shapes, behind}, {node.named("axis", int64_t(0))}); // so that the row of any place can be cut out
  Value row = part(node, rows, 0, place, node.number(1));
  if (rank < packedRank) {
    Value end = node.create<ReshapeOp>({part(node, row, 1, node.number(rank), node.number(1)), node.indices({1})});
    node.require(node.readNumber(end, {-1, INT64_MAX}), node.number(-1), "an element has another rank than " + Twine(rank));
  }
  std::optional<Dims> dims = Dims();
  if (rank > 0)
    dims = node.numbersOf(node.create<ReshapeOp>({part(node, row, 1, node.number(0), node.number(rank)), node.indices({rank})}), sizes);
  DimExpr offset = offsetOf(node, shapes, place);
  if (node.failed() || !dims)
    return {};
  Value flat = part(node, values, 0, offset, productOf(node.context(), *dims));
  return node.create<ViewOp>({flat}, {node.named("dims", *dims)});
}

Item inserted(NodeContext &node, const Item &list, Value x, std::optional<DimExpr> place) {
  Item one = packed(node, listOf(list.form.element, {Item(x)}));
  if (node.failed())
    return list;
  Item result = list;
  result.form = join(node, list.form, one.form);
  for (int i : {0, 1}) {
    Value all = list.tensors[i], added = one.tensors[i];
    DimExpr from = !place ? node.dims(all)[0] : i == 0 ? offsetOf(node, list.tensors[1], *place) : *place;
    result.tensors[i] = place ? spliced(node, all, from, added, from)
                              : node.create<ConcatOp>({all, added}, {node.named("axis", int64_t(0))});
  }
  return result;
}

Item erased(NodeContext &node, const Item &list, DimExpr place) {
  Item result = list;
  DimExpr next = (place + 1).min(lengthOf(node, list));
  DimExpr start = offsetOf(node, list.tensors[1], place), end = offsetOf(node, list.tensors[1], next);
  result.tensors = {spliced(node, list.tensors[0], start, Value(), end), spliced(node, list.tensors[1], place, Value(), next)};
  return result;
}

SmallVector<Item> collected(NodeContext &node, DimExpr trips, ArrayRef<Type> elements,
                            function_ref<SmallVector<Value>(DimExpr trip)> body) {
  SmallVector<Item> lists;
  LoopSpec spec;
  spec.hasCondition = false;
  spec.trips = trips;
  for (Type element : elements) {
    lists.push_back(packed(node, listOf(element, {})));
    spec.inits.append(lists.back().tensors);
  }
  SmallVector<Form> forms;
  spec.body = [&](DimExpr trip, ArrayRef<Value> carried) -> std::optional<SmallVector<Value>> {
    SmallVector<Value> added = body(trip), next;
    forms.clear();
    for (auto [i, list] : llvm::enumerate(lists)) {
      if (node.failed() || added.size() != lists.size())
        return std::nullopt;
      if (node.elementType(added[i]) != list.form.element)
        node.fail("output " + Twine(i) + " has another element type than declared");
      forms.push_back(packed(node, listOf(list.form.element, {Item(added[i])})).form);
      next.append(inserted(node, Item(list.form, SmallVector<Value, 2>(carried.slice(2 * i, 2))), added[i], std::nullopt).tensors);
    }
    return next;
  };
  SmallVector<Value> results = buildLoop(node, spec);
  if (node.failed())
    return {};
  ArrayRef<Value> rest(results);
  return llvm::map_to_vector(forms, [&](const Form &form) { return Item::takeFrom(rest, form); });
}

} // namespace llmc
