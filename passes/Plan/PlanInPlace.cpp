// Results over inputs that die.
#include "passes/Plan/Lifetimes.h"
#include "passes/Plan/Passes.h"
#include "mlir/IR/Remarks.h"
#include <map>

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_PLANINPLACEPASS
#include "passes/Plan/Passes.h.inc"
namespace {

using KernelResult = std::pair<Operation *, unsigned>; // of a dispatch function

/// One body, with the lifetimes of the buffers that own bytes as they are by now.
class BodyBuffers {
public:
  explicit BodyBuffers(plan::BodyOp body) : lifetimes(body), lives(lifetimes.roots().begin(), lifetimes.roots().end()) {}

  /// Whether result `output` of `step` can lie on `input`.
  bool mayReplace(plan::DispatchOp step, Value input, Value output) const;
  /// Makes `output` a view of `input`.
  void replace(Value input, Value output);

private:
  Lifetimes lifetimes;
  llvm::DenseMap<Value, Lifetime> lives;
};

bool BodyBuffers::mayReplace(plan::DispatchOp step, Value input, Value output) const {
  Value root = plan::rootOf(input);
  auto target = output.getDefiningOp<plan::ArenaOp>(), arena = root.getDefiningOp<plan::ArenaOp>();
  if (!target || !arena || target.getArena() != arena.getArena() || target.getOffset() || arena.getOffset())
    return false;
  auto source = input.getDefiningOp<plan::BufferOpInterface>();
  if (plan::byteSize(source.getElement(), source.getDims()) != plan::byteSize(target.getElement(), target.getDims()))
    return false;
  // No other binding of the step sees the bytes; no other step uses them later, or the output before.
  auto isSeen = [&](Value buffer) { return plan::rootOf(buffer) == root || buffer == output; };
  uint32_t now = lifetimes.of(step).first;
  if (llvm::count_if(step.getBuffers(), isSeen) != 2 || lives.at(root).last != now || lives.at(output).first != now)
    return false;
  return source->getBlock() == target->getBlock() && source->isBeforeInBlock(target);
}

void BodyBuffers::replace(Value input, Value output) {
  auto target = output.getDefiningOp<plan::ArenaOp>();
  lives[plan::rootOf(input)].last = lives.at(output).last;
  lives.erase(output);
  OpBuilder b(target);
  graph::DimExpr start = graph::DimExpr::constant(b.getContext(), 0);
  // Of the root itself, or chains of results over results would make chains of views.
  for (auto view = input.getDefiningOp<plan::ViewOp>(); view; view = input.getDefiningOp<plan::ViewOp>()) {
    start = start + graph::DimExpr(view.getOffset());
    input = view.getParent();
  }
  Value view = plan::ViewOp::create(b, target.getLoc(), input, start.attribute(), target.getElement(), target.getDims());
  target.replaceAllUsesWith(view);
  target.erase();
}

struct PlanInPlacePass : impl::PlanInPlacePassBase<PlanInPlacePass> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<plan::BodyOp> bodies;
    getOperation().walk([&](plan::BodyOp body) { bodies.push_back(body); });
    llvm::MapVector<KernelResult, std::map<int64_t, unsigned>> votes; // argument -> steps
    for (plan::BodyOp body : bodies) {
      BodyBuffers buffers(body);
      forEachResult(body, symbols, [&](plan::DispatchOp step, func::FuncOp kernel, unsigned result) {
        for (int64_t argument : candidates(kernel, result))
          if (buffers.mayReplace(step, step.inputs()[argument], step.outputs()[result]))
            ++votes[{kernel, result}][argument];
      });
    }
    for (auto &[place, steps] : votes) {
      auto mostSteps = [](const auto &a, const auto &b) { return a.second < b.second; };
      int64_t argument = std::max_element(steps.begin(), steps.end(), mostSteps)->first;
      cast<func::FuncOp>(place.first)
          .setResultAttr(place.second, "graph.replaces", Builder(&getContext()).getI64IntegerAttr(argument));
    }
    for (plan::BodyOp body : bodies)
      placeAll(body, symbols);
  }

  static void placeAll(plan::BodyOp body, SymbolTable &symbols) {
    BodyBuffers buffers(body);
    forEachResult(body, symbols, [&](plan::DispatchOp step, func::FuncOp kernel, unsigned result) {
      auto argument = kernel.getResultAttrOfType<IntegerAttr>(result, "graph.replaces");
      if (!argument || !buffers.mayReplace(step, step.inputs()[argument.getInt()], step.outputs()[result]))
        return;
      remark::passed(step.getLoc(), remark::RemarkOpts::name("InPlace").category("plan-in-place"))
          << remark::metric("input", argument.getInt());
      buffers.replace(step.inputs()[argument.getInt()], step.outputs()[result]);
    });
  }

  static ArrayRef<int64_t> candidates(func::FuncOp kernel, unsigned result) {
    auto arguments = kernel.getResultAttrOfType<DenseI64ArrayAttr>(result, "graph.may_replace");
    return arguments ? arguments.asArrayRef() : ArrayRef<int64_t>();
  }

  /// In program order.
  static void forEachResult(plan::BodyOp body, SymbolTable &symbols,
                            llvm::function_ref<void(plan::DispatchOp, func::FuncOp, unsigned)> visit) {
    body.walk<WalkOrder::PreOrder>([&](plan::DispatchOp step) {
      auto kernel = symbols.lookup<func::FuncOp>(step.getKernel());
      for (unsigned result = 0; kernel && result < step.getWritten(); ++result)
        visit(step, kernel, result);
    });
  }
};

} // namespace
} // namespace llmc
