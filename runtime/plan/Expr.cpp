//===- Expr.cpp - Values of the plan's symbolic expressions -------------------------------------------------------===//

#include "runtime/plan/Expr.h"
#include "runtime/base/CheckedMath.h"
#include <algorithm>

namespace llmc::rt {

using plan::Cmp;
using plan::ExprOp;

static int64_t ceilDiv(int64_t lhs, int64_t rhs) {
  return floorDiv(lhs, rhs) + (lhs % rhs != 0); // a division with a rest has rhs > 1, so this can not overflow
}

std::optional<int64_t> applyExprOp(ExprOp op, int64_t lhs, int64_t rhs) {
  switch (op) {
  case ExprOp::ADD:
    return checkedAdd(lhs, rhs);
  case ExprOp::SUB:
    return checkedSub(lhs, rhs);
  case ExprOp::MUL:
    return checkedMul(lhs, rhs);
  case ExprOp::MINOF:
    return std::min(lhs, rhs);
  case ExprOp::MAXOF:
    return std::max(lhs, rhs);
  case ExprOp::FLOORDIV:
    return rhs > 0 ? std::optional(floorDiv(lhs, rhs)) : std::nullopt;
  case ExprOp::CEILDIV:
    return rhs > 0 ? std::optional(ceilDiv(lhs, rhs)) : std::nullopt;
  case ExprOp::MOD:
    return rhs > 0 ? std::optional(lhs % rhs + (lhs % rhs < 0 ? rhs : 0)) : std::nullopt;
  case ExprOp::ALIGN_UP:
    return rhs > 0 ? checkedMul(ceilDiv(lhs, rhs), rhs) : std::nullopt;
  default:
    return std::nullopt;
  }
}

Status evaluateNode(std::span<const plan::ExprNode> nodes, uint32_t i, std::span<const int64_t> symbols,
                    std::span<int64_t> values) {
  const plan::ExprNode &node = nodes[i];
  if (node.op() == ExprOp::CONST) {
    values[i] = node.imm();
    return {};
  }
  if (node.op() == ExprOp::SYM) {
    values[i] = symbols[size_t(node.imm())];
    return {};
  }
  int64_t lhs = values[node.lhs()], rhs = values[node.rhs()];
  std::optional<int64_t> value = applyExprOp(node.op(), lhs, rhs);
  if (!value)
    return {Code::Shape, concat("expression ", i, " has no value: ", lhs, " ", spelling(node.op()), " ", rhs)};
  values[i] = *value;
  return {};
}

Status evaluateNodes(std::span<const plan::ExprNode> nodes, std::span<const int64_t> symbols,
                     std::span<int64_t> values) {
  for (uint32_t i = 0; i < nodes.size(); ++i)
    LLMC_TRY(evaluateNode(nodes, i, symbols, values));
  return {};
}

bool holds(int64_t value, Cmp cmp, int64_t bound) {
  switch (cmp) {
  case Cmp::EQ:
    return value == bound;
  case Cmp::LE:
    return value <= bound;
  case Cmp::GE:
    return value >= bound;
  case Cmp::DIVISIBLE:
    return value % bound == 0;
  default:
    return false;
  }
}

const char *spelling(Cmp cmp) {
  switch (cmp) {
  case Cmp::EQ:
    return "==";
  case Cmp::LE:
    return "<=";
  case Cmp::GE:
    return ">=";
  case Cmp::DIVISIBLE:
    return "divisible by";
  default:
    return "?";
  }
}

const char *spelling(ExprOp op) {
  switch (op) {
  case ExprOp::ADD:
    return "+";
  case ExprOp::SUB:
    return "-";
  case ExprOp::MUL:
    return "*";
  case ExprOp::FLOORDIV:
    return "floordiv";
  case ExprOp::CEILDIV:
    return "ceildiv";
  case ExprOp::MOD:
    return "mod";
  case ExprOp::MINOF:
    return "min";
  case ExprOp::MAXOF:
    return "max";
  case ExprOp::ALIGN_UP:
    return "align_up";
  default:
    return "?";
  }
}

} // namespace llmc::rt
