// Convolutions over channels-last tensors, except depthwise ones, as matrix products: rows are output positions, k runs over
// taps and channels.
#ifndef LLMC_COMPILER_CODEGEN_CPU_CONVKERNEL_H
#define LLMC_COMPILER_CODEGEN_CPU_CONVKERNEL_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"
#include "compiler/Codegen/Cpu/Packing.h"
#include "dialects/Graph/Graph.h"

namespace llmc::cpu {

/// Whether emitConvKernel or emitDepthwiseKernel compiles `op`: f32, channels last, static weights.
bool isCompiledConv(graph::ConvOp op);

/// One channel per group, one filter per channel.
bool isDepthwise(graph::ConvOp op);

/// The kernel of a dispatch function whose root is `root`. Reports what it can not compile.
mlir::LogicalResult emitConvKernel(KernelBuilder &kb, graph::ConvOp root);

/// The packed layout that suits the weights of `op`.
Encoding encodingOfWeights(graph::ConvOp op);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_CONVKERNEL_H
