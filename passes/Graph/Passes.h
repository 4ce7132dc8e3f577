// Passes over the graph dialect; each is described in Passes.td.
#ifndef LLMC_PASSES_GRAPH_PASSES_H
#define LLMC_PASSES_GRAPH_PASSES_H

#include "dialects/Graph/Graph.h"
#include "mlir/Pass/Pass.h"

namespace llmc {
#define GEN_PASS_DECL
#include "passes/Graph/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Graph/Passes.h.inc"
} // namespace llmc

#endif // LLMC_PASSES_GRAPH_PASSES_H
