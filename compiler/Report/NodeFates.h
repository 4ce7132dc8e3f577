// Follows the nodes of a model through the passes.
#ifndef LLMC_COMPILER_REPORT_NODEFATES_H
#define LLMC_COMPILER_REPORT_NODEFATES_H

#include "compiler/Import/OnnxImporter.h"
#include "compiler/Report/Report.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringMap.h"

namespace llmc {

/// A node is in the graph as long as an op has its name in its location. `observe` notes which are after each pass, so that a node
/// that is in no step at the end has a pass to name.
class NodeFates {
public:
  explicit NodeFates(std::vector<ModelNode> nodes);

  void observe(mlir::ModuleOp module, llvm::StringRef pass);
  /// To be called with the steps of the plan and what the passes said. Each node has exactly one fate.
  std::vector<NodeReport> report(llvm::ArrayRef<StepReport> steps, llvm::ArrayRef<RemarkReport> remarks) const;

  /// Observes after each pass; `this` must live as long.
  std::unique_ptr<mlir::PassInstrumentation> instrumentation();

private:
  enum Presence : char { Gone, Constant, View, Computed };
  const std::vector<size_t> &nodesOf(mlir::Location loc);

  std::vector<ModelNode> nodes;
  llvm::StringMap<size_t> byName;
  std::vector<Presence> presence; // of each node, in the last module observed
  std::vector<std::string> pass;  // after which each node was no longer computed
  llvm::BitVector constants;      // which the importer made constants
  llvm::DenseMap<mlir::Location, std::vector<size_t>> cache;
};

} // namespace llmc

#endif // LLMC_COMPILER_REPORT_NODEFATES_H
