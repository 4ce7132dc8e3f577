// See NodeFates.h.
#include "compiler/Report/NodeFates.h"
#include "dialects/Plan/Plan.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace llmc {
namespace {

struct Instrumentation final : PassInstrumentation {
  explicit Instrumentation(NodeFates &fates) : fates(fates) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument().empty()) // an adaptor: its passes have been observed
      return;
    auto module = dyn_cast<ModuleOp>(op);
    fates.observe(module ? module : op->getParentOfType<ModuleOp>(), pass->getArgument());
  }

  NodeFates &fates;
};

/// Of a node that is in no step at the end.
StringRef fateOf(bool isView, bool isFolded, StringRef pass) {
  if (isView)
    return "view"; // the bytes of its input, seen in another shape
  if (isFolded)
    return "folded"; // computed by the compiler
  if (pass == "graph-resolve-shapes" || pass == "graph-infer-shapes")
    return "shape"; // an expression over the model's dims
  return "removed";  // does nothing, does what another does, or is read by nothing
}

} // namespace

NodeFates::NodeFates(std::vector<ModelNode> all) : nodes(std::move(all)), presence(nodes.size(), Computed), pass(nodes.size()), constants(nodes.size()) {
  for (auto [i, node] : llvm::enumerate(nodes))
    byName[node.name] = i;
}

const std::vector<size_t> &NodeFates::nodesOf(Location loc) {
  auto [known, isNew] = cache.try_emplace(loc);
  if (isNew)
    for (const std::string &name : graph::sourceNames(loc))
      if (auto node = byName.find(name); node != byName.end())
        known->second.push_back(node->second);
  return known->second;
}

void NodeFates::observe(ModuleOp module, StringRef after) {
  std::vector<Presence> now(nodes.size(), Gone);
  module.walk([&](Operation *op) {
    Presence kind = isa<graph::ConstantOp, plan::ConstantOp>(op) ? Constant : isa<graph::ViewOp, plan::ViewOp>(op) ? View : Computed;
    for (size_t node : nodesOf(op->getLoc()))
      now[node] = std::max(now[node], kind);
  });
  for (size_t i = 0; i < nodes.size(); ++i)
    if (presence[i] == Computed && now[i] != Computed)
      pass[i] = after.str();
  if (after == "import")
    for (size_t i = 0; i < nodes.size(); ++i)
      constants[i] = now[i] == Constant;
  presence = std::move(now);
}

std::vector<NodeReport> NodeFates::report(ArrayRef<StepReport> steps, ArrayRef<RemarkReport> remarks) const {
  llvm::StringSet<> folded;
  for (const RemarkReport &remark : remarks)
    if (remark.name == "Folded")
      folded.insert_range(remark.nodes);
  std::vector<NodeReport> result;
  for (const ModelNode &node : nodes)
    result.push_back({node.name, node.op, "", "", {}});
  for (auto [i, step] : llvm::enumerate(steps))
    for (const std::string &name : step.nodes)
      if (auto node = byName.find(name); node != byName.end())
        result[node->second].steps.push_back(i);
  for (auto [i, node] : llvm::enumerate(result)) {
    if (nodes[i].isCall) {
      node.fate = "inlined";
    } else if (constants[i]) {
      node.fate = node.op == "Constant" ? "constant" : "folded";
    } else if (!node.steps.empty()) {
      bool isAlone = llvm::any_of(node.steps, [&](size_t step) { return steps[step].nodes.size() == 1; });
      node.fate = isAlone ? "step" : "fused";
    } else {
      node.fate = fateOf(presence[i] == View, presence[i] == Constant || folded.contains(node.name), pass[i]);
      node.pass = pass[i];
    }
  }
  return result;
}

std::unique_ptr<PassInstrumentation> NodeFates::instrumentation() { return std::make_unique<Instrumentation>(*this); }

} // namespace llmc
