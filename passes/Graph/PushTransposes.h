// Patterns that move transposes towards the results of a function.
#ifndef LLMC_PASSES_GRAPH_PUSHTRANSPOSES_H
#define LLMC_PASSES_GRAPH_PUSHTRANSPOSES_H

#include "dialects/Graph/Graph.h"
#include "mlir/IR/PatternMatch.h"

namespace llmc {

/// [0, 2, .., rank - 1, 1]: from [N, C, spatial..] to [N, spatial.., C]; and its inverse.
llvm::SmallVector<int64_t> toChannelsLast(int64_t rank);
llvm::SmallVector<int64_t> toChannelsFirst(int64_t rank);

/// `type` with dim perm[i] of it at place i.
mlir::RankedTensorType permuted(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> perm);

/// Whether a transpose leaves all dims but those of static size 1 in their order, and so moves no element.
bool movesOnlyUnitDims(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> perm);

/// op(transpose(x)) -> transpose(op(x)) for transposes to channels first of rank 4 and more, and for each op that can
/// do its work in the other layout; transposes that meet merge or cancel. Transposes only move down, so the patterns
/// terminate.
void populatePushTransposesPatterns(mlir::RewritePatternSet &patterns);

} // namespace llmc

#endif // LLMC_PASSES_GRAPH_PUSHTRANSPOSES_H
