// See CpuTarget.h: emit, lower, optimise, link.
#include "compiler/Target/CpuTarget.h"

#include "compiler/Codegen/Cpu/FallbackReason.h"
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "compiler/Target/CpuLowering.h"
#include "compiler/Target/Linker.h"
#include "compiler/Target/LlvmBackend.h"
#include "kernels/reference/Bitcode.h"

using namespace mlir;

namespace llmc {
namespace {

FailureOr<CompiledKernel> emitKernel(func::FuncOp dispatch, ModuleOp target, const CpuLevel &level) {
  const cpu::KernelTemplate *kernelTemplate = cpu::findTemplate(dispatch);
  if (!kernelTemplate)
    return dispatch.emitError("no kernel template takes this dispatch");
  cpu::KernelBuilder kb(dispatch, target, level);
  if (failed(kernelTemplate->emit(kb)) || kb.broken)
    return failure();
  CompiledKernel kernel;
  kernel.name = dispatch.getName().str();
  kernel.kernelTemplate = kernelTemplate->name.str();
  kernel.grid = kb.cost.grid;
  kernel.scratch = kb.cost.scratch;
  kernel.grain = kb.cost.grain;
  kernel.rows = kb.cost.rows;
  if (kernelTemplate->name == "reference")
    kernel.fallbackReason = cpu::fallbackReason(dispatch);
  return kernel;
}

} // namespace

FailureOr<OwningOpRef<ModuleOp>> emitCpuKernels(ModuleOp dispatches, const CpuLevel &level,
                                                std::vector<CompiledKernel> &kernels) {
  OwningOpRef<ModuleOp> target = ModuleOp::create(dispatches.getLoc());
  bool good = true; // all kernels are tried, so that all errors are reported at once
  for (auto dispatch : dispatches.getOps<func::FuncOp>()) {
    if (!dispatch->hasAttr("graph.dispatch"))
      continue;
    FailureOr<CompiledKernel> kernel = emitKernel(dispatch, *target, level);
    if (succeeded(kernel))
      kernels.push_back(std::move(*kernel));
    good &= succeeded(kernel);
  }
  if (!good)
    return failure();
  return target;
}

FailureOr<CompiledImage> compileForCpu(ModuleOp dispatches, const CpuLevel &level, const CpuCodegenOptions &options) {
  CompiledImage image;
  image.level = level.name.str();
  for (llvm::StringRef feature : level.requiredFeatures)
    image.features.push_back(feature.str());
  FailureOr<OwningOpRef<ModuleOp>> kernels = emitCpuKernels(dispatches, level, image.kernels);
  if (failed(kernels) || failed(cpu::lowerToLlvmDialect(**kernels, level)))
    return failure();

  auto report = [&](llvm::Error error) {
    return emitError(dispatches.getLoc(), "code for ") << level.name << ": " << llvm::toString(std::move(error));
  };
  cpu::BackendOptions backend;
  backend.optimisation = options.optimisation;
  backend.keepLlvmIr = options.keepLlvmIr;
  backend.keepAssembly = options.keepAssembly;
  if (llvm::any_of(image.kernels, [](const CompiledKernel &kernel) { return kernel.isReference(); })) {
    std::span<const char> bitcode = reference::bitcode(level.referenceLevel);
    backend.referenceBitcode = {llvm::StringRef(bitcode.data(), bitcode.size()), "reference kernels"};
  }
  auto object = cpu::emitObject(**kernels, level, backend);
  if (!object)
    return report(object.takeError());
  std::span<const char> mathematics = reference::mathObject(level.referenceLevel);
  auto linked = cpu::linkImage(object->object, {mathematics.data(), mathematics.size()});
  if (!linked)
    return report(linked.takeError());
  image.bytes = std::move(linked->bytes);
  image.llvmIr = std::move(object->llvmIr);
  image.assembly = std::move(object->assembly);
  for (CompiledKernel &kernel : image.kernels)
    kernel.entry = linked->symbols.lookup(kernel.name);
  return image;
}

void prepareForCpu(MLIRContext &context) { cpu::loadCodegenDialects(context); }

} // namespace llmc
