//===- VerifyBuffers.cpp - What each kind of buffer refers to -----------------------------------------------------===//

#include "runtime/plan/verify/Verify.h"

namespace llmc::rt {

using plan::BufKind;

uint32_t BodyContext::deviceOfBuffer(uint32_t index) const {
  const plan::Buffer *root = body.buffers()->Get(bufferRoot[index]);
  if (root->kind() == BufKind::ARENA)
    return body.arenas()->Get(root->arena())->device();
  return root->kind() == BufKind::CONSTANT ? root->device() : deviceOfQueue(0);
}

static bool isAncestorOrSelf(const BodyContext &context, uint32_t ancestor, uint32_t block) {
  while (block != ancestor && block != 0)
    block = context.blockParent[block];
  return block == ancestor;
}

static Status verifyExprs(const BodyContext &context, const plan::Buffer &buffer) {
  uint32_t numExprs = count(context.body.blocks()->Get(buffer.block())->exprs());
  if (buffer.size() >= numExprs)
    return fail("buffer-size", "size is expression ", buffer.size(), " of ", numExprs);
  if (count(buffer.dims()) > kMaxRank)
    return fail("buffer-dims", "rank ", count(buffer.dims()), " is above ", kMaxRank);
  for (uint32_t d = 0; d < count(buffer.dims()); ++d)
    if (buffer.dims()->Get(d) >= numExprs)
      return fail("buffer-dims", "dim ", d, " is expression ", buffer.dims()->Get(d), " of ", numExprs);
  bool placed = buffer.kind() == BufKind::VIEW || (buffer.kind() == BufKind::ARENA && buffer.offset() != kNone);
  if (placed && buffer.offset() >= numExprs)
    return fail("buffer-offset", "offset is expression ", buffer.offset(), " of ", numExprs);
  return {};
}

/// An INPUT or OUTPUT is the buffer that the entry's spec names.
static Status verifyBoundary(const BodyContext &context, uint32_t i, const plan::Buffer &buffer) {
  bool isInput = buffer.kind() == BufKind::INPUT;
  const auto *specs = isInput ? context.entry.inputs() : context.entry.outputs();
  if (buffer.index() >= count(specs) || specs->Get(buffer.index())->buffer() != i)
    return fail("buffer-boundary", "is not the buffer of ", isInput ? "input " : "output ", buffer.index());
  const plan::TensorSpec *spec = specs->Get(buffer.index());
  if (buffer.block() != 0 || buffer.dtype() != spec->dtype())
    return fail("buffer-boundary", "is of block ", buffer.block(), " and type ", plan::EnumNameDType(buffer.dtype()),
                ", '", text(spec->name()), "' is ", plan::EnumNameDType(spec->dtype()));
  return {};
}

static Status verifyKind(const BodyContext &context, uint32_t i, const plan::Buffer &buffer) {
  switch (buffer.kind()) {
  case BufKind::ARENA:
    if (buffer.arena() >= count(context.body.arenas()))
      return fail("buffer-arena", "arena ", buffer.arena(), " of ", count(context.body.arenas()));
    return {};
  case BufKind::INPUT:
  case BufKind::OUTPUT:
    return verifyBoundary(context, i, buffer);
  case BufKind::CONSTANT:
    if (buffer.index() >= count(context.file.plan.constants()))
      return fail("buffer-constant", "constant ", buffer.index(), " of ", count(context.file.plan.constants()));
    if (buffer.device() >= context.body.devices()->size())
      return fail("buffer-device", "device ", buffer.device(), " of ", context.body.devices()->size());
    return {};
  case BufKind::VIEW: {
    const auto &buffers = *context.body.buffers();
    if (buffer.parent() >= buffers.size() || buffers.Get(buffer.parent())->block() >= context.body.blocks()->size() ||
        !isAncestorOrSelf(context, buffers.Get(buffer.parent())->block(), buffer.block()))
      return fail("buffer-parent", "buffer ", buffer.parent(), " of ", buffers.size(),
                  " is not of this block or one around it");
    return {};
  }
  default:
    return fail("buffer-kind", "unknown kind ", int(buffer.kind()));
  }
}

static Status verifyBuffer(const BodyContext &context, uint32_t i, const plan::Buffer &buffer) {
  if (!isKnown(buffer.dtype()))
    return fail("buffer-type", "unknown element type ", int(buffer.dtype()));
  if (buffer.block() >= context.body.blocks()->size())
    return fail("buffer-block", "block ", buffer.block(), " of ", context.body.blocks()->size());
  LLMC_TRY(verifyExprs(context, buffer));
  return verifyKind(context, i, buffer);
}

/// Follows parents to the buffer that owns the bytes; marks the way, so that all chains together cost one pass.
static Status findRoots(BodyContext &context) {
  const auto &buffers = *context.body.buffers();
  context.bufferRoot.assign(buffers.size(), kNone);
  std::vector<uint32_t> chain;
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    chain.clear();
    uint32_t at = i;
    while (context.bufferRoot[at] == kNone && buffers.Get(at)->kind() == BufKind::VIEW) {
      if (chain.size() >= buffers.size())
        return fail("view-cycle", "buffer ", i, " is a view of itself");
      chain.push_back(at);
      at = buffers.Get(at)->parent();
    }
    uint32_t root = context.bufferRoot[at] == kNone ? at : context.bufferRoot[at];
    context.bufferRoot[at] = root;
    for (uint32_t link : chain)
      context.bufferRoot[link] = root;
  }
  return {};
}

static Status verifySpecBuffers(const BodyContext &context, bool inputs) {
  const auto *specs = inputs ? context.entry.inputs() : context.entry.outputs();
  BufKind kind = inputs ? BufKind::INPUT : BufKind::OUTPUT;
  for (uint32_t i = 0; i < count(specs); ++i) {
    uint32_t buffer = specs->Get(i)->buffer(), numBuffers = context.body.buffers()->size();
    if (buffer >= numBuffers || context.body.buffers()->Get(buffer)->kind() != kind ||
        context.body.buffers()->Get(buffer)->index() != i)
      return fail("spec-buffer", "'", text(specs->Get(i)->name()), "' names buffer ", buffer, " of ", numBuffers,
                  ", which is not its own");
  }
  return {};
}

Status verifyBuffers(BodyContext &context) {
  const auto &buffers = *context.body.buffers();
  if (buffers.size() > kMaxBuffers)
    return fail("buffers", buffers.size(), " buffers are more than ", kMaxBuffers);
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (Status status = verifyBuffer(context, i, *buffers.Get(i)); !status.ok())
      return std::move(status).in(concat("buffer ", i, " '", text(buffers.Get(i)->name()), "'"));
  LLMC_TRY(verifySpecBuffers(context, true));
  LLMC_TRY(verifySpecBuffers(context, false));
  return findRoots(context);
}

} // namespace llmc::rt
