// Dim expressions -> flat expression lists of the plan.
#ifndef LLMC_COMPILER_EMIT_FRAMEWRITER_H
#define LLMC_COMPILER_EMIT_FRAMEWRITER_H

#include "dialects/Graph/DimExpr.h"
#include "runtime/schema/plan_generated.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc {

/// The symbols and expressions of one block, or the scalars and expressions of one export. Equal expressions are written once.
class FrameWriter {
public:
  /// Names symbol number `symbols()`.
  void addSymbol(llvm::StringRef name) { symbolIndex.try_emplace(name, symbolIndex.size()); }
  bool hasSymbol(llvm::StringRef name) const { return symbolIndex.contains(name); }
  uint32_t symbol(llvm::StringRef name) const {
    assert(hasSymbol(name) && "symbols are added before they are used");
    return symbolIndex.lookup(name);
  }
  /// Index of `expr` in the list. All its symbols must have been added.
  uint32_t index(graph::DimExpr expr);
  uint32_t constant(mlir::MLIRContext *context, int64_t value) { return index(graph::DimExpr::constant(context, value)); }
  std::vector<plan::ExprNode> take() { return std::move(nodes); }

private:
  uint32_t push(plan::ExprOp op, int64_t imm, uint32_t lhs = 0, uint32_t rhs = 0);

  llvm::StringMap<uint32_t> symbolIndex;
  std::vector<plan::ExprNode> nodes;
  llvm::DenseMap<mlir::Attribute, uint32_t> written;
};

} // namespace llmc

#endif // LLMC_COMPILER_EMIT_FRAMEWRITER_H
