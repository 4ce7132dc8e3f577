// Passes from the graph dialect to dispatch functions; each is described in Passes.td.
#ifndef LLMC_PASSES_LOWER_PASSES_H
#define LLMC_PASSES_LOWER_PASSES_H

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace llmc {
#define GEN_PASS_DECL
#include "passes/Lower/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Lower/Passes.h.inc"
} // namespace llmc

#endif // LLMC_PASSES_LOWER_PASSES_H
