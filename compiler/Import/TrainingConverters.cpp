// Steps of optimisers: Adagrad, Adam, Momentum. Each takes the rate, the number of steps so far, and then n tensors of each kind.
#include "compiler/Import/Converters.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

/// The inputs of an optimiser, kind after kind, and its results in the same order.
class Step {
public:
  Step(NodeContext &node, size_t numKinds, size_t numResults)
      : node(node), rate(node.input(0)), count(node.input(1)), results(numResults), numTensors((node.numInputs() - 2) / numKinds) {
    if (node.numInputs() < 2 + numKinds || (node.numInputs() - 2) % numKinds != 0)
      node.fail(Twine(node.numInputs()) + " inputs are not two and " + Twine(numKinds) + " for each tensor");
  }

  /// Runs `update` for each tensor.
  void forEach(function_ref<SmallVector<Value>(size_t i)> update) {
    for (size_t i = 0; i < numTensors && !node.failed(); ++i)
      for (auto [list, value] : llvm::zip_equal(results, update(i)))
        list.push_back(value);
    for (const SmallVector<Value> &list : results)
      for (Value value : list)
        node.result(value);
  }

  Value input(size_t kind, size_t i) { return node.input(2 + kind * numTensors + i); }
  Value add(Value a, Value b) { return node.create<AddOp>({a, b}); }
  Value sub(Value a, Value b) { return node.create<SubOp>({a, b}); }
  Value mul(Value a, Value b) { return node.create<MulOp>({a, b}); }
  Value div(Value a, Value b) { return node.create<DivOp>({a, b}); }
  Value scaled(double factor, Value x) { return mul(node.scalar(x, factor), x); }
  /// The gradient, with the weight decay.
  Value gradient(size_t i, double decay) { return add(scaled(decay, input(0, i)), input(1, i)); }
  /// yes, or `no` in the first step.
  Value unlessFirst(Value yes, Value no) {
    return node.create<WhereOp>({node.create<GreaterOp>({count, node.scalar(count, 0)}), yes, no});
  }

  NodeContext &node;
  Value rate, count;

private:
  SmallVector<SmallVector<Value>> results;
  size_t numTensors;
};

void adagrad(NodeContext &node) {
  double decay = node.floatAttribute("decay_factor", 0), epsilon = node.floatAttribute("epsilon", 0);
  double norm = node.floatAttribute("norm_coefficient", 0);
  Step step(node, 3, 2);
  step.forEach([&](size_t i) -> SmallVector<Value> {
    Value x = step.input(0, i), g = step.gradient(i, norm), h = step.input(2, i);
    if (node.failed())
      return {{}, {}};
    Value steps = step.scaled(decay, castTo(node, step.count, node.elementType(x)));
    Value rate = step.div(castTo(node, step.rate, node.elementType(x)), step.add(steps, node.scalar(x, 1)));
    h = step.add(h, step.mul(g, g));
    Value adaptive = step.add(node.create<SqrtOp>({h}), node.scalar(x, epsilon));
    return {step.sub(x, step.div(step.mul(rate, g), adaptive)), h};
  });
}

void adam(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0.9f), beta = node.floatAttribute("beta", 0.999f);
  double epsilon = node.floatAttribute("epsilon", 0), norm = node.floatAttribute("norm_coefficient", 0);
  double normPost = node.floatAttribute("norm_coefficient_post", 0);
  Step step(node, 4, 3);
  step.forEach([&](size_t i) -> SmallVector<Value> {
    Value x = step.input(0, i), g = step.gradient(i, norm);
    if (node.failed())
      return {{}, {}, {}};
    Value v = step.add(step.scaled(alpha, step.input(2, i)), step.scaled(1 - alpha, g));
    Value h = step.add(step.scaled(beta, step.input(3, i)), step.scaled(1 - beta, step.mul(g, g)));
    Type element = node.elementType(x);
    Value steps = castTo(node, step.count, element), rate = castTo(node, step.rate, element), one = node.scalar(x, 1);
    auto rest = [&](double factor) { return step.sub(one, node.create<PowOp>({node.scalar(x, factor), steps})); };
    Value adjusted = step.div(step.mul(rate, node.create<SqrtOp>({rest(beta)})), rest(alpha));
    Value root = step.add(node.create<SqrtOp>({h}), node.scalar(x, epsilon));
    Value moved = step.sub(x, step.div(step.mul(step.unlessFirst(adjusted, rate), v), root));
    return {step.scaled(1 - normPost, moved), v, h};
  });
}

void momentum(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0), beta = node.floatAttribute("beta", 0), norm = node.floatAttribute("norm_coefficient", 0);
  std::string mode = node.stringAttribute("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    node.fail("mode '" + mode + "' is not supported");
  Step step(node, 3, 2);
  step.forEach([&](size_t i) -> SmallVector<Value> {
    Value x = step.input(0, i), g = step.gradient(i, norm);
    if (node.failed())
      return {{}, {}};
    Value v = step.add(step.scaled(alpha, step.input(2, i)), step.mul(step.unlessFirst(node.scalar(x, beta), node.scalar(x, 1)), g));
    Value move = mode == "standard" ? v : step.add(g, step.scaled(alpha, v));
    return {step.sub(x, step.mul(castTo(node, step.rate, node.elementType(x)), move)), v};
  });
}

constexpr Converter table[] = {
    {"ai.onnx.preview.training.Adagrad", 1, 1, adagrad},
    {"ai.onnx.preview.training.Adam", 1, 1, adam},
    {"ai.onnx.preview.training.Momentum", 1, 1, momentum},
};

} // namespace

ArrayRef<Converter> trainingConverters() { return table; }

} // namespace llmc
