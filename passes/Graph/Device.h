// Which device an op is for.
#ifndef LLMC_PASSES_GRAPH_DEVICE_H
#define LLMC_PASSES_GRAPH_DEVICE_H

#include "mlir/IR/Operation.h"

namespace llmc {

/// Per op: the device that it was assigned to, an attribute of the plan dialect; passes before `insert-transfers` only compare it. An
/// op without it is the host's. Per function: the host, if it has a name of its own.
constexpr llvm::StringLiteral deviceAttrName = "graph.device";

inline mlir::Attribute deviceOf(mlir::Operation *op) { return op->getAttr(deviceAttrName); }

/// Of what `to` computes: where `from`, which it comes from, was.
inline void inheritDevice(mlir::Operation *from, mlir::Operation *to) {
  if (mlir::Attribute device = deviceOf(from))
    to->setAttr(deviceAttrName, device);
}

} // namespace llmc

#endif // LLMC_PASSES_GRAPH_DEVICE_H
