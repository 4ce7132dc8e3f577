// Flattening of expressions: operands first.
#include "compiler/Emit/FrameWriter.h"
#include "dialects/Graph/Graph.h"

using namespace mlir;

namespace llmc {

using graph::DimExpr;

static plan::ExprOp opOf(DimExpr::Kind kind) {
  switch (kind) {
  case DimExpr::Kind::Constant: return plan::ExprOp::CONST;
  case DimExpr::Kind::Symbol: return plan::ExprOp::SYM;
  case DimExpr::Kind::Add: return plan::ExprOp::ADD;
  case DimExpr::Kind::Mul: return plan::ExprOp::MUL;
  case DimExpr::Kind::FloorDiv: return plan::ExprOp::FLOORDIV;
  case DimExpr::Kind::CeilDiv: return plan::ExprOp::CEILDIV;
  case DimExpr::Kind::Mod: return plan::ExprOp::MOD;
  case DimExpr::Kind::Min: return plan::ExprOp::MINOF;
  case DimExpr::Kind::Max: return plan::ExprOp::MAXOF;
  }
  llvm_unreachable("all kinds are handled");
}

uint32_t FrameWriter::push(plan::ExprOp op, int64_t imm, uint32_t lhs, uint32_t rhs) {
  nodes.emplace_back(imm, lhs, rhs, op, 0, 0, 0);
  return nodes.size() - 1;
}

uint32_t FrameWriter::index(DimExpr expr) {
  assert(expr && "only known expressions are written");
  Attribute key = expr.attribute();
  if (auto found = written.find(key); found != written.end())
    return found->second;
  uint32_t result = 0;
  if (auto value = expr.asConstant()) {
    result = push(plan::ExprOp::CONST, *value);
  } else if (expr.kind() == DimExpr::Kind::Symbol) {
    result = push(plan::ExprOp::SYM, symbol(expr.symbolName()));
  } else {
    SmallVector<DimExpr, 2> operands = expr.operands();
    result = index(operands.front());
    for (DimExpr operand : llvm::drop_begin(operands)) {
      uint32_t rhs = index(operand);
      result = push(opOf(expr.kind()), 0, result, rhs);
    }
  }
  written[key] = result;
  return result;
}

} // namespace llmc
