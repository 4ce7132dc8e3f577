// The phases, one after another.
#include "compiler/Compiler.h"
#include "compiler/Batch/BatchTrial.h"
#include "compiler/Codegen/Cpu/InPlace.h"
#include "compiler/EncodeConstants.h"
#include "compiler/Import/OnnxProto.h"
#include "compiler/Report/NodeFates.h"
#include "compiler/Report/Remarks.h"
#include "compiler/Target/CpuTarget.h"
#include "passes/Lower/Passes.h"
#include "passes/Plan/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/Signals.h"
#include <chrono>
#include <thread>

using namespace mlir;

namespace llmc {
namespace {

using Clock = std::chrono::steady_clock;

/// Weights are left out of printed IR: more than 1 KiB of a constant is of no use to a reader.
OpPrintingFlags printingFlags() {
  constexpr int64_t mostBytes = 1024;
  return OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(mostBytes / sizeof(float)).elideLargeResourceString(2 * mostBytes);
}

class Compilation {
public:
  Compilation(MLIRContext &context, const CompileOptions &options) : context(context), options(options) {}
  CompileResult run();

private:
  LogicalResult start();
  LogicalResult compile();
  LogicalResult phase(StringRef name, llvm::function_ref<LogicalResult()> body);
  LogicalResult importModel();
  LogicalResult checkPins(ArrayRef<ModelNode> nodes);
  LogicalResult runPasses(Phase phase);
  LogicalResult resolveLevels();
  LogicalResult generateCode();
  void reportFallbacks();
  LogicalResult planBatch();
  LogicalResult tryBatch();
  LogicalResult writeTo(const std::string &path);
  LogicalResult write();
  void describe();
  std::string textOfKernels();
  bool stopsAt(Phase phase) const { return options.stopAfter == phase; }

  MLIRContext &context;
  const CompileOptions &options;
  CompileResult result;
  std::unique_ptr<OnnxModel> model; // its mapping holds the weights
  OwningOpRef<ModuleOp> module;
  SmallVector<const CpuLevel *> levels;
  std::vector<CompiledImage> images;
  std::unique_ptr<NodeFates> fates; // if there is a report
};

LogicalResult Compilation::phase(StringRef name, llvm::function_ref<LogicalResult()> body) {
  if (options.onPhase)
    options.onPhase(name);
  Clock::time_point start = Clock::now();
  LogicalResult outcome = body();
  result.phases.push_back({name.str(), std::chrono::duration<double>(Clock::now() - start).count()});
  return outcome;
}

LogicalResult Compilation::importModel() {
  std::string error;
  model = OnnxModel::load(options.modelPath, error);
  if (!model)
    return emitError(UnknownLoc::get(&context)) << error;
  std::vector<ModelNode> nodes;
  module = importOnnx(context, *model, options.import, &result.fault, &nodes);
  if (!module || failed(checkPins(nodes)))
    return failure();
  if (options.report) {
    fates = std::make_unique<NodeFates>(std::move(nodes));
    fates->observe(*module, "import");
  }
  return success();
}

/// Each pin is for some node; that it may have vanished by the time when devices are assigned is no fault.
LogicalResult Compilation::checkPins(ArrayRef<ModelNode> nodes) {
  for (StringRef pin : options.placement.pins) {
    llvm::Regex pattern(pin.split('=').second);
    if (llvm::any_of(nodes, [&](const ModelNode &node) { return pattern.match(node.name); }))
      continue;
    result.fault = Fault::Options;
    return emitError(UnknownLoc::get(&context)) << "--pin '" << pin << "': no node of the model has such a name";
  }
  return success();
}

LogicalResult Compilation::runPasses(Phase phase) {
  PassManager passes(&context);
  addPhase(passes, phase, options.optimisation, options.placement);
  if (!options.printAfter.empty()) {
    context.disableMultithreading();
    auto wanted = [this](Pass *pass, Operation *) { return llvm::is_contained(options.printAfter, pass->getArgument().str()); };
    passes.enableIRPrinting([](Pass *, Operation *) { return false; }, wanted, /*printModuleScope=*/false,
                            /*printAfterOnlyOnChange=*/false, /*printAfterOnlyOnFailure=*/false, llvm::errs(), printingFlags());
  }
  if (fates)
    passes.addInstrumentation(fates->instrumentation());
  bool explained = false;
  ScopedDiagnosticHandler listener(&context, [&](Diagnostic &diagnostic) {
    explained |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // for others to print
  });
  if (succeeded(passes.run(*module)))
    return success();
  if (!explained) {
    emitError(module->getLoc()) << "a pass failed and did not say why";
    result.fault = Fault::Internal;
  }
  return failure();
}

LogicalResult Compilation::resolveLevels() {
  for (const std::string &name : options.levels) {
    llvm::Expected<const CpuLevel *> level = findCpuLevel(name);
    if (!level)
      return emitError(UnknownLoc::get(&context)) << llvm::toString(level.takeError());
    if (!llvm::is_contained(levels, *level))
      levels.push_back(*level);
  }
  llvm::sort(levels, [](const CpuLevel *a, const CpuLevel *b) { return a->priority < b->priority; });
  for (const CpuLevel *level : levels)
    result.levels.push_back(level->name.str());
  return success();
}

/// One image per level, on `jobs` threads; the bytes do not depend on how many.
LogicalResult Compilation::generateCode() {
  prepareForCpu(context);
  images.resize(levels.size());
  std::vector<char> failures(levels.size());
  auto compile = [&](size_t i) {
    CpuCodegenOptions codegen;
    codegen.optimisation = options.optimisation;
    codegen.keepLlvmIr = options.emit == Emit::Llvm;
    codegen.keepAssembly = options.emit == Emit::Assembly;
    FailureOr<CompiledImage> image = compileForCpu(*module, *levels[i], codegen);
    failures[i] = failed(image);
    if (succeeded(image))
      images[i] = std::move(*image);
  };
  std::vector<std::thread> workers;
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < levels.size();)
      compile(i);
  };
  for (unsigned i = 1; i < std::min<size_t>(options.jobs, levels.size()); ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  if (llvm::is_contained(failures, 1))
    return failure();
  for (const CompiledKernel &kernel : images.front().kernels)
    result.kernels.push_back({kernel.name, kernel.kernelTemplate, kernel.fallbackReason});
  reportFallbacks();
  return success();
}

void Compilation::reportFallbacks() {
  for (const KernelInfo &kernel : result.kernels)
    if (!kernel.fallbackReason.empty())
      remark::missed(module->lookupSymbol(kernel.name)->getLoc(), remark::RemarkOpts::name("ReferenceKernel").category("codegen"))
          << remark::reason("{0}", kernel.fallbackReason) << remark::metric("Kernel", kernel.name);
}

void Compilation::describe() {
  module->walk([&](plan::BodyOp body) {
    result.arenaPeak = body.getArenaPeak();
    result.arenaBound = body.getArenaBound();
  });
  if (!options.report)
    return;
  describePlan(*module, result.steps, result.buffers);
  describeDevices(*module, result.segments, result.crossings);
  result.nodes = fates->report(result.steps, result.remarks);
}

/// In graph form, where each op still says what it does with the rows of a batch.
LogicalResult Compilation::planBatch() {
  if (options.batch.dim.empty())
    return success();
  FailureOr<BatchPlan> batch = planBatches(*module, options.batch, result.fault);
  if (failed(batch))
    return failure();
  result.batch = std::move(*batch);
  return success();
}

/// What the graph could not prove is tried on the artifact, before it has its name.
LogicalResult Compilation::tryBatch() {
  llvm::SmallString<128> path;
  llvm::sys::fs::createUniquePath(options.outputPath + ".%%%%%%", path, /*MakeAbsolute=*/false);
  llvm::FileRemover remover(path);
  llvm::sys::RemoveFileOnSignal(path);
  LogicalResult written = writeTo(path.str().str());
  std::string problem = succeeded(written) ? tryBatches(path.str().str(), options.jobs, *result.batch) : "";
  llvm::sys::DontRemoveFileOnSignal(path);
  if (failed(written) || problem.empty())
    return written;
  return emitError(UnknownLoc::get(&context)) << problem;
}

LogicalResult Compilation::writeTo(const std::string &path) {
  ArtifactOrigin origin;
  origin.producerVersion = options.version;
  origin.options.emplace_back("optimisation", std::to_string(options.optimisation));
  FailureOr<ArtifactInfo> info = writeArtifact(*module, images, origin, path, result.batch ? &result.batch->table : nullptr);
  if (failed(info))
    return failure();
  result.artifact = *info;
  return success();
}

LogicalResult Compilation::write() { return writeTo(options.outputPath); }

std::string Compilation::textOfKernels() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const CpuLevel *level : levels) {
    std::vector<CompiledKernel> kernels;
    FailureOr<OwningOpRef<ModuleOp>> emitted = emitCpuKernels(*module, *level, kernels);
    if (succeeded(emitted))
      os << "// " << level->name << "\n" << **emitted << "\n";
  }
  return text;
}

/// What the options ask for before there is a model.
LogicalResult Compilation::start() {
  if (options.report)
    context.disableMultithreading(); // whoever follows the passes sees all of the module
  result.fault = Fault::Options;
  if (failed(enableRemarks(context, options.remarksFilter, options.report ? &result.remarks : nullptr)))
    return failure();
  result.fault = Fault::None;
  return success();
}

CompileResult Compilation::run() {
  if ((failed(start()) || failed(compile())) && result.fault == Fault::None)
    result.fault = Fault::Model;
  return std::move(result);
}

LogicalResult Compilation::compile() {
  auto textOfModule = [&] {
    llvm::raw_string_ostream os(result.text);
    module->print(os, printingFlags());
    os << "\n";
    return success();
  };
  if (failed(resolveLevels()) || failed(phase("import", [&] { return importModel(); })))
    return failure();
  if (stopsAt(Phase::Import))
    return textOfModule();
  if (failed(phase("graph", [&] { return success(succeeded(runPasses(Phase::Graph)) && succeeded(planBatch())); })))
    return failure();
  if (stopsAt(Phase::Graph))
    return textOfModule();
  auto dispatch = [&] {
    if (failed(runPasses(Phase::Dispatch)))
      return failure();
    encodeConstants(*module);
    cpu::markInPlace(*module);
    return success();
  };
  if (failed(phase("dispatch", dispatch)))
    return failure();
  if (stopsAt(Phase::Dispatch))
    return textOfModule();
  if (stopsAt(Phase::Kernel)) {
    prepareForCpu(context);
    result.text = textOfKernels();
    return success();
  }
  bool needsCode = !stopsAt(Phase::Plan) && options.emit != Emit::Mlir;
  if (needsCode && failed(phase("kernel", [&] { return generateCode(); })))
    return failure();
  if (options.emit == Emit::Llvm || options.emit == Emit::Assembly) {
    for (const CompiledImage &image : images)
      result.text += options.emit == Emit::Llvm ? image.llvmIr : image.assembly;
    return success();
  }
  if (failed(phase("plan", [&] { return runPasses(Phase::Plan); })))
    return failure();
  if (!needsCode)
    return textOfModule();
  describe();
  if (result.batch && result.batch->needsTrial() && failed(phase("try", [&] { return tryBatch(); })))
    return failure();
  return phase("write", [&] { return write(); });
}

} // namespace

std::vector<std::string> CompileResult::fallbacks() const {
  std::vector<std::string> names;
  for (const KernelInfo &kernel : kernels)
    if (!kernel.fallbackReason.empty())
      names.push_back(kernel.name);
  return names;
}

void loadDialects(MLIRContext &context) {
  context.loadDialect<graph::GraphDialect, plan::PlanDialect, func::FuncDialect, arith::ArithDialect, linalg::LinalgDialect,
                      tensor::TensorDialect, math::MathDialect>();
}

CompileResult compileModel(MLIRContext &context, const CompileOptions &options) {
  loadDialects(context);
  return Compilation(context, options).run();
}

} // namespace llmc
