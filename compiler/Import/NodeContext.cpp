// Attributes, inputs and facts of a node; building with inferred types.
#include "compiler/Import/Converters.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace llmc {

using onnx::AttributeProto;

graph::DimExpr ImportState::newSymbol(StringRef stem, graph::DimRange range) {
  std::string name = (stem + "." + Twine(symbols.size())).str();
  while (ranges.has(name)) // a dim of the model
    name += "_";
  symbols.push_back(name);
  ranges.set(name, range);
  return graph::DimExpr::symbol(builder.getContext(), name);
}

bool ImportState::isNewerThan(size_t first, graph::DimExpr expr) const {
  bool found = false;
  expr.forEachSymbol([&](StringRef name) { found |= llvm::is_contained(ArrayRef(symbols).drop_front(first), name); });
  return found;
}

void ImportState::dropSymbols(size_t first) {
  for (const std::string &name : ArrayRef(symbols).drop_front(first))
    ranges.erase(name);
  symbols.resize(first);
}

NodeContext::NodeContext(ImportState &state, const FlatNode &node, int64_t version, ArrayRef<Item> values, ImportGraph importGraph)
    : version(version), state(state), node(node), importGraph(std::move(importGraph)), proto(*node.proto),
      location(NameLoc::get(StringAttr::get(state.builder.getContext(), node.label))), inputs(values) {
  for (const Item &item : inputs)
    given.push_back(static_cast<bool>(item));
  consumed.resize(inputs.size());
}

void NodeContext::require(graph::DimExpr lhs, graph::DimExpr rhs, const Twine &what) {
  if (failed() || state.ranges.provesEqual(lhs, rhs))
    return;
  if ((lhs - rhs).asConstant())
    return fail(what);
  std::string message = proto.name() + " (" + proto.op_type() + "): " + what.str();
  state.block->checks.push_back(state.builder.getArrayAttr({lhs.attribute(), rhs.attribute(), state.builder.getStringAttr(message)}));
}

/// Two negative sizes have a product like any other, so nothing later would notice them.
void NodeContext::requireSizes(ArrayRef<graph::DimExpr> dims) {
  graph::DimExpr zero = number(0);
  auto isKnown = [&](graph::DimExpr dim) {
    for (const BlockState *block = state.block; block; block = block->outer)
      if (block->sizes.contains(dim.attribute()))
        return true;
    return false;
  };
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!dim || state.ranges.provesAtLeast(dim, zero) || isKnown(dim))
      continue;
    state.block->sizes.insert(dim.attribute());
    require(dim.min(zero), zero, "needs a result whose dim " + Twine(i) + ", " + dim.str() + ", is not negative");
  }
}

void NodeContext::fail(const Twine &reason) {
  if (problem.empty())
    problem = reason.str();
}

std::string captureErrors(MLIRContext *context, function_ref<void()> body) {
  std::string first;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (first.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      first = diagnostic.str();
    return success();
  });
  body();
  return first;
}

// --- Attributes ------------------------------------------------------------------------------------------------------------

const AttributeProto *NodeContext::attribute(StringRef name) {
  consumedAttributes.insert(name);
  for (const AttributeProto &attribute : proto.attribute())
    if (StringRef(attribute.name()) == name)
      return &attribute;
  return nullptr;
}

const AttributeProto *NodeContext::onlyAttribute() {
  if (proto.attribute_size() != 1)
    return nullptr;
  return attribute(proto.attribute(0).name());
}

/// The attribute if it is there and of the type; files of IR 3 and older may leave the type out.
static const AttributeProto *ofType(NodeContext &node, StringRef name, AttributeProto::AttributeType type) {
  const AttributeProto *attribute = node.attribute(name);
  if (!attribute || attribute->type() == type || attribute->type() == AttributeProto::UNDEFINED)
    return attribute;
  node.fail("attribute '" + name + "' is " + AttributeProto::AttributeType_Name(attribute->type()) + ", expected " +
            AttributeProto::AttributeType_Name(type));
  return nullptr;
}

std::optional<int64_t> NodeContext::intAttribute(StringRef name) {
  const AttributeProto *attribute = ofType(*this, name, AttributeProto::INT);
  return attribute ? std::optional<int64_t>(attribute->i()) : std::nullopt;
}

int64_t NodeContext::intAttribute(StringRef name, int64_t absent) { return intAttribute(name).value_or(absent); }

double NodeContext::floatAttribute(StringRef name, double absent) {
  const AttributeProto *attribute = ofType(*this, name, AttributeProto::FLOAT);
  return attribute ? attribute->f() : absent;
}

std::string NodeContext::stringAttribute(StringRef name, StringRef absent) {
  const AttributeProto *attribute = ofType(*this, name, AttributeProto::STRING);
  return attribute ? attribute->s() : absent.str();
}

std::optional<SmallVector<int64_t>> NodeContext::intsAttribute(StringRef name) {
  const AttributeProto *attribute = ofType(*this, name, AttributeProto::INTS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

std::optional<SmallVector<double>> NodeContext::floatsAttribute(StringRef name) {
  const AttributeProto *attribute = ofType(*this, name, AttributeProto::FLOATS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<double>(attribute->floats().begin(), attribute->floats().end());
}

std::optional<SmallVector<std::string>> NodeContext::stringsAttribute(StringRef name) {
  const AttributeProto *attribute = ofType(*this, name, AttributeProto::STRINGS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<std::string>(attribute->strings().begin(), attribute->strings().end());
}

const FlatGraph *NodeContext::graphAttribute(StringRef name, size_t inputs) {
  attribute(name);
  for (const FlatGraph &graph : node.graphs)
    if (StringRef(graph.attribute) == name) {
      if (static_cast<size_t>(graph.proto->input_size()) == inputs)
        return &graph;
      fail("graph '" + name + "' has " + Twine(graph.proto->input_size()) + " inputs, expected " + Twine(inputs));
      return nullptr;
    }
  fail("graph '" + name + "' is missing");
  return nullptr;
}

static bool isNull(const Item &item) { return !item; }

std::optional<SmallVector<Item>> NodeContext::run(const FlatGraph &graph, ArrayRef<Item> inputs) {
  if (failed() || llvm::any_of(inputs, isNull))
    return std::nullopt;
  std::optional<SmallVector<Item>> outputs = importGraph(graph, inputs);
  isAbandoned = !outputs;
  return outputs;
}

std::optional<ImportProblem> NodeContext::takeBackProblem(size_t first) {
  ArrayRef<ImportProblem> found = ArrayRef(state.problems).drop_front(first);
  if (!problem.empty() || found.empty() || !llvm::all_of(found, [](const ImportProblem &each) { return each.isOfSizes; }))
    return std::nullopt;
  ImportProblem taken = found.front();
  state.problems.truncate(first);
  isAbandoned = false;
  return taken;
}

std::optional<InnerBlock> NodeContext::innerBlock(BuildBlock build) {
  InnerBlock inner{std::make_unique<Region>(), {}, {}};
  OpBuilder::InsertionGuard guard(state.builder);
  state.builder.setInsertionPointToStart(&inner.region->emplaceBlock());
  BlockState block;
  block.outer = state.block;
  state.block = &block;
  std::optional<SmallVector<Value>> results = build(inner.region->front());
  state.block = block.outer;
  if (!results || failed())
    return std::nullopt;
  inner.results = std::move(*results);
  inner.checks = std::move(block.checks);
  return inner;
}

// --- Inputs and facts ------------------------------------------------------------------------------------------------------

Value NodeContext::input(size_t i) {
  Item found = item(i);
  if (found && !found.isTensor())
    fail("input " + Twine(i) + " is " + found.form.describe() +
         (found.form.kind == Form::Kind::Strings ? ", which is not supported" : ", expected a tensor"));
  return found.tensor();
}

Item NodeContext::item(size_t i) {
  if (!hasInput(i)) {
    fail("input " + Twine(i) + " is missing");
    return {};
  }
  consumed[i] = true;
  return inputs[i];
}

std::optional<SmallVector<int64_t>> NodeContext::knownIntegers(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return SmallVector<int64_t>();
  ElementsAttr attribute;
  if (matchPattern(value, m_Constant(&attribute)) && elementType(value).isInteger())
    if (std::optional<graph::ConstantView> view = graph::ConstantView::of(attribute))
      return view->integers();
  std::optional<graph::Dims> known = contents(value);
  if (!known)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (graph::DimExpr element : *known) {
    std::optional<int64_t> number = element ? element.asConstant() : std::nullopt;
    if (!number)
      return std::nullopt;
    values.push_back(*number);
  }
  return values;
}

std::optional<SmallVector<int64_t>> NodeContext::constantInput(size_t i) {
  Value value = optionalInput(i);
  if (!value)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> values = knownIntegers(value);
  if (!values)
    fail("input " + Twine(i) + " is not known at compile time, which is not supported");
  return values;
}

bool NodeContext::isConstantInput(size_t i) const {
  return hasInput(i) && inputs[i].tensor() && knownIntegers(inputs[i].tensor()).has_value();
}

bool NodeContext::isOpenList(size_t i) const {
  Value value = hasInput(i) ? inputs[i].tensor() : Value();
  if (!value || rank(value) != 1)
    return false;
  graph::DimExpr size = dims(value)[0];
  return size && !size.asConstant();
}

Value NodeContext::listInput(size_t i, std::optional<int64_t> claimed) {
  if (!isOpenList(i))
    return optionalInput(i);
  if (claimed && *claimed >= 0)
    return list(i, *claimed);
  fail("input " + Twine(i) + " has a number of elements that is not known, which is not supported");
  return {};
}

Value NodeContext::numbersInput(size_t i, std::optional<int64_t> claimed) {
  Value value = listInput(i, claimed);
  if (!value)
    return {};
  Value read = withNumbers(value, {INT64_MIN, INT64_MAX});
  if (!read)
    fail("input " + Twine(i) + " has a number of elements that is not known, which is not supported");
  return read;
}

Value NodeContext::withNumbers(Value value, graph::DimRange range) {
  if (failed() || knownIntegers(value))
    return value;
  std::optional<graph::Dims> known = contents(value);
  if (known && llvm::all_of(*known, [](graph::DimExpr element) { return static_cast<bool>(element); }))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape() || type.getNumElements() > graph::maxContents || !type.getElementType().isInteger())
    return {};
  return readNumbers(value, range);
}

/// A small tensor of integers with its elements as symbols.
Value NodeContext::readNumbers(Value value, graph::DimRange range) {
  if (Value read = state.block->readOf(value))
    return read;
  auto type = cast<RankedTensorType>(value.getType());
  Value wide = value;
  if (!type.getElementType().isSignlessInteger(64) && !type.getElementType().isSignlessInteger(32))
    wide = create<graph::CastOp>({value}, {named("to", TypeAttr::get(IntegerType::get(context(), 64)))});
  if (failed())
    return {};
  SmallVector<StringRef> names;
  for (int64_t element = 0; element < type.getNumElements(); ++element)
    names.push_back(state.newSymbol("read", range).symbolName());
  auto read = graph::ReadNumbersOp::create(state.builder, location, wide, state.builder.getStrArrayAttr(names));
  graph::ShapeInference shapes = inferenceFor(wide);
  (void)read.inferDims(shapes);
  state.shapes[read] = shapes.results()[0];
  return state.block->reads[value] = read;
}

graph::DimExpr NodeContext::readNumber(Value value, graph::DimRange range) {
  if (!value)
    return {};
  std::optional<graph::Dims> known = contents(value);
  if (!known || !known->front())
    known = contents(readNumbers(value, range));
  return known ? known->front() : graph::DimExpr();
}

std::optional<graph::Dims> NodeContext::numbers(size_t i) { return numbersOf(numbersInput(i)); }

std::optional<graph::Dims> NodeContext::numbersOf(Value value, graph::DimRange range) {
  value = value ? withNumbers(value, range) : value;
  if (!value || failed())
    return std::nullopt;
  if (std::optional<SmallVector<int64_t>> known = knownIntegers(value))
    return llvm::map_to_vector<4>(*known, [&](int64_t element) { return number(element); });
  return contents(value);
}

Value NodeContext::list(size_t i, int64_t count) {
  Value value = optionalInput(i);
  std::optional<graph::Dims> known = value ? knownDims(value, "a list of numbers") : std::nullopt;
  if (!known)
    return {};
  if (known->size() > 1) {
    fail("input " + Twine(i) + " has rank " + Twine(known->size()) + ", expected a list");
    return {};
  }
  graph::DimExpr size = graph::productOf(context(), *known);
  require(size, number(count), "input " + Twine(i) + " has " + size.str() + " elements, expected " + Twine(count));
  if (failed())
    return {};
  if (known->empty())
    return create<graph::ViewOp>({value}, {named("dims", ArrayRef{number(1)})});
  return size.isConstant(count) ? value : firstOf(*this, value, 0, number(count));
}

std::optional<int64_t> NodeContext::declaredRank(size_t output) const {
  auto rank = hasOutput(output) ? state.declaredRanks.find(proto.output(output)) : state.declaredRanks.end();
  return rank == state.declaredRanks.end() ? std::nullopt : std::optional(rank->second);
}

int64_t NodeContext::rank(Value value) const { return value ? cast<RankedTensorType>(value.getType()).getRank() : 0; }

Type NodeContext::elementType(Value value) const {
  return value ? cast<RankedTensorType>(value.getType()).getElementType() : NoneType::get(context());
}

graph::Dims NodeContext::dims(Value value) const { return value ? state.shapes.lookup(value).dims : graph::Dims(); }

std::optional<graph::Dims> NodeContext::contents(Value value) const { return state.shapes.lookup(value).contents; }

std::optional<graph::Dims> NodeContext::knownDims(Value value, StringRef purpose) {
  if (failed() || !value)
    return std::nullopt;
  graph::Dims known = dims(value);
  for (auto [i, dim] : llvm::enumerate(known))
    if (!dim) {
      fail("dim " + Twine(i) + " of the input depends on data, but " + purpose + " needs to know it");
      return std::nullopt;
    }
  return known;
}

int64_t NodeContext::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail("axis " + Twine(axis) + " is out of range for rank " + Twine(rank));
  return 0;
}

SmallVector<int64_t> NodeContext::axes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> sorted = llvm::map_to_vector(axes, [&](int64_t value) { return axis(value, rank); });
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    fail("an axis is given twice");
  return sorted;
}

// --- Building --------------------------------------------------------------------------------------------------------------

graph::ShapeInference NodeContext::inferenceFor(ValueRange operands) const {
  SmallVector<graph::TensorShape> shapes =
      llvm::map_to_vector(operands, [&](Value operand) { return state.shapes.lookup(operand); });
  // Equalities that only hold at run time are found again, and checked, by the passes.
  return graph::ShapeInference(context(), location, operands, shapes, state.ranges, [](graph::DimExpr, graph::DimExpr, bool) {});
}

static bool isSmall(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.hasStaticShape() && tensor.getNumElements() <= graph::maxContents;
}

std::string whatIsWrongWith(ArrayRef<graph::DimExpr> dims) {
  int64_t elements = 1;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    std::optional<int64_t> size = dim.asConstant();
    if (size && *size < 0)
      return "the size " + std::to_string(*size) + " in dim " + std::to_string(i);
    constexpr int64_t most = INT64_MAX / 16; // bytes of any element type fit int64 then
    if (size && (llvm::MulOverflow(elements, std::max<int64_t>(*size, 1), elements) || elements > most))
      return "more elements than memory can hold";
  }
  return "";
}

/// What the op computes, if that is small and known already. Later nodes then see the numbers that their own types depend on.
SmallVector<ElementsAttr> NodeContext::smallConstants(Operation *op) const {
  if (!llvm::all_of(op->getResultTypes(), isSmall))
    return {};
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<graph::Dims> known = state.shapes.lookup(op->getResult(0)).contents;
  if (known && op->getNumResults() == 1 && type.getElementType().isInteger(64)) {
    SmallVector<int64_t> values;
    for (graph::DimExpr element : *known)
      if (std::optional<int64_t> number = element ? element.asConstant() : std::nullopt)
        values.push_back(*number);
    if (values.size() == known->size() && static_cast<int64_t>(values.size()) == type.getNumElements())
      return {DenseElementsAttr::get(type, ArrayRef<int64_t>(values))};
  }
  SmallVector<Value> places = graph::operandsByPlace(op);
  SmallVector<ElementsAttr> operands(places.size());
  for (auto [operand, value] : llvm::zip_equal(places, operands))
    if (operand && (!matchPattern(operand, m_Constant(&value)) || value.getNumElements() > graph::maxContents))
      return {};
  return graph::evaluate(cast<graph::ReferenceEvalOpInterface>(op), operands).value_or(SmallVector<ElementsAttr>());
}

SmallVector<Value> NodeContext::insert(OperationState &operation, const graph::ShapeInference &shapes) {
  for (const graph::TensorShape &shape : shapes.results())
    if (std::string what = whatIsWrongWith(shape.dims); !what.empty()) {
      fail("the result would have " + what);
      return SmallVector<Value>(shapes.results().size());
    }
  for (const graph::TensorShape &shape : shapes.results())
    requireSizes(shape.dims);
  shapes.appendTypes(operation.types);
  Operation *op = state.builder.create(operation);
  std::string error = captureErrors(context(), [&] { (void)verify(op); });
  if (!error.empty()) {
    SmallVector<Value> none(op->getNumResults());
    op->erase();
    StringRef reason = error;
    reason.consume_front("'" + operation.name.getStringRef().str() + "' op ");
    fail(reason);
    return none;
  }
  for (auto [value, shape] : llvm::zip_equal(op->getResults(), shapes.results()))
    state.shapes[value] = shape;
  SmallVector<ElementsAttr> values = smallConstants(op);
  if (values.empty())
    return llvm::to_vector_of<Value>(op->getResults());
  for (Value value : op->getResults())
    state.shapes.erase(value);
  op->erase();
  return llvm::map_to_vector(values, [&](ElementsAttr value) { return constant(value); });
}

SmallVector<Value> NodeContext::present(ArrayRef<Value> operands, SmallVectorImpl<NamedAttribute> &attributes) {
  SmallVector<int32_t> segments = llvm::map_to_vector(operands, [](Value operand) { return operand ? 1 : 0; });
  attributes.push_back(named("operandSegmentSizes", DenseI32ArrayAttr::get(context(), segments)));
  return llvm::filter_to_vector(operands, [](Value operand) { return static_cast<bool>(operand); });
}

Value NodeContext::constant(ElementsAttr value) {
  if (failed() || !value)
    return {};
  auto op = graph::ConstantOp::create(state.builder, location, value);
  graph::ShapeInference shapes(context(), location, ValueRange());
  (void)op.inferDims(shapes);
  state.shapes[op.getResult()] = shapes.results()[0];
  return op.getResult();
}

Value NodeContext::constant(const onnx::TensorProto &tensor) {
  std::string error, name = tensor.name().empty() ? proto.output(0) : tensor.name();
  ElementsAttr value = constantOf(context(), state.model, tensor, name, error);
  if (!value)
    fail(error);
  return constant(value);
}

Value NodeContext::scalar(Value like, double value) { return like ? scalar(elementType(like), value) : Value(); }

Value NodeContext::scalar(Type elementType, double value) {
  auto type = RankedTensorType::get({}, elementType);
  if (isa<FloatType>(elementType)) {
    APFloat number(value);
    bool losesInfo;
    number.convert(cast<FloatType>(elementType).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return constant(DenseElementsAttr::get(type, number));
  }
  auto integer = dyn_cast<IntegerType>(elementType);
  if (!integer)
    return {};
  APSInt number(integer.getWidth(), integer.isUnsigned() || integer.getWidth() == 1);
  bool exact = false;
  if (APFloat(value).convertToInteger(number, APFloat::rmTowardZero, &exact) != APFloat::opOK || !exact)
    fail(std::to_string(value) + " is no value of the element type");
  return constant(DenseElementsAttr::get(type, APInt(number)));
}

Value NodeContext::indices(ArrayRef<int64_t> values) { return constant(graph::makeIndexConstant(context(), values)); }

NamedAttribute NodeContext::named(StringRef name, Attribute value) { return state.builder.getNamedAttr(name, value); }
NamedAttribute NodeContext::named(StringRef name, int64_t value) { return named(name, state.builder.getI64IntegerAttr(value)); }
NamedAttribute NodeContext::named(StringRef name, double value) { return named(name, state.builder.getF64FloatAttr(value)); }
NamedAttribute NodeContext::named(StringRef name, ArrayRef<int64_t> values) {
  return named(name, state.builder.getDenseI64ArrayAttr(values));
}
NamedAttribute NodeContext::named(StringRef name, ArrayRef<graph::DimExpr> values) {
  return named(name, graph::dimsAttr(context(), values));
}
NamedAttribute NodeContext::named(StringRef name, graph::DimExpr value) { return named(name, value.attribute()); }
NamedAttribute NodeContext::named(StringRef name, StringRef value) { return named(name, state.builder.getStringAttr(value)); }
NamedAttribute NodeContext::flag(StringRef name) { return named(name, state.builder.getUnitAttr()); }

ArrayRef<Item> NodeContext::finish(std::string &reason) {
  if (isAbandoned)
    return {};
  for (const AttributeProto &attribute : proto.attribute())
    if (!consumedAttributes.contains(attribute.name()))
      fail("attribute '" + attribute.name() + "' is not supported");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (given[i] && !consumed[i])
      fail("input " + Twine(i) + " is not supported");
  if (llvm::any_of(results, isNull))
    fail("the converter gave no reason"); // a fault of ours, but never an op without its result
  reason = problem;
  return problem.empty() ? ArrayRef<Item>(results) : ArrayRef<Item>();
}

// --- Tensors ---------------------------------------------------------------------------------------------------------------

Type elementTypeOf(MLIRContext *context, int32_t dataType) {
  Builder builder(context);
  auto integer = [&](unsigned width, bool isUnsigned) -> Type {
    return IntegerType::get(context, width, isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  switch (dataType) {
  case onnx::TensorProto::FLOAT: return builder.getF32Type();
  case onnx::TensorProto::DOUBLE: return builder.getF64Type();
  case onnx::TensorProto::FLOAT16: return builder.getF16Type();
  case onnx::TensorProto::BFLOAT16: return builder.getBF16Type();
  case onnx::TensorProto::BOOL: return integer(1, false);
  case onnx::TensorProto::INT8: return integer(8, false);
  case onnx::TensorProto::INT16: return integer(16, false);
  case onnx::TensorProto::INT32: return integer(32, false);
  case onnx::TensorProto::INT64: return integer(64, false);
  case onnx::TensorProto::UINT8: return integer(8, true);
  case onnx::TensorProto::UINT16: return integer(16, true);
  case onnx::TensorProto::UINT32: return integer(32, true);
  case onnx::TensorProto::UINT64: return integer(64, true);
  default: return {};
  }
}

ElementsAttr constantOf(MLIRContext *context, const OnnxModel &model, const onnx::TensorProto &tensor, StringRef name,
                        std::string &error) {
  Type element = elementTypeOf(context, tensor.data_type());
  if (!element) {
    error = "tensor \"" + tensor.name() + "\": elements of type " + dataTypeName(tensor.data_type()) + " are not supported";
    return {};
  }
  std::optional<TensorBytes> elements = model.elements(tensor, error);
  if (!elements)
    return {};
  auto type = RankedTensorType::get(SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end()), element);
  ArrayRef<char> bytes(reinterpret_cast<const char *>(elements->bytes.data()), elements->bytes.size());
  return elements->isMapped ? graph::makeViewedConstant(type, bytes, name) : graph::makeConstant(type, bytes);
}

} // namespace llmc
