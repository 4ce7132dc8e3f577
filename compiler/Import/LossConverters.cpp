// Losses of classification: what the log of the right class's probability lacks to 0.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// Sums or averages over all elements. An average with weights divides by their sum.
Value reduced(NodeContext &node, Value losses, Value weights) {
  std::string reduction = node.stringAttribute("reduction", "mean");
  NamedAttribute all = node.named("axes", llvm::to_vector(llvm::seq<int64_t>(0, node.rank(losses))));
  if (reduction == "none")
    return losses;
  if (reduction == "sum")
    return node.create<ReduceSumOp>({losses}, all);
  if (reduction != "mean") {
    node.fail("reduction '" + reduction + "' is none of 'none', 'sum' and 'mean'");
    return {};
  }
  if (!weights)
    return node.create<ReduceMeanOp>({losses}, all);
  return node.create<DivOp>({node.create<ReduceSumOp>({losses}, all), node.create<ReduceSumOp>({weights}, all)});
}

/// The loss of log probabilities [batch, classes, ...] for the classes [batch, ...] of the targets, each weighted by its class.
Value negativeLogLikelihood(NodeContext &node, Value logs, Value targets) {
  Value classWeights = node.optionalInput(2), zero = node.scalar(logs, 0), ignored, weights;
  if (std::optional<int64_t> ignore = node.intAttribute("ignore_index")) {
    ignored = node.create<EqualOp>({targets, castTo(node, node.indices({*ignore}), node.elementType(targets))});
    targets = node.create<WhereOp>({ignored, node.scalar(targets, 0), targets}); // it may be no class
  }
  NamedAttribute classAxis = node.named("axes", ArrayRef<int64_t>{1});
  Value index = node.create<UnsqueezeOp>({targets}, classAxis);
  Value losses = node.create<NegOp>({node.create<GatherElementsOp>({logs, index}, node.named("axis", int64_t(1)))});
  losses = node.create<SqueezeOp>({losses}, classAxis);
  if (classWeights) {
    weights = node.create<GatherOp>({classWeights, targets}, node.named("axis", int64_t(0)));
    losses = node.create<MulOp>({losses, weights});
  }
  if (ignored) {
    weights = node.create<WhereOp>({ignored, zero, weights ? weights : node.scalar(logs, 1)});
    losses = node.create<WhereOp>({ignored, zero, losses});
  }
  return reduced(node, losses, weights);
}

void negativeLogLikelihoodLoss(NodeContext &node) {
  Value logs = node.input(0), targets = node.input(1);
  node.result(negativeLogLikelihood(node, logs, targets));
}

void softmaxCrossEntropyLoss(NodeContext &node) {
  Value scores = node.input(0), targets = node.input(1);
  Value logs = node.create<LogSoftmaxOp>({scores}, node.named("axis", int64_t(1)));
  node.result(negativeLogLikelihood(node, logs, targets));
  node.result(logs);
}

constexpr Converter table[] = {
    {"NegativeLogLikelihoodLoss", 12, newest, negativeLogLikelihoodLoss},
    {"SoftmaxCrossEntropyLoss", 12, newest, softmaxCrossEntropyLoss},
};

} // namespace

ArrayRef<Converter> lossConverters() { return table; }

} // namespace llmc
