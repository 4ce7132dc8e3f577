// How passes apply their patterns.
#ifndef LLMC_PASSES_REWRITE_H
#define LLMC_PASSES_REWRITE_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace llmc {

/// Applies `patterns` until none matches, however many rounds that takes: the driver's own limit (10) makes large models fail.
inline llvm::LogicalResult rewriteAll(mlir::Operation *op, mlir::RewritePatternSet &&patterns, mlir::GreedyRewriteConfig config = {}) {
  config.setMaxIterations(mlir::GreedyRewriteConfig::kNoLimit);
  return mlir::applyPatternsGreedily(op, std::move(patterns), config);
}

} // namespace llmc

#endif // LLMC_PASSES_REWRITE_H
