// Forms of items, and the ways from one to another.
#include "compiler/Import/Item.h"

#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {

using namespace graph;
using Kind = Form::Kind;

/// Without those of its parts.
static size_t numOwnTensors(Kind kind) { return kind == Kind::List ? 0 : kind == Kind::Packed || kind == Kind::Strings ? 2 : 1; }

size_t Form::numTensors() const {
  size_t count = numOwnTensors(kind);
  for (const Form &part : parts)
    count += part.numTensors();
  return count;
}

StringRef Form::describe() const {
  switch (kind) {
  case Kind::Tensor: return "a tensor";
  case Kind::Strings: return "a tensor of strings";
  case Kind::Optional: return "an optional";
  default: return "a sequence";
  }
}

Item::Item(Value tensor) : tensors({tensor}) {
  if (!tensor)
    return;
  auto type = cast<RankedTensorType>(tensor.getType());
  form.element = type.getElementType();
  form.rank = type.getRank();
}

Item Item::takeFrom(ArrayRef<Value> &tensors, const Form &form) {
  Item item(form, SmallVector<Value, 2>(tensors.take_front(numOwnTensors(form.kind))));
  tensors = tensors.drop_front(item.tensors.size());
  if (form.kind == Kind::Tensor)
    return Item(item.tensors[0]); // its rank may be another one by now
  if (form.kind == Kind::Strings)
    item.form.rank = cast<RankedTensorType>(item.tensors[1].getType()).getRank();
  for (Form &part : item.form.parts) {
    Item inner = takeFrom(tensors, part);
    part = inner.form;
    item.tensors.append(inner.tensors);
  }
  return item;
}

Item Item::part(size_t i) const {
  ArrayRef<Value> rest(tensors);
  if (form.kind == Kind::Optional)
    rest = rest.drop_front();
  for (const Form &before : ArrayRef(form.parts).take_front(i))
    rest = rest.drop_front(before.numTensors());
  return takeFrom(rest, form.parts[i]);
}

bool isSame(const Form &lhs, const Form &rhs) {
  if (lhs.kind != rhs.kind || lhs.parts.size() != rhs.parts.size())
    return false;
  if (lhs.kind == Kind::Packed && (lhs.rank != rhs.rank || lhs.element != rhs.element))
    return false;
  return std::equal(lhs.parts.begin(), lhs.parts.end(), rhs.parts.begin(), isSame);
}

static Form packedForm(const Form &list) {
  Form form{Kind::Packed, list.element, list.rank, {}};
  if (list.kind == Kind::List && !list.parts.empty()) {
    form.rank = list.parts.front().rank;
    for (const Form &part : list.parts)
      if (part.rank != form.rank)
        form.rank = std::nullopt;
  }
  return form;
}

static bool isEmpty(const Form &list) { return list.kind == Kind::List && list.parts.empty(); }

static Form joinLists(NodeContext &node, const Form &lhs, const Form &rhs) {
  if (lhs.element != rhs.element) {
    std::string types;
    llvm::raw_string_ostream(types) << lhs.element << " and of " << rhs.element;
    node.fail("a value can not be a sequence of " + types);
  }
  auto isAlike = [](const Form &a, const Form &b) { return a.element == b.element && a.rank == b.rank; };
  if (lhs.kind == Kind::List && rhs.kind == Kind::List && lhs.parts.size() == rhs.parts.size() &&
      std::equal(lhs.parts.begin(), lhs.parts.end(), rhs.parts.begin(), isAlike))
    return lhs;
  if (isEmpty(lhs) || isEmpty(rhs))
    return packedForm(isEmpty(lhs) ? rhs : lhs);
  Form form = packedForm(lhs);
  if (packedForm(rhs).rank != form.rank)
    form.rank = std::nullopt;
  return form;
}

Form join(NodeContext &node, const Form &lhs, const Form &rhs) {
  if (lhs.kind == Kind::Optional || rhs.kind == Kind::Optional) {
    std::vector<Form> a = lhs.kind == Kind::Optional ? lhs.parts : std::vector{lhs};
    std::vector<Form> b = rhs.kind == Kind::Optional ? rhs.parts : std::vector{rhs};
    std::vector<Form> parts = a.empty() || b.empty() ? (a.empty() ? b : a) : std::vector{join(node, a[0], b[0])};
    return {Kind::Optional, Type(), std::nullopt, std::move(parts)};
  }
  if (lhs.isList() && rhs.isList())
    return joinLists(node, lhs, rhs);
  if (lhs.kind != rhs.kind)
    node.fail("a value is " + lhs.describe() + " on one way and " + rhs.describe() + " on the other");
  return lhs;
}

static Value truth(NodeContext &node, bool value) { return node.scalar(IntegerType::get(node.context(), 1), value); }

static Value emptyTensor(NodeContext &node, Type element, ArrayRef<int64_t> dims) {
  return node.constant(DenseElementsAttr::get(RankedTensorType::get(dims, element), ArrayRef<Attribute>()));
}

Item placeholder(NodeContext &node, const Form &form) {
  if (form.kind == Kind::Tensor) {
    if (!form.rank)
      node.fail("an optional tensor of unknown rank is not supported");
    if (node.failed())
      return {};
    return *form.rank == 0 ? node.scalar(form.element, 0)
                           : emptyTensor(node, form.element, SmallVector<int64_t>(*form.rank, 0));
  }
  Item item(form, {});
  if (form.kind == Kind::Strings)
    node.fail("an optional tensor of strings is not supported");
  if (form.kind == Kind::Packed)
    item.tensors = {emptyTensor(node, form.element, {0}),
                    emptyTensor(node, IntegerType::get(node.context(), 64), {0, packedRank})};
  if (form.kind == Kind::Optional)
    item.tensors = {truth(node, false)};
  for (const Form &part : form.parts)
    item.tensors.append(placeholder(node, part).tensors);
  return item;
}

Item convert(NodeContext &node, const Item &item, const Form &form) {
  if (node.failed() || isSame(item.form, form))
    return item;
  if (form.kind == Kind::Packed)
    return {form, packed(node, item).tensors};
  if (form.kind != Kind::Optional) {
    node.fail("the value is " + item.form.describe() + ", expected " + form.describe());
    return item;
  }
  bool isOptional = item.form.kind == Kind::Optional, isNothing = isOptional && item.form.parts.empty();
  Item result(form, {isOptional ? item.tensors[0] : truth(node, true)});
  Item inner = isNothing ? placeholder(node, form.parts[0]) : convert(node, isOptional ? item.part(0) : item, form.parts[0]);
  result.tensors.append(inner.tensors);
  return result;
}

/// The dims of a tensor as a row of `shapes`.
static Value shapeRow(NodeContext &node, Value x) {
  SmallVector<Value> pieces = {shapeOf(node, x, 0, INT64_MAX)};
  if (int64_t missing = packedRank - node.rank(x); missing > 0)
    pieces.push_back(node.indices(SmallVector<int64_t>(missing, -1)));
  Value row = node.create<ConcatOp>(pieces, {node.named("axis", int64_t(0))});
  return node.create<ReshapeOp>({row, node.indices({1, packedRank})});
}

Item packed(NodeContext &node, const Item &list) {
  if (list.form.kind == Kind::Packed || node.failed())
    return list;
  Item result = placeholder(node, packedForm(list.form));
  SmallVector<Value> values = {result.tensors[0]}, shapes = {result.tensors[1]};
  for (size_t i = 0; i < list.form.parts.size() && !node.failed(); ++i) {
    Value x = list.part(i).tensor();
    if (!x)
      node.fail("a sequence of strings whose length only the run shows is not supported");
    if (!node.knownDims(x, "a sequence"))
      return list;
    values.push_back(node.create<ReshapeOp>({x, node.indices({-1})}));
    shapes.push_back(shapeRow(node, x));
  }
  if (values.size() == 1)
    return result;
  result.tensors = {node.create<ConcatOp>(ArrayRef(values).drop_front(), {node.named("axis", int64_t(0))}),
                    node.create<ConcatOp>(ArrayRef(shapes).drop_front(), {node.named("axis", int64_t(0))})};
  return result;
}

Item listOf(Type element, ArrayRef<Item> elements) {
  Item list({Kind::List, element, std::nullopt, {}}, {});
  for (const Item &item : elements) {
    list.form.parts.push_back(item.form);
    list.tensors.append(item.tensors);
  }
  return list;
}

Item held(NodeContext &node, const Item &item) {
  if (item.form.kind != Kind::Optional || node.failed())
    return item;
  if (item.form.parts.empty()) {
    node.fail("the optional holds nothing");
    return {};
  }
  Value has = castTo(node, item.tensors[0], IntegerType::get(node.context(), 64));
  node.require(node.readNumber(has, {0, 1}), node.number(1), "the optional holds nothing");
  return item.part(0);
}

} // namespace llmc
