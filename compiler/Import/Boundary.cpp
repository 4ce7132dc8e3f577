// Sequences and optionals at the boundary of a model.
#include "compiler/Import/Boundary.h"

#include "compiler/Import/NodeContext.h"

using namespace mlir;

namespace llmc {

using namespace onnx;
using Kind = Form::Kind;

Form boundaryForm(MLIRContext *context, const TypeProto &type) {
  if (type.has_optional_type())
    return {Kind::Optional, Type(), std::nullopt, {boundaryForm(context, type.optional_type().elem_type())}};
  bool isList = type.has_sequence_type();
  const TypeProto::Tensor &tensor = isList ? type.sequence_type().elem_type().tensor_type() : type.tensor_type();
  bool isText = !isList && tensor.elem_type() == TensorProto::STRING;
  Form form{isList ? Kind::Packed : isText ? Kind::Strings : Kind::Tensor, elementTypeOf(context, tensor.elem_type()), std::nullopt, {}};
  if (tensor.has_shape())
    form.rank = tensor.shape().dim_size();
  return form;
}

std::vector<ValueInfoProto> boundaryTensors(const std::string &name, const TypeProto &type) {
  auto tensor = [](const std::string &name, int32_t element, std::initializer_list<int64_t> dims) {
    ValueInfoProto value;
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(element);
    TensorShapeProto *shape = value.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int64_t dim : dims)
      shape->add_dim()->set_dim_value(dim); // 0: any size
    return value;
  };
  if (type.has_optional_type()) {
    std::vector<ValueInfoProto> tensors = boundaryTensors(name, type.optional_type().elem_type());
    tensors.insert(tensors.begin(), tensor(name + ".has", TensorProto::BOOL, {}));
    return tensors;
  }
  if (type.has_sequence_type()) {
    int32_t element = type.sequence_type().elem_type().tensor_type().elem_type();
    return {tensor(name + ".values", element, {0}), tensor(name + ".shapes", TensorProto::INT64, {0, packedRank})};
  }
  ValueInfoProto value;
  value.set_name(name);
  *value.mutable_type() = type;
  if (type.tensor_type().elem_type() != TensorProto::STRING)
    return {value};
  value.set_name(name + ".ends");
  value.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  return {tensor(name + ".bytes", TensorProto::UINT8, {0}), value};
}

Item atBoundary(NodeContext &node, const Item &item, const TypeProto &type) {
  Item given = type.has_optional_type() ? item : held(node, item);
  bool isText = type.tensor_type().elem_type() == TensorProto::STRING, isList = type.has_sequence_type() || type.has_optional_type();
  if (given.isTensor() && !isText && !isList)
    return given;
  if (!type.value_case())
    node.fail("the type of an output that is " + given.form.describe() + " must be declared");
  if (node.failed())
    return given;
  return convert(node, given, join(node, boundaryForm(node.context(), type), given.form));
}

} // namespace llmc
