// Transposed convolution whose windows do not overlap -> convolution of size 1, and its results put side by side.
#include "mlir/IR/Remarks.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/PushTransposes.h"
#include "passes/Graph/ShapeAnalysis.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_EXPANDCONVTRANSPOSEPASS
#include "passes/Graph/Passes.h.inc"
namespace {

constexpr int64_t rank = 4; // [N, C, H, W]

bool areAll(ArrayRef<int64_t> values, int64_t expected) { return llvm::all_equal(values) && values.front() == expected; }

/// Why the op stays; empty if it need not.
StringRef reasonToStay(graph::ConvTransposeOp op, const ShapeAnalysis &analysis) {
  auto x = cast<RankedTensorType>(op.getX().getType()), weight = cast<RankedTensorType>(op.getWeight().getType());
  if (x.getRank() != rank || x.isDynamicDim(1) || !weight.hasStaticShape() || !allKnown(analysis.dims(op.getX())))
    return "it is not over images with a static number of channels";
  if (weight.getShape().drop_front(2) != op.getStrides() || !areAll(op.getDilations(), 1))
    return "its windows overlap, or leave gaps";
  bool mayCut = op.getAutoPad() ? op.getOutputShape().has_value() : !areAll(op.getPads(), 0);
  if (mayCut || !areAll(op.getOutputPadding(), 0) || op.getGroup() != 1)
    return "it cuts off or adds elements, or has groups";
  return {};
}

/// Builds the pieces at the place of one op.
class Expansion {
public:
  Expansion(graph::ConvTransposeOp op, const ShapeAnalysis &analysis) : op(op), builder(op), x(analysis.dims(op.getX())) {
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(op.getWeight().getType()).getShape();
    channels = sizes[0], results = sizes[1], height = sizes[2], width = sizes[3];
  }

  Value build() {
    Value image = transposed(op.getX(), toChannelsLast(rank));
    SmallVector<Value> operands = {image, weight()};
    if (op.getBias())
      operands.push_back(bias());
    graph::DimExpr all = number(height * width * results);
    Value each = conv(operands, {x[0], x[2], x[3], all});
    Value apart = view(each, {x[0], x[2], x[3], number(height), number(width), number(results)});
    Value rows = transposed(apart, {0, 1, 3, 2, 4, 5});
    Value joined = view(rows, {x[0], x[2] * height, x[3] * width, number(results)});
    return transposed(joined, toChannelsFirst(rank));
  }

private:
  graph::DimExpr number(int64_t value) { return graph::DimExpr::constant(op.getContext(), value); }
  Type element() { return op.getType().getElementType(); }

  Value view(Value value, ArrayRef<graph::DimExpr> dims) {
    auto type = RankedTensorType::get(graph::staticSizes(dims), element());
    return graph::ViewOp::create(builder, op.getLoc(), type, value, graph::dimsAttr(op.getContext(), dims));
  }
  Value transposed(Value value, ArrayRef<int64_t> perm) {
    auto type = permuted(cast<RankedTensorType>(value.getType()), perm);
    return graph::TransposeOp::create(builder, op.getLoc(), type, value, perm);
  }
  /// [C, M, kh, kw] -> [kh * kw * M, C, 1, 1]
  Value weight() {
    return view(transposed(op.getWeight(), {2, 3, 1, 0}), {number(height * width * results), number(channels), number(1), number(1)});
  }
  /// Repeated for each tap.
  Value bias() {
    graph::Dims dims = {number(height), number(width), number(results)};
    auto type = RankedTensorType::get(graph::staticSizes(dims), element());
    Value each = graph::BroadcastOp::create(builder, op.getLoc(), type, op.getBias(), graph::dimsAttr(op.getContext(), dims));
    return view(each, {number(height * width * results)});
  }
  Value conv(ArrayRef<Value> operands, ArrayRef<graph::DimExpr> dims) {
    OperationState state(op.getLoc(), graph::ConvOp::getOperationName());
    state.addOperands(operands);
    state.addTypes(RankedTensorType::get(graph::staticSizes(dims), element()));
    auto &properties = state.getOrAddProperties<graph::ConvOp::Properties>();
    properties.strides = properties.dilations = builder.getDenseI64ArrayAttr({1, 1});
    properties.pads = builder.getDenseI64ArrayAttr({0, 0, 0, 0});
    properties.group = builder.getI64IntegerAttr(1);
    properties.channels_last = builder.getUnitAttr();
    return builder.create(state)->getResult(0);
  }

  graph::ConvTransposeOp op;
  OpBuilder builder;
  graph::Dims x;
  int64_t channels, results, height, width;
};

struct ExpandConvTransposePass : impl::ExpandConvTransposePassBase<ExpandConvTransposePass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    ShapeAnalysis analysis(function);
    if (analysis.failed())
      return signalPassFailure();
    SmallVector<graph::ConvTransposeOp> found;
    function.walk([&](graph::ConvTransposeOp op) { found.push_back(op); });
    for (graph::ConvTransposeOp op : found) {
      if (StringRef reason = reasonToStay(op, analysis); !reason.empty()) {
        remark::missed(op.getLoc(), remark::RemarkOpts::name("TransposedConvolution").category("graph-expand-conv-transpose")) << reason;
        continue;
      }
      Value expanded = Expansion(op, analysis).build();
      analysis.alias(expanded, op.getY());
      remark::passed(op.getLoc(), remark::RemarkOpts::name("Expanded").category("graph-expand-conv-transpose"))
          << remark::metric("taps", op.getStrides()[0] * op.getStrides()[1]);
      op.getY().replaceAllUsesWith(expanded);
      op.erase();
    }
  }
};

} // namespace
} // namespace llmc
