// Pieces of bytes, moved and compared by the ops for numbers.
#include "compiler/Import/Strings.h"

#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {

using namespace graph;

static NamedAttribute axisOf(NodeContext &node, int64_t axis) { return node.named("axis", axis); }
static NamedAttribute axesOf(NodeContext &node, int64_t axis) { return node.named("axes", ArrayRef<int64_t>(axis)); }

Item constantStrings(NodeContext &node, ArrayRef<std::string> strings, ArrayRef<int64_t> dims) {
  std::string bytes;
  SmallVector<int64_t> ends;
  for (const std::string &string : strings)
    ends.push_back((bytes += string).size());
  auto byte = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  auto type = RankedTensorType::get(dims, IntegerType::get(node.context(), 64));
  if (type.getNumElements() != static_cast<int64_t>(strings.size())) {
    node.fail(Twine(strings.size()) + " strings are given for " + Twine(type.getNumElements()) + " elements");
    return {};
  }
  return {Form{Form::Kind::Strings, byte, static_cast<int64_t>(dims.size()), {}},
          {node.constant(makeConstant(RankedTensorType::get({static_cast<int64_t>(bytes.size())}, byte), ArrayRef(bytes.data(), bytes.size()))),
           node.constant(makeConstant(type, ArrayRef(reinterpret_cast<const char *>(ends.data()), ends.size() * sizeof(int64_t))))}};
}

Item constantStrings(NodeContext &node, const onnx::TensorProto &tensor) {
  std::string error;
  std::optional<std::vector<std::string_view>> strings = node.shared().model.strings(tensor, error);
  if (!strings) {
    node.fail(error);
    return {};
  }
  return constantStrings(node, SmallVector<std::string>(strings->begin(), strings->end()),
                         SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end()));
}

/// The number of strings.
static DimExpr countOf(NodeContext &node, const Item &strings) {
  std::optional<Dims> dims = node.knownDims(strings.tensors[1], "a tensor of strings");
  return dims ? productOf(node.context(), *dims) : DimExpr();
}

Pieces piecesOf(NodeContext &node, const Item &strings) {
  DimExpr count = countOf(node, strings);
  if (!count || node.failed())
    return {};
  Value ends = node.create<ViewOp>({strings.tensors[1]}, {node.named("dims", ArrayRef(count))});
  Value starts = node.create<ConcatOp>({node.indices({0}), ends}, {axisOf(node, 0)});
  return {strings.tensors[0], part(node, starts, 0, node.number(0), count), ends};
}

Value numberOf(NodeContext &node, const Pieces &pieces) {
  return node.create<ReshapeOp>({shapeOf(node, pieces.ends, 0, 1), node.indices({})});
}

Value placesOf(NodeContext &node, const Item &strings) {
  DimExpr count = countOf(node, strings);
  return count ? node.create<ViewOp>({iota(node, count)}, {node.named("dims", node.dims(strings.tensors[1]))}) : Value();
}

Pieces joined(NodeContext &node, const Pieces &lhs, const Pieces &rhs) {
  if (node.failed())
    return {};
  auto concat = [&](Value a, Value b) { return node.create<ConcatOp>({a, b}, {axisOf(node, 0)}); };
  Value offset = shapeOf(node, lhs.bytes, 0, 1);
  auto moved = [&](Value places) { return node.create<AddOp>({places, offset}); };
  return {concat(lhs.bytes, rhs.bytes), concat(lhs.starts, moved(rhs.starts)), concat(lhs.ends, moved(rhs.ends))};
}

/// Which piece each byte of the result comes from follows from marks where pieces start, added up; where in `bytes`, from its start.
Item picked(NodeContext &node, const Pieces &pieces, Value places) {
  std::optional<Dims> dims = node.knownDims(places, "a tensor of strings");
  if (!dims || node.failed())
    return {};
  auto gathered = [&](Value x, Value at) { return node.create<GatherOp>({x, at}, {axisOf(node, 0)}); };
  Value flat = node.create<ViewOp>({places}, {node.named("dims", ArrayRef(productOf(node.context(), *dims)))});
  Value starts = gathered(pieces.starts, flat), lengths = node.create<SubOp>({gathered(pieces.ends, flat), starts});
  Value ends = node.create<CumSumOp>({lengths}, {axisOf(node, 0)}), newStarts = node.create<SubOp>({ends, lengths});
  DimExpr size = node.readNumber(node.create<ReduceSumOp>({lengths}, {axesOf(node, 0)}), {0, INT64_MAX - 1});
  if (node.failed())
    return {};
  Type integer = IntegerType::get(node.context(), 64);
  Value none = node.create<BroadcastOp>({node.scalar(integer, 0)}, {node.named("dims", ArrayRef(size + 1))});
  Value ones = node.create<BroadcastOp>({node.scalar(integer, 1)}, {node.named("dims", node.dims(flat))});
  Value marks = node.create<ScatterElementsOp>({none, newStarts, ones}, {node.named("reduction", StringRef("add")), axisOf(node, 0)});
  Value owner = part(node, node.create<CumSumOp>({marks}, {axisOf(node, 0)}), 0, node.number(0), size);
  owner = node.create<SubOp>({owner, node.scalar(integer, 1)});
  Value inPiece = node.create<SubOp>({iota(node, size), gathered(newStarts, owner)});
  Value bytes = gathered(pieces.bytes, node.create<AddOp>({gathered(starts, owner), inPiece}));
  Form form{Form::Kind::Strings, node.elementType(bytes), static_cast<int64_t>(dims->size()), {}};
  return {form, {bytes, node.create<ViewOp>({ends}, {node.named("dims", *dims)})}};
}

static Value lengthsOf(NodeContext &node, const Pieces &pieces) { return node.create<SubOp>({pieces.ends, pieces.starts}); }

DimExpr widthOf(NodeContext &node, const Pieces &pieces) {
  Value lengths = node.create<ConcatOp>({node.indices({0}), lengthsOf(node, pieces)}, {axisOf(node, 0)});
  return node.readNumber(node.create<ReduceMaxOp>({lengths}, {axesOf(node, 0)}), {0, INT64_MAX - 1});
}

Value characters(NodeContext &node, const Pieces &pieces, DimExpr width) {
  if (node.failed() || !width)
    return {};
  auto asColumn = [&](Value x) { return node.create<UnsqueezeOp>({x}, {axesOf(node, 1)}); };
  Value columns = iota(node, width);
  Value isThere = node.create<LessOp>({columns, asColumn(lengthsOf(node, pieces))});
  Value at = node.create<AddOp>({columns, asColumn(pieces.starts)});
  Value number = castTo(node, pieces.bytes, IntegerType::get(node.context(), 32));
  Value behind = node.create<UnsqueezeOp>({node.scalar(number, -1)}, {axesOf(node, 0)});
  Value all = node.create<ConcatOp>({number, behind}, {axisOf(node, 0)});
  at = node.create<WhereOp>({isThere, at, shapeOf(node, pieces.bytes, 0, 1)});
  return node.create<GatherOp>({all, at}, {axisOf(node, 0)});
}

Value matches(NodeContext &node, const Pieces &lhs, const Pieces &rhs) {
  if (node.failed())
    return {};
  DimExpr width = widthOf(node, lhs), other = widthOf(node, rhs);
  if (node.failed())
    return {};
  width = width.max(other);
  Value a = node.create<UnsqueezeOp>({characters(node, lhs, width)}, {axesOf(node, 1)});
  Value b = node.create<UnsqueezeOp>({characters(node, rhs, width)}, {axesOf(node, 0)});
  Value same = castTo(node, node.create<EqualOp>({a, b}), IntegerType::get(node.context(), 32));
  return castTo(node, node.create<ReduceMinOp>({same}, {axesOf(node, 2)}), IntegerType::get(node.context(), 1));
}

Value lookUp(NodeContext &node, const Pieces &pieces, const Pieces &table) {
  Value found = castTo(node, matches(node, pieces, table), IntegerType::get(node.context(), 32));
  if (node.failed())
    return {};
  // One more that always matches, behind the others.
  Value last = node.create<BroadcastOp>({node.scalar(found, 1)}, {node.named("dims", ArrayRef{node.dims(found)[0], node.number(1)})});
  return node.create<ArgMaxOp>({node.create<ConcatOp>({found, last}, {axisOf(node, 1)})}, {axisOf(node, 1)});
}

std::optional<SmallVector<Item>> moveStrings(NodeContext &node, StringRef op, ArrayRef<Item> inputs,
                                             function_ref<SmallVector<Item>(ArrayRef<Item>)> convert) {
  static const llvm::StringSet<> moving = {"Compress", "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Reshape",
                                           "Shape", "Size", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where"};
  auto isText = [](const Item &item) { return item.form.kind == Form::Kind::Strings; };
  if (!moving.contains(op) || !llvm::any_of(inputs, isText))
    return std::nullopt;
  Pieces pieces;
  SmallVector<Item> moved(inputs);
  for (Item &input : moved) {
    if (!isText(input) || node.failed())
      continue;
    Value places = placesOf(node, input);
    Pieces own = piecesOf(node, input);
    input = pieces.ends ? node.create<AddOp>({places, numberOf(node, pieces)}) : places;
    pieces = pieces.ends ? joined(node, pieces, own) : own;
  }
  if (node.failed())
    return SmallVector<Item>();
  SmallVector<Item> results = convert(moved);
  if (op != "Shape" && op != "Size")
    for (Item &result : results)
      result = picked(node, pieces, result.tensor());
  return results;
}

} // namespace llmc
