// Operators on strings. Those that only move elements are those for numbers, of the places of the strings.
#include "compiler/Import/Converters.h"
#include "compiler/Import/Strings.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

Item stringsAt(NodeContext &node, size_t i) {
  Item strings = node.item(i);
  if (!node.failed() && strings.form.kind != Form::Kind::Strings)
    node.fail("input " + Twine(i) + " is " + strings.form.describe() + ", expected strings");
  return strings;
}

Type integer(NodeContext &node) { return IntegerType::get(node.context(), 64); }

// --- Together and apart ----------------------------------------------------------------------------------------------------

/// The places of both in their own pieces, with the dims that they have together.
std::pair<Value, Value> broadcastPlaces(NodeContext &node, const Item &a, const Item &b) {
  Value placesA = placesOf(node, a), placesB = placesOf(node, b);
  auto broadcast = [&](Value places, Value other) {
    return node.create<AddOp>({places, node.create<MulOp>({other, node.scalar(integer(node), 0)})});
  };
  return {broadcast(placesA, placesB), broadcast(placesB, placesA)};
}

/// Each string of the result is two pieces, one after the other.
void stringConcat(NodeContext &node) {
  Item a = stringsAt(node, 0), b = stringsAt(node, 1);
  if (node.failed())
    return;
  auto [placesA, placesB] = broadcastPlaces(node, a, b);
  Pieces first = piecesOf(node, a);
  Value all[] = {placesA, node.create<AddOp>({placesB, numberOf(node, first)})};
  int64_t last = node.rank(all[0]);
  for (Value &places : all)
    places = node.create<UnsqueezeOp>({places}, {node.named("axes", ArrayRef<int64_t>(last))});
  Value pairs = node.create<ConcatOp>(all, {node.named("axis", last)});
  Item halves = picked(node, joined(node, first, piecesOf(node, b)), pairs);
  if (node.failed())
    return;
  Value ends = part(node, halves.tensors[1], last, node.number(1), node.number(1));
  halves.tensors[1] = node.create<SqueezeOp>({ends}, {node.named("axes", ArrayRef<int64_t>(last))});
  halves.form.rank = last;
  node.result(halves);
}

// --- StringNormalizer ------------------------------------------------------------------------------------------------------

/// The letters of ASCII in lower or upper case; each run with other letters fails.
Value withCase(NodeContext &node, Value bytes, bool lower) {
  Value code = castTo(node, bytes, IntegerType::get(node.context(), 32));
  Value zero = node.create<UnsqueezeOp>({node.scalar(code, 0)}, {node.named("axes", ArrayRef<int64_t>{0})});
  Value all = node.create<ConcatOp>({zero, code}, {node.named("axis", int64_t(0))});
  DimExpr greatest = node.readNumber(castTo(node, node.create<ReduceMaxOp>({all}, {node.named("axes", ArrayRef<int64_t>{0})}), integer(node)), {0, 255});
  if (node.failed())
    return {};
  node.require(greatest.max(node.number(127)), node.number(127), "the case of letters outside of ASCII is not supported");
  auto isLetter = node.create<AndOp>({node.create<GreaterEqualOp>({code, node.scalar(code, lower ? 'A' : 'a')}),
                                      node.create<LessEqualOp>({code, node.scalar(code, lower ? 'Z' : 'z')})});
  Value changed = node.create<AddOp>({code, node.scalar(code, lower ? 32 : -32)});
  return castTo(node, node.create<WhereOp>({isLetter, changed, code}), node.elementType(bytes));
}

/// Which of the pieces are none of the words: bool[n].
Value isNoneOf(NodeContext &node, Pieces pieces, SmallVector<std::string> words, bool anyCase) {
  if (anyCase) {
    pieces.bytes = withCase(node, pieces.bytes, /*lower=*/true);
    for (std::string &word : words)
      word = StringRef(word).lower();
  }
  Item table = constantStrings(node, words, {static_cast<int64_t>(words.size())});
  if (node.failed())
    return {};
  Value found = lookUp(node, pieces, piecesOf(node, table));
  return node.create<EqualOp>({found, node.scalar(integer(node), static_cast<double>(words.size()))});
}

/// The places of the strings that stay; of the empty one behind them if none does.
Value keptPlaces(NodeContext &node, Value stays) {
  SmallVector<Value> results = node.createAll<NonZeroOp>({stays});
  if (node.failed())
    return {};
  DimExpr count = node.readNumber(results[1], {0, INT64_MAX - 1});
  if (node.failed())
    return {};
  Value places = node.create<PrefixOp>({results[0]}, {node.named("dims", ArrayRef{node.number(1), count})});
  places = node.create<SqueezeOp>({places}, {node.named("axes", ArrayRef<int64_t>{0})});
  Value all = node.create<ConcatOp>({places, shapeOf(node, stays, 0, 1)}, {node.named("axis", int64_t(0))});
  return part(node, all, 0, node.number(0), count.max(node.number(1)));
}

void stringNormalizer(NodeContext &node) {
  Item x = stringsAt(node, 0);
  std::string change = node.stringAttribute("case_change_action", "NONE");
  bool anyCase = node.intAttribute("is_case_sensitive", 0) == 0;
  SmallVector<std::string> words = node.stringsAttribute("stopwords").value_or(SmallVector<std::string>());
  node.ignoreAttribute("locale");
  if (change != "NONE" && change != "LOWER" && change != "UPPER")
    node.fail("case_change_action '" + change + "' is none of NONE, LOWER, UPPER");
  std::optional<Dims> dims = node.failed() ? std::nullopt : node.knownDims(x.tensors[1], "StringNormalizer");
  if (!dims)
    return;
  if (dims->empty() || dims->size() > 2)
    return node.fail("expects [C] or [1, C], got rank " + Twine(dims->size()));
  if (dims->size() == 2)
    node.require(dims->front(), node.number(1), "the first of two dims is not 1");
  Pieces pieces = piecesOf(node, x);
  Value stays = words.empty() ? Value() : isNoneOf(node, pieces, words, anyCase);
  Item nothing = constantStrings(node, {std::string()}, {1});
  if (node.failed())
    return;
  if (change != "NONE")
    pieces.bytes = withCase(node, pieces.bytes, change == "LOWER");
  if (!stays)
    stays = node.create<BroadcastOp>({node.scalar(IntegerType::get(node.context(), 1), 1)}, {node.named("dims", node.dims(pieces.ends))});
  Value places = keptPlaces(node, stays);
  if (dims->size() == 2)
    places = node.create<UnsqueezeOp>({places}, {node.named("axes", ArrayRef<int64_t>{0})});
  node.result(picked(node, joined(node, pieces, piecesOf(node, nothing)), places));
}

// --- StringSplit -----------------------------------------------------------------------------------------------------------

/// The bytes of the strings, one row for each, and what can be said of them.
struct Rows {
  NodeContext &node;
  Value characters; // i32[n, width]
  DimExpr width;

  Value isAny(StringRef bytes) {
    Value found;
    for (char byte : bytes) {
      Value one = node.create<EqualOp>({characters, node.scalar(characters, static_cast<unsigned char>(byte))});
      found = found ? node.create<OrOp>({found, one}) : one;
    }
    return found;
  }
  Value isThere() { return node.create<GreaterEqualOp>({characters, node.scalar(characters, 0)}); }
  Value negated(Value x) { return node.create<NotOp>({x}); }
  Value both(Value a, Value b) { return node.create<AndOp>({a, b}); }
  /// x of the character that is `by` places further on, or before if negative; outside of the row false.
  Value shifted(Value x, int64_t by) {
    Dims outside = node.dims(x);
    outside[1] = node.number(std::abs(by));
    Value no = node.create<BroadcastOp>({node.scalar(x, 0)}, {node.named("dims", outside)});
    Value all = by < 0 ? node.create<ConcatOp>({no, x}, {node.named("axis", int64_t(1))})
                       : node.create<ConcatOp>({x, no}, {node.named("axis", int64_t(1))});
    return part(node, all, 1, node.number(by < 0 ? 0 : by), width);
  }
  /// The number of marks in each row: i64[n].
  Value count(Value marks) { return node.create<ReduceSumOp>({castTo(node, marks, integer(node))}, {node.named("axes", ArrayRef<int64_t>{1})}); }
  /// Where mark number 0 .. count - 1 of each row is, or the length of the row: i64[n, count].
  Value placesOf(Value marks, DimExpr most) {
    Value seen = node.create<CumSumOp>({castTo(node, marks, integer(node))}, {node.named("axis", int64_t(1))});
    auto column = [&](Value x) { return node.create<UnsqueezeOp>({x}, {node.named("axes", ArrayRef<int64_t>{2})}); };
    Value isBefore = node.create<LessEqualOp>({column(seen), iota(node, most)});
    isBefore = both(isBefore, column(isThere()));
    return count(isBefore);
  }
};

/// What starts a piece and what ends one.
struct Marks {
  Value starts, ends;
  int64_t afterEnd; // without `starts`: how far behind an end the next piece begins
};

/// Where the delimiter begins. One that may overlap itself would need a walk from the left.
std::optional<Marks> delimiterMarks(NodeContext &node, Rows &rows, StringRef delimiter) {
  for (size_t size = 1; size < delimiter.size(); ++size)
    if (delimiter.starts_with(delimiter.take_back(size))) {
      node.fail("a delimiter that begins as it ends is not supported");
      return std::nullopt;
    }
  Value found;
  for (size_t i = 0; i < delimiter.size(); ++i) {
    Value one = rows.isAny(delimiter.substr(i, 1));
    one = i == 0 ? one : rows.shifted(one, i);
    found = found ? rows.both(found, one) : one;
  }
  return Marks{Value(), found, static_cast<int64_t>(delimiter.size())};
}

Marks spaceMarks(Rows &rows) {
  Value isSpace = rows.isAny(" \t\n\v\f\r"), isText = rows.both(rows.negated(isSpace), rows.isThere());
  return {rows.both(isText, rows.negated(rows.shifted(isText, -1))), rows.both(isSpace, rows.shifted(isText, -1)), 0};
}

void stringSplit(NodeContext &node) {
  Item x = stringsAt(node, 0);
  std::string delimiter = node.stringAttribute("delimiter", "");
  std::optional<int64_t> mostSplits = node.intAttribute("maxsplit");
  if (mostSplits && *mostSplits < 0)
    mostSplits = std::nullopt;
  Pieces pieces = node.failed() ? Pieces() : piecesOf(node, x);
  DimExpr width = node.failed() ? DimExpr() : widthOf(node, pieces);
  if (node.failed())
    return;
  Rows rows{node, characters(node, pieces, width), width};
  std::optional<Marks> marks = delimiter.empty() ? spaceMarks(rows) : delimiterMarks(node, rows, delimiter);
  if (!marks || node.failed())
    return;
  Value lengths = node.create<SubOp>({pieces.ends, pieces.starts});
  Value counts = rows.count(marks->starts ? marks->starts : marks->ends);
  if (!marks->starts)
    counts = node.create<AddOp>({counts, node.scalar(integer(node), 1)});
  if (mostSplits)
    counts = node.create<MinOp>({counts, node.scalar(integer(node), static_cast<double>(*mostSplits + 1))});
  Value some = node.create<ConcatOp>({node.indices({0}), counts}, {node.named("axis", int64_t(0))});
  DimExpr most = node.readNumber(node.create<ReduceMaxOp>({some}, {node.named("axes", ArrayRef<int64_t>{0})}), {0, INT64_MAX});
  if (node.failed())
    return;
  auto column = [&](Value v) { return node.create<UnsqueezeOp>({v}, {node.named("axes", ArrayRef<int64_t>{1})}); };
  Value ends = rows.placesOf(marks->ends, most), starts, number = iota(node, most);
  if (marks->starts) {
    starts = rows.placesOf(marks->starts, most);
  } else { // the first at the beginning, each other one behind the end of the one before
    Value before = node.create<AddOp>({rows.placesOf(marks->ends, most), node.scalar(integer(node), static_cast<double>(marks->afterEnd))});
    Value first = node.create<BroadcastOp>({node.scalar(integer(node), 0)}, {node.named("dims", ArrayRef{node.dims(counts)[0], node.number(1)})});
    starts = part(node, node.create<ConcatOp>({first, before}, {node.named("axis", int64_t(1))}), 1, node.number(0), most);
  }
  if (mostSplits) { // the last piece has what is left
    Value isLast = node.create<EqualOp>({number, node.scalar(integer(node), static_cast<double>(*mostSplits))});
    ends = node.create<WhereOp>({isLast, column(lengths), ends});
  }
  Value isPiece = node.create<LessOp>({number, column(counts)});
  Value zero = node.scalar(integer(node), 0);
  starts = node.create<WhereOp>({isPiece, starts, zero});
  ends = node.create<WhereOp>({isPiece, ends, zero});
  auto flat = [&](Value places) {
    Value all = node.create<AddOp>({places, column(pieces.starts)});
    return node.failed() ? Value() : node.create<ViewOp>({all}, {node.named("dims", ArrayRef(productOf(node.context(), node.dims(all))))});
  };
  Pieces parts = {pieces.bytes, flat(starts), flat(ends)};
  Dims dims = node.dims(x.tensors[1]), resultDims = dims;
  resultDims.push_back(most);
  if (node.failed())
    return;
  Value all = node.create<ViewOp>({iota(node, productOf(node.context(), resultDims))}, {node.named("dims", resultDims)});
  node.result(picked(node, parts, all));
  node.result(node.create<ViewOp>({counts}, {node.named("dims", dims)}));
}

// --- LabelEncoder ----------------------------------------------------------------------------------------------------------

/// One side of the table: strings or numbers.
struct Labels {
  std::optional<SmallVector<std::string>> strings;
  Value numbers;

  explicit operator bool() const { return strings || numbers; }
};

Labels labelsOf(NodeContext &node, const std::string &side) {
  Labels labels;
  labels.strings = node.stringsAttribute(side + "_strings");
  if (std::optional<SmallVector<int64_t>> integers = node.intsAttribute(side + "_int64s"))
    labels.numbers = node.indices(*integers);
  if (std::optional<SmallVector<double>> floats = node.floatsAttribute(side + "_floats")) {
    SmallVector<float> values(floats->begin(), floats->end());
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, Float32Type::get(node.context()));
    labels.numbers = node.constant(DenseElementsAttr::get(type, ArrayRef<float>(values)));
  }
  const onnx::AttributeProto *tensor = node.version >= 4 ? node.attribute(side + "_tensor") : nullptr;
  if (tensor && tensor->t().data_type() == onnx::TensorProto::STRING)
    labels.strings = SmallVector<std::string>(tensor->t().string_data().begin(), tensor->t().string_data().end());
  else if (tensor)
    labels.numbers = node.constant(tensor->t());
  if (!labels)
    node.fail("the " + side + " are missing");
  return labels;
}

/// What a key that is not in the table gives, in the type of the values.
Labels defaultOf(NodeContext &node, const Labels &values) {
  std::string text = node.stringAttribute("default_string", "_Unused");
  int64_t whole = node.intAttribute("default_int64", -1);
  double real = node.floatAttribute("default_float", -0.0);
  const onnx::AttributeProto *tensor = node.version >= 4 ? node.attribute("default_tensor") : nullptr;
  Labels one;
  if (values.strings)
    one.strings = {tensor && tensor->t().string_data_size() == 1 ? tensor->t().string_data(0) : text};
  else if (tensor)
    one.numbers = node.create<ReshapeOp>({node.constant(tensor->t()), node.indices({1})});
  else if (!node.failed())
    one.numbers = node.create<ReshapeOp>({node.scalar(values.numbers, isa<FloatType>(node.elementType(values.numbers)) ? real : whole), node.indices({1})});
  return one;
}

/// The number of the key that x is, or the number of keys: of the shape of x.
Value placeOfKey(NodeContext &node, const Item &x, const Labels &keys) {
  if (node.failed() || (x.form.kind == Form::Kind::Strings) != keys.strings.has_value()) {
    node.fail("the keys have another type than the input");
    return {};
  }
  if (keys.strings) {
    Item table = constantStrings(node, *keys.strings, {static_cast<int64_t>(keys.strings->size())});
    Value places = node.failed() ? Value() : lookUp(node, piecesOf(node, x), piecesOf(node, table));
    return places ? node.create<ViewOp>({places}, {node.named("dims", node.dims(x.tensors[1]))}) : Value();
  }
  Value all = node.create<UnsqueezeOp>({x.tensor()}, {node.named("axes", ArrayRef<int64_t>(node.rank(x.tensor())))});
  Value isEqual = node.create<EqualOp>({all, keys.numbers});
  if (isa<FloatType>(node.elementType(all))) // NaN is a key like any other
    isEqual = node.create<OrOp>({isEqual, node.create<AndOp>({node.create<IsNanOp>({all}), node.create<IsNanOp>({keys.numbers})})});
  int64_t axis = node.rank(x.tensor());
  Value found = castTo(node, isEqual, IntegerType::get(node.context(), 32));
  if (node.failed())
    return {};
  Dims dims = node.dims(found);
  dims[axis] = node.number(1);
  Value last = node.create<BroadcastOp>({node.scalar(found, 1)}, {node.named("dims", dims)});
  return node.create<ArgMaxOp>({node.create<ConcatOp>({found, last}, {node.named("axis", axis)})}, {node.named("axis", axis)});
}

void labelEncoder(NodeContext &node) {
  Item x = node.item(0);
  Labels keys = labelsOf(node, "keys"), values = labelsOf(node, "values"), other = defaultOf(node, values);
  Value places = placeOfKey(node, x, keys);
  if (node.failed())
    return;
  if (!values.strings) {
    Value table = node.create<ConcatOp>({values.numbers, other.numbers}, {node.named("axis", int64_t(0))});
    return node.result(node.create<GatherOp>({table, places}, {node.named("axis", int64_t(0))}));
  }
  SmallVector<std::string> all = *values.strings;
  all.append(*other.strings);
  Item table = constantStrings(node, all, {static_cast<int64_t>(all.size())});
  if (!node.failed())
    node.result(picked(node, piecesOf(node, table), places));
}

constexpr Converter table[] = {
    {"StringConcat", 20, newest, stringConcat},
    {"StringNormalizer", 10, newest, stringNormalizer},
    {"StringSplit", 20, newest, stringSplit},
    {"ai.onnx.ml.LabelEncoder", 2, 5, labelEncoder},
};

} // namespace

ArrayRef<Converter> stringConverters() { return table; }

void equalStrings(NodeContext &node) {
  Item a = stringsAt(node, 0), b = stringsAt(node, 1);
  if (node.failed())
    return;
  auto [placesA, placesB] = broadcastPlaces(node, a, b);
  Pieces lhs = piecesOf(node, picked(node, piecesOf(node, a), placesA)), rhs = piecesOf(node, picked(node, piecesOf(node, b), placesB));
  if (node.failed())
    return;
  DimExpr width = widthOf(node, lhs), other = widthOf(node, rhs);
  if (node.failed())
    return;
  width = width.max(other);
  Value same = node.create<EqualOp>({characters(node, lhs, width), characters(node, rhs, width)});
  Value all = node.create<ReduceMinOp>({castTo(node, same, IntegerType::get(node.context(), 32))}, {node.named("axes", ArrayRef<int64_t>{1})});
  all = castTo(node, all, IntegerType::get(node.context(), 1));
  node.result(node.failed() ? Value() : node.create<ViewOp>({all}, {node.named("dims", node.dims(placesA))}));
}

} // namespace llmc
