// The compiler on one page: named phases, in order.
#ifndef LLMC_PASSES_PIPELINE_H
#define LLMC_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include <optional>

namespace llmc {

/// Where `llmc --stop-after` may stop. `kernel` is code generation, which clones the dispatch functions (compiler/Target).
enum class Phase { Import, Graph, Dispatch, Kernel, Plan };
std::optional<Phase> parsePhase(llvm::StringRef name);

/// Passes of a phase for optimisation levels 0 to 3; Import and Kernel have none.
void addPhase(mlir::OpPassManager &passes, Phase phase, int optimisation);

/// The flags of all passes of all phases, in order, each once.
std::vector<std::string> passNames();

} // namespace llmc

#endif // LLMC_PASSES_PIPELINE_H
