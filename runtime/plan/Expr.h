//===- Expr.h - Values of the plan's symbolic expressions ---------------------------------------------------------===//
//
// A frame (and an export) lists expression nodes whose operands come before them, so one pass over the list evaluates
// it. Arithmetic is checked: an overflow or a division by a value <= 0 is an error, never a wrong size.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PLAN_EXPR_H
#define LLMC_RUNTIME_PLAN_EXPR_H

#include "runtime/base/Status.h"
#include "runtime/schema/plan_generated.h"
#include <cstdint>
#include <optional>
#include <span>

namespace llmc::rt {

/// Absent index, wherever the schema allows one.
inline constexpr uint32_t kNone = 0xffffffffu;

/// Value of a node that is neither CONST nor SYM; nothing if it has none.
std::optional<int64_t> applyExprOp(plan::ExprOp op, int64_t lhs, int64_t rhs);

inline bool isLeaf(plan::ExprOp op) { return op == plan::ExprOp::CONST || op == plan::ExprOp::SYM; }

/// Sets values[i] to the value of nodes[i], a node whose operands are smaller indices. Needs verified nodes.
Status evaluateNode(std::span<const plan::ExprNode> nodes, uint32_t i, std::span<const int64_t> symbols,
                    std::span<int64_t> values);

/// Evaluates all nodes in order; `values` has room for them.
Status evaluateNodes(std::span<const plan::ExprNode> nodes, std::span<const int64_t> symbols,
                     std::span<int64_t> values);

/// Whether `value` satisfies `cmp` against `bound`; DIVISIBLE needs bound > 0.
bool holds(int64_t value, plan::Cmp cmp, int64_t bound);

/// Spelling for messages, as in "==".
const char *spelling(plan::Cmp cmp);
const char *spelling(plan::ExprOp op);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_PLAN_EXPR_H
