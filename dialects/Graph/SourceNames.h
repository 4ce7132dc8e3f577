// From locations back to the nodes of the model.
#ifndef LLMC_DIALECTS_GRAPH_SOURCENAMES_H
#define LLMC_DIALECTS_GRAPH_SOURCENAMES_H

#include "mlir/IR/Location.h"
#include <string>
#include <vector>

namespace llmc::graph {

/// Names of the ONNX nodes that a location stands for, in order, each once.
std::vector<std::string> sourceNames(mlir::Location loc);

/// The same as one text, with commas.
std::string joinedSourceNames(mlir::Location loc);

} // namespace llmc::graph

#endif // LLMC_DIALECTS_GRAPH_SOURCENAMES_H
