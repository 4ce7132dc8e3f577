// See LlvmBackend.h. The generator has chosen vectors and unrolling, so LLVM's loop and SLP vectorisers and its unroller are off;
// "no-builtins" keeps it from turning loops into calls of memcpy and the like, which an image has not.
#include "compiler/Target/LlvmBackend.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

namespace llmc::cpu {
namespace {

const llvm::Triple kTriple("x86_64-unknown-linux-gnu");

std::unique_ptr<llvm::TargetMachine> createMachine(const CpuLevel &level, int optimisation) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target)
    return nullptr;
  llvm::CodeGenOptLevel effort = optimisation <= 1   ? llvm::CodeGenOptLevel::Less
                                 : optimisation == 2 ? llvm::CodeGenOptLevel::Default
                                                     : llvm::CodeGenOptLevel::Aggressive;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.FunctionSections = true;
  options.DataSections = true;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(kTriple, level.targetCpu, level.targetFeatures,
                                                                          options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                          effort));
}

/// All code of an image is compiled for its level, however it came: what clang wrote into bitcode is replaced.
void setLevel(llvm::Function &function, const CpuLevel &level) {
  std::string vectorBits = std::to_string(level.vectorBytes * 8);
  function.addFnAttr("target-cpu", level.targetCpu);
  function.addFnAttr("target-features", level.targetFeatures);
  function.removeFnAttr("tune-cpu");
  function.addFnAttr("prefer-vector-width", vectorBits);
  function.addFnAttr("min-legal-vector-width", vectorBits);
  function.addFnAttr("frame-pointer", "none");
  function.addFnAttr("no-builtins");
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.setUWTableKind(llvm::UWTableKind::None);
}

llvm::Error linkReference(llvm::Module &module, llvm::MemoryBufferRef bitcode) {
  if (bitcode.getBufferSize() == 0)
    return llvm::Error::success();
  auto reference = llvm::getLazyBitcodeModule(bitcode, module.getContext());
  if (!reference)
    return reference.takeError();
  (*reference)->setTargetTriple(module.getTargetTriple());
  (*reference)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*reference), llvm::Linker::Flags::LinkOnlyNeeded))
    return llvm::createStringError("the reference kernels do not link to the generated code");
  return llvm::Error::success();
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine, int optimisation) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::OptimizationLevel effort = optimisation <= 1   ? llvm::OptimizationLevel::O1
                                   : optimisation == 2 ? llvm::OptimizationLevel::O2
                                                       : llvm::OptimizationLevel::O3;
  builder.buildPerModuleDefaultPipeline(effort).run(module, modules);
}

llvm::Error emitFile(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                     llvm::SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return llvm::createStringError("LLVM can not emit this kind of file");
  passes.run(module);
  return llvm::Error::success();
}

} // namespace

llvm::Expected<ObjectCode> emitObject(mlir::ModuleOp module, const CpuLevel &level, const BackendOptions &options) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = mlir::translateModuleToLLVMIR(module, context, "llmc");
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(level, options.optimisation);
  if (!code || !machine)
    return llvm::createStringError("LLVM can not take the generated kernels");
  code->setTargetTriple(kTriple);
  code->setDataLayout(machine->createDataLayout());

  llvm::StringSet<> kernels;
  for (llvm::Function &function : *code)
    if (!function.isDeclaration())
      kernels.insert(function.getName());
  if (llvm::Error error = linkReference(*code, options.referenceBitcode))
    return error;
  llvm::internalizeModule(*code, [&](const llvm::GlobalValue &value) { return kernels.contains(value.getName()); });
  for (llvm::Function &function : *code)
    if (!function.isDeclaration())
      setLevel(function, level);
  optimize(*code, *machine, options.optimisation);

  ObjectCode result;
  if (options.keepLlvmIr) {
    llvm::raw_string_ostream stream(result.llvmIr);
    code->print(stream, nullptr);
  }
  if (options.keepAssembly) {
    llvm::SmallString<0> text;
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*code);
    if (llvm::Error error = emitFile(*copy, *machine, llvm::CodeGenFileType::AssemblyFile, text))
      return error;
    result.assembly = std::string(text);
  }
  if (llvm::Error error = emitFile(*code, *machine, llvm::CodeGenFileType::ObjectFile, result.object))
    return error;
  return result;
}

} // namespace llmc::cpu
