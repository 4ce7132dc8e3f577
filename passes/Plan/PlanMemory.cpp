// Lifetimes and offsets of arena buffers.
#include "passes/Plan/Passes.h"
#include "runtime/plan/ArenaPlanner.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Plan/Passes.h.inc"
namespace {

/// What every CPU kernel may assume of arena buffers.
constexpr int64_t arenaAlignment = 64;

struct PlanMemoryPass : impl::PlanMemoryPassBase<PlanMemoryPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::MapVector<Operation *, ArenaItem> items;
    uint32_t step = 0;
    for (Operation &op : getOperation().getBody().front()) {
      if (!isa<plan::DispatchOp, plan::CopyOp>(op))
        continue;
      for (Value buffer : op.getOperands())
        if (auto arena = plan::rootOf(buffer).getDefiningOp<plan::ArenaOp>())
          use(items, arena, step);
      ++step;
    }
    if (llvm::any_of(items, [](auto &item) { return item.second.size < 0; }))
      return; // sizes are known at run time only
    SmallVector<ArenaItem> list = llvm::map_to_vector(items, [](auto &item) { return item.second; });
    ArenaPlan placed = planArena(list);
    Builder b(&getContext());
    for (auto [item, offset] : llvm::zip_equal(items, placed.offsets))
      cast<plan::ArenaOp>(item.first).setOffset(offset);
    getOperation()->setAttr("plan.arena", b.getDictionaryAttr({b.getNamedAttr("peak", b.getI64IntegerAttr(placed.peak)),
                                                               b.getNamedAttr("bound", b.getI64IntegerAttr(placed.lowerBound))}));
  }

  static void use(llvm::MapVector<Operation *, ArenaItem> &items, plan::ArenaOp arena, uint32_t step) {
    auto [place, isNew] = items.try_emplace(arena);
    if (isNew) {
      int64_t size = plan::byteSize(arena.getElement(), arena.getDims()).asConstant().value_or(-1);
      place->second = {size, step, step, arenaAlignment};
    }
    place->second.lastStep = step;
  }
};

} // namespace
} // namespace llmc
