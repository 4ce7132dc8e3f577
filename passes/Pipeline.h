// The compiler on one page: named phases, in order.
#ifndef LLMC_PASSES_PIPELINE_H
#define LLMC_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include <optional>

namespace llmc {

/// Where `llmc --stop-after` may stop. `kernel` is code generation, which clones the dispatch functions (compiler/Target).
enum class Phase { Import, Graph, Dispatch, Kernel, Plan };
std::optional<Phase> parsePhase(llvm::StringRef name);

/// Devices and pins, as `assign-devices` takes them.
struct Placement {
  std::vector<std::string> devices, pins;
};

/// Passes of a phase; Import and Kernel have none. Optimisation levels: at 0 none is there for speed, 1 adds rewrites of the graph and
/// kernels of several ops, 2 element-wise fusion; 3 is no different here.
void addPhase(mlir::OpPassManager &passes, Phase phase, int optimisation, const Placement &placement = {});

/// The flags of all passes of all phases, in order, each once.
std::vector<std::string> passNames();

} // namespace llmc

#endif // LLMC_PASSES_PIPELINE_H
