// Offsets of arena buffers.
#include "passes/Plan/Lifetimes.h"
#include "passes/Plan/Passes.h"
#include "runtime/plan/ArenaPlanner.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Plan/Passes.h.inc"
namespace {

/// The buffers in one arena of a body.
struct ArenaContents {
  SmallVector<plan::ArenaOp> ops;
  SmallVector<ArenaItem> items;
};

struct PlanMemoryPass : impl::PlanMemoryPassBase<PlanMemoryPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto body : getOperation().getBodies().front().getOps<plan::BodyOp>())
      planBody(body);
  }

  static void planBody(plan::BodyOp body) {
    SmallVector<plan::ArenaAttr> arenas = body.arenaList();
    SmallVector<ArenaContents> contents(arenas.size());
    Lifetimes lifetimes(body);
    for (auto [root, time] : lifetimes.roots()) {
      auto arena = root.getDefiningOp<plan::ArenaOp>();
      if (!arena)
        continue;
      std::optional<int64_t> size = plan::byteSize(arena.getElement(), arena.getDims()).asConstant();
      if (!size)
        return; // sizes are known at run time only
      contents[arena.getArena()].ops.push_back(arena);
      contents[arena.getArena()].items.push_back({*size, time.first, time.last, arenas[arena.getArena()].getAlignment()});
    }
    int64_t peak = 0, bound = 0;
    for (ArenaContents &arena : contents) {
      ArenaPlan placed = planArena(arena.items);
      for (auto [op, offset] : llvm::zip_equal(arena.ops, placed.offsets))
        op.setOffset(offset);
      peak += placed.peak;
      bound += placed.lowerBound;
    }
    body.setArenaPeak(peak);
    body.setArenaBound(bound);
  }
};

} // namespace
} // namespace llmc
