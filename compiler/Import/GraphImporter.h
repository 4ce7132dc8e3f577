// The nodes of a graph -> ops in a block, one converter per node.
#pragma once

#include "compiler/Import/NodeContext.h"
#include "llvm/ADT/StringMap.h"

namespace llmc {

/// As the tables of converters name it: with its domain, but for the default one.
std::string operatorOf(const onnx::NodeProto &node);

/// The names of one graph while its nodes are imported into `block`.
struct GraphScope {
  GraphScope *outer; // null for the model's graph
  mlir::Block *block;
  llvm::StringMap<Item> values;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// Values whose node had a problem.
  llvm::StringSet<> poisoned;
  /// Outputs that their converter does not make: label and reason, wrong only if something reads them.
  llvm::StringMap<std::string> unproduced;
};

class GraphImporter {
public:
  explicit GraphImporter(mlir::MLIRContext &context) : context(context) {}
  /// Reported so far.
  llvm::SmallVector<ImportProblem> problems;

  mlir::Location locationOf(std::string_view name);
  void report(std::string_view label, const llvm::Twine &reason, bool isOfSizes = false);
  /// Prints what was reported, and how much it is; true if nothing was.
  bool printProblems(std::string_view model);
  /// Imports the nodes at the end of the scope's block.
  void addNodes(ImportState &state, const FlatGraph &graph, GraphScope &scope);
  /// The value of that name, of this graph or one around it; null, after a report, if a problem left it without one.
  Item valueOf(ImportState &state, GraphScope &scope, const std::string &name);

private:
  void addNode(ImportState &state, const FlatNode &node, GraphScope &scope);
  std::optional<llvm::SmallVector<Item>> addGraph(ImportState &state, const FlatGraph &graph, GraphScope &outer,
                                                  llvm::ArrayRef<Item> inputs, llvm::StringRef label);
  static bool isPoisoned(const GraphScope &scope, const std::string &name);
  Item stringsOf(ImportState &state, GraphScope &scope, const onnx::TensorProto &tensor);
  mlir::Value initializerOf(ImportState &state, GraphScope &scope, const std::string &name);

  mlir::MLIRContext &context;
};

} // namespace llmc
