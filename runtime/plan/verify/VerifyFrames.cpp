//===- VerifyFrames.cpp - Symbols and expressions of each block, guards of the body -------------------------------===//

#include "runtime/plan/verify/Verify.h"

namespace llmc::rt {

using plan::ExprOp;
using plan::SymbolSource;

std::span<const plan::ExprNode> exprNodes(const flatbuffers::Vector<const plan::ExprNode *> *vector) {
  if (!vector)
    return {};
  return {reinterpret_cast<const plan::ExprNode *>(vector->Data()), vector->size()};
}

static Status verifyExprNode(std::span<const plan::ExprNode> nodes, uint32_t i, uint32_t numSymbols) {
  const plan::ExprNode &node = nodes[i];
  if (!isKnown(node.op()))
    return fail("expr-op", "expression ", i, " has unknown operation ", int(node.op()));
  if (node.op() == ExprOp::CONST)
    return {};
  if (node.op() == ExprOp::SYM) {
    if (node.imm() < 0 || node.imm() >= int64_t(numSymbols))
      return fail("expr-symbol", "expression ", i, " names symbol ", node.imm(), " of ", numSymbols);
    return {};
  }
  if (node.lhs() >= i || node.rhs() >= i)
    return fail("expr-operand", "expression ", i, " has operands ", node.lhs(), " and ", node.rhs(),
                ", which do not come before it");
  const plan::ExprNode &rhs = nodes[node.rhs()];
  bool divides = node.op() == ExprOp::FLOORDIV || node.op() == ExprOp::CEILDIV || node.op() == ExprOp::MOD ||
                 node.op() == ExprOp::ALIGN_UP;
  if (divides && rhs.op() == ExprOp::CONST && rhs.imm() <= 0)
    return fail("expr-divisor", "expression ", i, " divides by ", rhs.imm());
  return {};
}

Status verifyExprNodes(std::span<const plan::ExprNode> nodes, uint32_t numSymbols) {
  for (uint32_t i = 0; i < nodes.size(); ++i)
    LLMC_TRY(verifyExprNode(nodes, i, numSymbols));
  return {};
}

static Status verifyInputDim(const plan::EntryPoint &entry, const plan::Symbol &symbol, bool isRoot) {
  if (!isRoot)
    return fail("symbol-source", "an input's dim is known in the root block only");
  if (symbol.input() >= count(entry.inputs()) || symbol.dim() >= count(entry.inputs()->Get(symbol.input())->dims()))
    return fail("symbol-input", "there is no dim ", symbol.dim(), " of input ", symbol.input());
  return {};
}

static Status verifySymbol(const plan::EntryPoint &entry, const plan::Symbol &symbol, bool isRoot) {
  if (!isKnown(symbol.source()))
    return fail("symbol-source", "unknown source ", int(symbol.source()));
  if (symbol.lo() > symbol.hi())
    return fail("symbol-range", "empty range ", symbol.lo(), "..", symbol.hi());
  if (symbol.source() == SymbolSource::INPUT_DIM)
    return verifyInputDim(entry, symbol, isRoot);
  if (symbol.source() == SymbolSource::FRAME_ARGUMENT && isRoot)
    return fail("symbol-source", "the root block has no frame arguments");
  return {};
}

static Status verifyGuards(const plan::Body &body) {
  LLMC_TRY(verifyAligned(body.guards(), "guards"));
  uint32_t numExprs = count(body.blocks()->Get(0)->exprs());
  for (uint32_t i = 0; i < count(body.guards()); ++i)
    LLMC_TRY(verifyGuard(*body.guards()->Get(i), numExprs));
  return {};
}

Status verifyGuard(const plan::Guard &guard, uint32_t numExprs) {
  if (guard.expr() >= numExprs)
    return fail("guard-expr", "guard names expression ", guard.expr(), " of ", numExprs);
  if (!isKnown(guard.cmp()) || (guard.cmp() == plan::Cmp::DIVISIBLE && guard.bound() <= 0))
    return fail("guard-comparison", "guard compares by ", int(guard.cmp()), " with ", guard.bound());
  return {};
}

/// All dims of the entry's tensors are expressions of the root frame of each body.
static Status verifySpecDims(const plan::EntryPoint &entry, uint32_t numExprs) {
  for (const auto *specs : {entry.inputs(), entry.outputs()})
    for (uint32_t i = 0; i < count(specs); ++i)
      for (uint32_t d = 0; d < count(specs->Get(i)->dims()); ++d)
        if (specs->Get(i)->dims()->Get(d) >= numExprs)
          return fail("spec-dims", "'", text(specs->Get(i)->name()), "' names expression ",
                      specs->Get(i)->dims()->Get(d), " of ", numExprs);
  return {};
}

Status verifyFrames(BodyContext &context) {
  const auto &blocks = *context.body.blocks();
  if (blocks.size() == 0)
    return fail("blocks", "no block");
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    const plan::Block *block = blocks.Get(b);
    for (uint32_t i = 0; i < count(block->symbols()); ++i) {
      const plan::Symbol *symbol = block->symbols()->Get(i);
      if (Status status = verifySymbol(context.entry, *symbol, b == 0); !status.ok())
        return std::move(status).in(concat("block ", b, ", symbol '", text(symbol->name()), "'"));
    }
    LLMC_TRY(verifyAligned(block->exprs(), "exprs"));
    if (Status status = verifyExprNodes(exprNodes(block->exprs()), count(block->symbols())); !status.ok())
      return std::move(status).in(concat("block ", b));
  }
  LLMC_TRY(verifySpecDims(context.entry, count(blocks.Get(0)->exprs())));
  return verifyGuards(context.body);
}

} // namespace llmc::rt
