// Convolutions over channels-last tensors, except depthwise ones, as matrix products: rows are output positions, k runs
// over taps and channels.
#ifndef LLMC_COMPILER_CODEGEN_CPU_CONVKERNEL_H
#define LLMC_COMPILER_CODEGEN_CPU_CONVKERNEL_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"
#include "compiler/Codegen/Cpu/Packing.h"
#include "dialects/Graph/Graph.h"

namespace llmc::cpu {

/// Whether a template compiles `op`: f32, channels last, static weights.
bool isCompiledConv(graph::ConvOp op);

/// The convolution of `dispatch` if a template compiles it, else null.
graph::ConvOp convOf(mlir::func::FuncOp dispatch);

/// One channel per group, one filter per channel.
bool isDepthwise(graph::ConvOp op);

/// The packed layout that suits the weights of `op`.
Encoding encodingOfWeights(graph::ConvOp op);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_CONVKERNEL_H
