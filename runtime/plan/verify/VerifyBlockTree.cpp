//===- VerifyBlockTree.cpp - Each block but the root is entered by exactly one step -------------------------------===//

#include "runtime/plan/verify/Verify.h"

namespace llmc::rt {

static Status enter(BodyContext &context, uint32_t from, uint32_t block) {
  uint32_t numBlocks = context.body.blocks()->size();
  if (block >= numBlocks || block == 0)
    return fail("block-index", "a step of block ", from, " enters block ", block, " of ", numBlocks);
  if (context.blockParent[block] != kNone)
    return fail("block-tree", "block ", block, " is entered by two steps");
  context.blockParent[block] = from;
  return {};
}

static Status enterFromStep(BodyContext &context, uint32_t from, const plan::Step &step) {
  if (const plan::If *branch = step.body_as_If()) {
    LLMC_TRY(enter(context, from, branch->then_block()));
    if (branch->else_block() != kNone)
      LLMC_TRY(enter(context, from, branch->else_block()));
  } else if (const plan::Loop *loop = step.body_as_Loop()) {
    LLMC_TRY(enter(context, from, loop->body_block()));
  }
  return {};
}

/// Every chain of parents ends at the root: otherwise two blocks enter each other.
static Status verifyReachesRoot(const BodyContext &context, uint32_t block) {
  uint32_t depth = 0;
  for (uint32_t at = block; at != 0; at = context.blockParent[at])
    if (context.blockParent[at] == kNone || ++depth > kMaxBlockDepth)
      return fail("block-tree", "block ", block, " is not reached from the root within ", kMaxBlockDepth, " levels");
  return {};
}

Status verifyBlockTree(BodyContext &context) {
  const auto &blocks = *context.body.blocks();
  context.blockParent.assign(blocks.size(), kNone);
  for (uint32_t b = 0; b < blocks.size(); ++b)
    for (const plan::Step *step : *blocks.Get(b)->steps())
      LLMC_TRY(enterFromStep(context, b, *step));
  for (uint32_t b = 1; b < blocks.size(); ++b)
    LLMC_TRY(verifyReachesRoot(context, b));
  return {};
}

} // namespace llmc::rt
