// The ONNX nodes that a location stands for.
#ifndef LLMC_COMPILER_EMIT_SOURCENAMES_H
#define LLMC_COMPILER_EMIT_SOURCENAMES_H

#include "mlir/IR/Location.h"
#include <string>
#include <vector>

namespace llmc {

/// Each name once, in order.
std::vector<std::string> sourceNames(mlir::Location loc);

} // namespace llmc

#endif // LLMC_COMPILER_EMIT_SOURCENAMES_H
