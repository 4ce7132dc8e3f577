// Matrix products.
#include "compiler/Import/Converters.h"
#include "compiler/Import/Stretching.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

void matMul(NodeContext &node) {
  node.result(node.create<MatMulOp>(stretched(node, {node.input(0), node.input(1)}, /*own=*/2)));
}

Value transposed(NodeContext &node, Value matrix) {
  return node.create<TransposeOp>({matrix}, {node.named("perm", ArrayRef<int64_t>{1, 0})});
}

Value scaled(NodeContext &node, double factor, Value value) {
  return factor == 1.0 ? value : node.create<MulOp>({node.scalar(value, factor), value});
}

/// alpha * A' * B' + beta * C
void gemm(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1), beta = node.floatAttribute("beta", 1);
  bool transA = node.intAttribute("transA", 0), transB = node.intAttribute("transB", 0);
  if (node.version < 7)
    node.ignoreAttribute("broadcast"); // C may always be broadcast since, and numpy's rule contains the old one
  Value a = node.input(0), b = node.input(1), c = node.version < 11 ? node.input(2) : node.optionalInput(2);
  for (Value matrix : {a, b})
    if (matrix && node.rank(matrix) != 2)
      return node.fail("expects matrices, got rank " + Twine(node.rank(matrix)));
  Value product = node.create<MatMulOp>({transA ? transposed(node, a) : a, transB ? transposed(node, b) : b});
  product = scaled(node, alpha, product);
  if (c && node.rank(c) > 2)
    return node.fail("expects C of rank 2 or less, got " + Twine(node.rank(c)));
  node.result(c && beta != 0 ? node.create<AddOp>({product, scaled(node, beta, c)}) : product);
}

void det(NodeContext &node) { node.result(node.createAll<DetOp>({node.input(0)}).front()); }

constexpr Converter table[] = {
    {"MatMul", 1, newest, matMul},
    {"Gemm", 1, newest, gemm},
    {"Det", 11, newest, det},
};

} // namespace

ArrayRef<Converter> contractionConverters() { return table; }

} // namespace llmc
