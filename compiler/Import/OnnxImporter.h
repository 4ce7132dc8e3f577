// ONNX model -> graph dialect.
//
// The module holds one function @main. Its arguments are the model's inputs that have no initializer, each with its name
// ("graph.name") and dims ("graph.dims"); its results carry their names too. "graph.symbols" gives the range of every symbolic dim.
// An initializer that is also an input is a constant: its value is the model's, and callers can not replace it.
#pragma once

#include "dialects/Graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <string>
#include <vector>

namespace llmc {

class OnnxModel;

struct ImportOptions {
  /// Ranges of symbolic dims by name, inclusive. A symbol whose bounds are equal becomes that number.
  std::map<std::string, graph::DimRange> dims;
  /// Sizes of inputs by name; a negative one leaves its dim as the model says.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Names for the symbolic dims of inputs, by name of the input; an empty one leaves its dim as the model says. Dims of one name are equal.
  std::map<std::string, std::vector<std::string>> dimNames;
  /// Most trips of a loop whose number of trips is not in the model; one that goes on is an error of the run.
  int64_t maxTrips = int64_t(1) << 24;
};

/// Who is at fault when there is no result.
enum class Fault { None, Model, Options, Internal };

/// A node of the model as messages and locations call it: its name, made unique; of a function's body with the call before it.
struct ModelNode {
  std::string name, op;
  bool isCall; // of a function of the model, whose nodes take its place
};

/// Null on failure: every problem of the model was then reported, each at the location of its node, and at the end their number; or
/// that the options name nothing of the model or contradict it. `fault`, if not null, says which. Constants view the model's weights,
/// so the model must outlive the module. `nodes`, if not null, gets all nodes of the model.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, const OnnxModel &model, const ImportOptions &options,
                                             Fault *fault = nullptr, std::vector<ModelNode> *nodes = nullptr);

struct OperatorVersions {
  std::string name;
  int first, last; // opset versions
};

/// What can be imported of the default domain, by name.
std::vector<OperatorVersions> supportedOperators();

} // namespace llmc
