// Operators that make tensors out of nothing but constants.
#include "compiler/Import/Converters.h"
#include "compiler/Import/Strings.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;
using onnx::AttributeProto;

void constant(NodeContext &node) {
  const AttributeProto *value = node.onlyAttribute();
  if (!value)
    return node.fail("expects exactly one attribute");
  Builder builder(node.context());
  auto typeOf = [&](size_t size, Type element) { return RankedTensorType::get({static_cast<int64_t>(size)}, element); };
  StringRef name = value->name();
  if (name == "value" && value->t().data_type() == onnx::TensorProto::STRING)
    node.result(constantStrings(node, value->t()));
  else if (name == "value")
    node.result(node.constant(value->t()));
  else if (name == "value_string")
    node.result(constantStrings(node, {value->s()}, {}));
  else if (name == "value_strings")
    node.result(constantStrings(node, SmallVector<std::string>(value->strings().begin(), value->strings().end()), {value->strings_size()}));
  else if (name == "value_float")
    node.result(node.scalar(builder.getF32Type(), value->f()));
  else if (name == "value_int")
    node.result(node.constant(DenseElementsAttr::get(RankedTensorType::get({}, builder.getI64Type()), value->i())));
  else if (name == "value_floats")
    node.result(node.constant(DenseElementsAttr::get(typeOf(value->floats_size(), builder.getF32Type()),
                                                     ArrayRef<float>(value->floats().data(), value->floats_size()))));
  else if (name == "value_ints")
    node.result(node.indices(ArrayRef<int64_t>(value->ints().data(), value->ints_size())));
  else
    node.fail("attribute '" + name + "' is not supported");
}

void constantOfShape(NodeContext &node) {
  const AttributeProto *value = node.attribute("value");
  Value shape = node.numbersInput(0, node.declaredRank(0));
  Value element = value ? node.constant(value->t()) : node.scalar(Float32Type::get(node.context()), 0);
  if (value && element && (node.rank(element) != 1 || !node.dims(element)[0].isConstant(1)))
    return node.fail("attribute 'value' must hold one element");
  if (value)
    element = node.create<SqueezeOp>({element}, {node.named("axes", ArrayRef<int64_t>{0})});
  node.result(node.create<ExpandOp>({element, shape}));
}

constexpr Converter table[] = {
    {"Constant", 1, newest, constant},
    {"ConstantOfShape", 9, newest, constantOfShape},
};

} // namespace

ArrayRef<Converter> constantConverters() { return table; }

} // namespace llmc
