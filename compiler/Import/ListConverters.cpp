// Sequences and optionals.
#include "compiler/Import/Converters.h"
#include "compiler/Import/Lists.h"
#include "compiler/Import/LoopBuilder.h"
#include "dialects/Graph/DimLogic.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;
using Kind = Form::Kind;

/// More elements than this are packed, not named one by one.
constexpr int64_t mostNamed = 256;

/// An input that is a sequence, or an optional one that is there.
Item listAt(NodeContext &node, size_t i) {
  Item list = held(node, node.item(i));
  if (!node.failed() && !list.isList())
    node.fail("input " + Twine(i) + " is " + list.form.describe() + ", expected a sequence");
  return list;
}

/// The place in [0, last] that input i says, counted from the end of `count` elements if negative; `last` without the input. A run
/// with another place fails; until then sizes are computed with the nearest one.
DimExpr placeIn(NodeContext &node, size_t i, DimExpr count, DimExpr last) {
  Value given = node.optionalInput(i);
  if (!given || !count)
    return last;
  std::optional<Dims> number = node.numbersOf(node.create<ReshapeOp>({given, node.indices({1})}));
  if (!number)
    return {};
  DimExpr place = countedFromEnd(number->front(), count);
  node.require(isNegative(place) + isNegative(last - place), node.number(0), "the position is out of range");
  return place.min(count).max(node.number(0));
}

void sequenceEmpty(NodeContext &node) {
  Type element = elementTypeOf(node.context(), node.intAttribute("dtype", onnx::TensorProto::FLOAT));
  if (!element)
    return node.fail("the element type is not supported");
  node.result(listOf(element, {}));
}

void sequenceConstruct(NodeContext &node) {
  SmallVector<Item> elements;
  for (size_t i = 0; i < node.numInputs(); ++i) {
    elements.emplace_back(node.input(i));
    if (elements.back().form.element != elements.front().form.element)
      node.fail("the inputs have different element types");
  }
  if (elements.empty())
    node.fail("it has no inputs");
  if (!node.failed())
    node.result(listOf(elements.front().form.element, elements));
}

void sequenceLength(NodeContext &node) {
  DimExpr length = lengthOf(node, listAt(node, 0));
  if (node.failed())
    return;
  Value count = node.create<FromDimsOp>({}, {node.named("dims", ArrayRef(length))});
  node.result(node.create<ReshapeOp>({count, node.indices({})}));
}

/// The elements of a list that is known.
SmallVector<Item> elementsOf(const Item &list) {
  SmallVector<Item> elements;
  for (size_t i = 0; i < list.form.parts.size(); ++i)
    elements.push_back(list.part(i));
  return elements;
}

/// The place as a number, if it is one that is at most `last` and the list is known element by element.
std::optional<int64_t> placeInKnown(const Item &list, DimExpr place, int64_t last) {
  std::optional<int64_t> known = list.form.kind == Kind::List && place ? place.asConstant() : std::nullopt;
  return known && *known <= last ? known : std::nullopt;
}

int64_t lastOf(const Item &list) { return static_cast<int64_t>(list.form.parts.size()) - 1; }

void sequenceAt(NodeContext &node) {
  Item list = listAt(node, 0);
  DimExpr count = lengthOf(node, list);
  if (node.failed())
    return;
  DimExpr place = placeIn(node, 1, count, count - 1);
  if (node.failed())
    return;
  if (std::optional<int64_t> known = placeInKnown(list, place, lastOf(list)))
    return node.result(list.part(*known));
  node.result(elementAt(node, packed(node, list), place));
}

void sequenceInsert(NodeContext &node) {
  Item list = listAt(node, 0);
  Value x = node.input(1);
  if (!node.failed() && node.elementType(x) != list.form.element)
    node.fail("the tensor has another element type than the sequence");
  DimExpr count = lengthOf(node, list);
  if (node.failed())
    return;
  std::optional<DimExpr> place;
  if (node.hasInput(2)) // in front of an element, or at the end
    place = placeIn(node, 2, count, count);
  std::optional<int64_t> known = placeInKnown(list, place.value_or(count), lastOf(list) + 1);
  if (node.failed())
    return;
  if (!known)
    return node.result(inserted(node, packed(node, list), x, place));
  SmallVector<Item> elements = elementsOf(list);
  elements.insert(elements.begin() + *known, Item(x));
  node.result(listOf(list.form.element, elements));
}

void sequenceErase(NodeContext &node) {
  Item list = listAt(node, 0);
  DimExpr count = lengthOf(node, list);
  if (node.failed())
    return;
  DimExpr place = placeIn(node, 1, count, count - 1);
  std::optional<int64_t> known = placeInKnown(list, place, lastOf(list));
  if (node.failed())
    return;
  if (!known)
    return node.result(erased(node, packed(node, list), place));
  SmallVector<Item> elements = elementsOf(list);
  elements.erase(elements.begin() + *known);
  node.result(listOf(list.form.element, elements));
}

// --- Together and apart ----------------------------------------------------------------------------------------------------

Value unsqueezed(NodeContext &node, Value x, int64_t axis) {
  return node.create<UnsqueezeOp>({x}, {node.named("axes", ArrayRef<int64_t>(axis))});
}

/// All elements of a packed list, one after the other: a loop that begins with the first.
Value concatInLoop(NodeContext &node, const Item &list, int64_t axis, bool isNew) {
  DimExpr length = lengthOf(node, list), one = node.number(1);
  if (!length)
    return {};
  node.require(length.min(one), one, "the sequence is empty");
  auto element = [&](DimExpr place) {
    Value x = elementAt(node, list, place);
    return isNew ? unsqueezed(node, x, axis) : x;
  };
  LoopSpec spec;
  spec.hasCondition = false;
  spec.trips = length - 1;
  spec.inits = {element(node.number(0))};
  spec.body = [&](DimExpr trip, ArrayRef<Value> carried) -> std::optional<SmallVector<Value>> {
    return SmallVector<Value>{node.create<ConcatOp>({carried[0], element(trip + 1)}, {node.named("axis", axis)})};
  };
  SmallVector<Value> results = buildLoop(node, spec);
  return node.failed() ? Value() : results[0];
}

void concatFromSequence(NodeContext &node) {
  Item list = listAt(node, 0);
  std::optional<int64_t> given = node.intAttribute("axis");
  bool isNew = node.intAttribute("new_axis", 0) != 0, isKnown = list.form.kind == Kind::List;
  if (!given)
    node.fail("attribute 'axis' is missing");
  if (isKnown && list.form.parts.empty())
    node.fail("the sequence is empty");
  std::optional<int64_t> rank = isKnown && !node.failed() ? list.form.parts[0].rank : list.form.rank;
  if (!node.failed() && !rank)
    node.fail("a sequence of tensors of different ranks, or of ranks that are not declared, is not supported here");
  if (node.failed())
    return;
  int64_t axis = node.axis(*given, *rank + isNew);
  if (!isKnown)
    return node.result(concatInLoop(node, list, axis, isNew));
  SmallVector<Value> pieces = llvm::map_to_vector(elementsOf(list), [](const Item &element) { return element.tensor(); });
  for (Value &piece : pieces)
    piece = isNew ? unsqueezed(node, piece, axis) : piece;
  node.result(node.create<ConcatOp>(pieces, {node.named("axis", axis)}));
}

/// How SplitToSequence cuts a dim of size `whole`.
struct Cut {
  DimExpr count;
  std::function<std::pair<DimExpr, DimExpr>(DimExpr i)> offsetAndSize;
  bool isListed = false; // i must be a number
};

/// Pieces of one size, but for the last.
Cut equalCut(NodeContext &node, DimExpr whole, DimExpr size) {
  DimExpr one = node.number(1);
  node.require(size.min(one), one, "the size of the pieces is not positive");
  return {whole.ceilDiv(size.max(one)), [=](DimExpr i) { return std::pair(i * size, (whole - i * size).min(size)); }};
}

/// Pieces of sizes that only the run shows.
Cut cutAtRunTime(NodeContext &node, DimExpr whole, Value sizes) {
  auto sum = [&node, sizes](DimExpr from, DimExpr count) {
    Value some = part(node, sizes, 0, from, count);
    return node.readNumber(node.create<ReduceSumOp>({some}, {node.named("axes", ArrayRef<int64_t>{0})}), {0, INT64_MAX});
  };
  DimExpr count = node.dims(sizes)[0], zero = node.number(0);
  node.require(sum(zero, count), whole, "the pieces do not make the whole dim");
  return {count, [=, one = node.number(1)](DimExpr i) { return std::pair(sum(zero, i), sum(i, one)); }};
}

Cut cutOf(NodeContext &node, DimExpr whole) {
  Value split = node.optionalInput(1);
  if (!split)
    return equalCut(node, whole, node.number(1));
  std::optional<Dims> dims = node.knownDims(split, "a split");
  if (dims && !dims->empty() && !dims->front().asConstant())
    return cutAtRunTime(node, whole, castTo(node, split, IntegerType::get(node.context(), 64)));
  std::optional<Dims> sizes = node.numbers(1);
  if (!sizes)
    return {};
  if (dims->empty())
    return equalCut(node, whole, sizes->front());
  DimExpr sum = node.number(0);
  Dims offsets;
  for (DimExpr size : *sizes) {
    offsets.push_back(sum);
    sum = sum + size;
  }
  node.require(sum, whole, "the pieces make " + sum.str() + " of a dim of " + whole.str());
  return {node.number(sizes->size()), [=](DimExpr i) { return std::pair(offsets[*i.asConstant()], (*sizes)[*i.asConstant()]); }, true};
}

void splitToSequence(NodeContext &node) {
  Value x = node.input(0);
  int64_t axis = node.axis(node.intAttribute("axis", 0), node.rank(x));
  bool drops = node.intAttribute("keepdims", 1) == 0 && !node.hasInput(1);
  std::optional<Dims> dims = node.knownDims(x, "a split");
  if (!dims || node.failed())
    return;
  Cut cut = cutOf(node, (*dims)[axis]);
  if (node.failed())
    return;
  auto piece = [&](DimExpr i) {
    auto [offset, size] = cut.offsetAndSize(i);
    Value y = node.failed() ? Value() : part(node, x, axis, offset, size);
    return drops ? node.create<SqueezeOp>({y}, {node.named("axes", ArrayRef<int64_t>(axis))}) : y;
  };
  Type element = node.elementType(x);
  std::optional<int64_t> count = cut.count.asConstant();
  if (!cut.isListed && (!count || *count > mostNamed)) {
    SmallVector<Item> lists = collected(node, cut.count, element, [&](DimExpr i) { return SmallVector<Value>{piece(i)}; });
    return node.failed() ? void() : node.result(lists[0]);
  }
  SmallVector<Item> pieces;
  for (int64_t i = 0; i < *count && !node.failed(); ++i)
    pieces.emplace_back(piece(node.number(i)));
  if (!node.failed())
    node.result(listOf(element, pieces));
}

// --- SequenceMap -----------------------------------------------------------------------------------------------------------

/// What the body gets for element number `place` of the sequences; tensors are the same for all.
SmallVector<Item> mapInputs(NodeContext &node, ArrayRef<Item> inputs, DimExpr place) {
  return llvm::map_to_vector(inputs, [&](const Item &input) -> Item {
    std::optional<int64_t> known = placeInKnown(input, place, lastOf(input));
    return known ? input.part(*known) : input.isList() ? Item(elementAt(node, packed(node, input), place)) : input;
  });
}

void sequenceMap(NodeContext &node) {
  const FlatGraph *body = node.graphAttribute("body", node.numInputs());
  SmallVector<Item> inputs = {listAt(node, 0)};
  DimExpr length = lengthOf(node, inputs[0]);
  for (size_t i = 1; i < node.numInputs(); ++i) {
    inputs.push_back(node.item(i));
    if (!node.failed() && inputs[i].isList())
      node.require(lengthOf(node, inputs[i]), length, "sequences have the same length");
  }
  if (node.failed())
    return;
  SmallVector<Type> elements;
  for (const onnx::ValueInfoProto &output : body->proto->output()) {
    elements.push_back(elementTypeOf(node.context(), output.type().tensor_type().elem_type()));
    if (!elements.back())
      return node.fail("output '" + output.name() + "' of the body has no element type that is supported");
  }
  auto run = [&](DimExpr place) -> SmallVector<Value> {
    std::optional<SmallVector<Item>> outputs = node.run(*body, mapInputs(node, inputs, place));
    return outputs ? llvm::map_to_vector(*outputs, [](const Item &output) { return output.tensor(); }) : SmallVector<Value>();
  };
  std::optional<int64_t> count = length.asConstant();
  bool isKnown = count && *count <= mostNamed && llvm::none_of(inputs, [](auto &input) { return input.form.kind == Kind::Packed; });
  if (!isKnown) {
    for (Item &list : collected(node, length, elements, run))
      node.result(list);
    return;
  }
  SmallVector<SmallVector<Item>> lists(elements.size());
  for (int64_t i = 0; i < *count && !node.failed(); ++i)
    for (auto [list, value] : llvm::zip(lists, run(node.number(i))))
      list.emplace_back(value);
  for (auto [element, list] : llvm::zip_equal(elements, lists))
    if (!node.failed())
      node.result(listOf(element, list));
}

// --- Optionals -------------------------------------------------------------------------------------------------------------

Value truth(NodeContext &node, bool value) { return node.scalar(IntegerType::get(node.context(), 1), value); }

void optional(NodeContext &node) {
  const onnx::AttributeProto *type = node.attribute("type");
  if (!node.hasInput(0)) {
    if (!type)
      return node.fail("it has neither an input nor a type");
    return node.result({{Kind::Optional, Type(), std::nullopt, {}}, {truth(node, false)}});
  }
  Item item = node.item(0);
  if (item.form.kind == Kind::Optional)
    return node.fail("an optional of an optional is not supported");
  Item result({Kind::Optional, Type(), std::nullopt, {item.form}}, {truth(node, true)});
  result.tensors.append(item.tensors);
  node.result(result);
}

void optionalHasElement(NodeContext &node) {
  if (!node.hasInput(0))
    return node.result(truth(node, false));
  Item item = node.item(0);
  node.result(item.form.kind == Kind::Optional ? item.tensors[0] : truth(node, true));
}

void optionalGetElement(NodeContext &node) { node.result(held(node, node.item(0))); }

constexpr Converter table[] = {
    {"SequenceEmpty", 11, newest, sequenceEmpty},
    {"SequenceConstruct", 11, newest, sequenceConstruct},
    {"SequenceLength", 11, newest, sequenceLength},
    {"SequenceAt", 11, newest, sequenceAt},
    {"SequenceInsert", 11, newest, sequenceInsert},
    {"SequenceErase", 11, newest, sequenceErase},
    {"SequenceMap", 17, newest, sequenceMap},
    {"ConcatFromSequence", 11, newest, concatFromSequence},
    {"SplitToSequence", 11, newest, splitToSequence},
    {"Optional", 15, newest, optional},
    {"OptionalHasElement", 15, newest, optionalHasElement},
    {"OptionalGetElement", 15, newest, optionalGetElement},
};

} // namespace

ArrayRef<Converter> listConverters() { return table; }

} // namespace llmc
