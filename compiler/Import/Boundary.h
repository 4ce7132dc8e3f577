// How the inputs and outputs of a model are passed that are no tensors: a sequence `x` as the tensors `x.values` and `x.shapes` (see
// Item.h), an optional one as `x.has`, and what it holds; strings as `x.bytes` and `x.ends`.
#pragma once

#include "compiler/Import/Item.h"
#include "compiler/Import/onnx.pb.h"

namespace llmc {

/// The form that a value of a declared type has at the boundary.
Form boundaryForm(mlir::MLIRContext *context, const onnx::TypeProto &type);
/// The tensors that an item of that type consists of, in its order, with their names and types.
std::vector<onnx::ValueInfoProto> boundaryTensors(const std::string &name, const onnx::TypeProto &type);
/// The item in the form that its declared type says.
Item atBoundary(NodeContext &node, const Item &item, const onnx::TypeProto &type);

} // namespace llmc
