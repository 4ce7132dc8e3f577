// Passes that make and refine the plan; each is described in Passes.td.
#ifndef LLMC_PASSES_PLAN_PASSES_H
#define LLMC_PASSES_PLAN_PASSES_H

#include "dialects/Plan/Plan.h"
#include "mlir/Pass/Pass.h"

namespace llmc {
#define GEN_PASS_DECL
#include "passes/Plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Plan/Passes.h.inc"
} // namespace llmc

#endif // LLMC_PASSES_PLAN_PASSES_H
