// The phases and their passes.
#include "passes/Pipeline.h"
#include "passes/Graph/Passes.h"
#include "passes/Lower/Passes.h"
#include "passes/Plan/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace llmc {

std::optional<Phase> parsePhase(StringRef name) {
  return llvm::StringSwitch<std::optional<Phase>>(name)
      .Case("import", Phase::Import)
      .Case("graph", Phase::Graph)
      .Case("dispatch", Phase::Dispatch)
      .Case("kernel", Phase::Kernel)
      .Case("plan", Phase::Plan)
      .Default(std::nullopt);
}

/// What the model computes, in the fewest ops: shapes as expressions, constants folded, patterns named, layouts chosen.
static void addGraphPhase(OpPassManager &functions, int optimisation, const Placement &placement) {
  // Twice, because a folded constant can be a shape, and a known shape lets more fold.
  for (int round = 0; round < 2; ++round) {
    functions.addPass(createInferShapesPass());
    functions.addPass(createFoldConstantsPass());
    functions.addPass(createResolveShapesPass());
    functions.addPass(createCanonicalizerPass());
    functions.addPass(createCSEPass());
  }
  if (optimisation >= 1) {
    functions.addPass(createPushGathersPass());
    functions.addPass(createFoldBatchNormPass());
    functions.addPass(createRaiseGeluPass());
    functions.addPass(createRaiseNormsPass());
    functions.addPass(createRaiseSoftmaxPass());
    functions.addPass(createExpandConvTransposePass());
  }
  // Not a matter of taste: generated kernels for convolution and pooling are over images with channels last.
  functions.addPass(createWidenWindowsPass());
  functions.addPass(createChannelsLastPass());
  functions.addPass(createFoldConstantsPass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createInferShapesPass());
  AssignDevicesPassOptions options;
  llvm::append_range(options.devices, placement.devices);
  llvm::append_range(options.pins, placement.pins);
  functions.addPass(createAssignDevicesPass(options));
}

/// What each kernel computes.
static void addDispatchPhase(OpPassManager &passes, int optimisation) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createGraphToLinalgPass());
  functions.addPass(createCSEPass());
  if (optimisation >= 2)
    functions.addPass(createFuseElementwisePass());
  functions.addPass(createCSEPass());
  passes.addPass(createFormDispatchesPass({/*fuse=*/optimisation >= 1}));
}

/// Where it lies and when it runs.
static void addPlanPhase(OpPassManager &passes) {
  passes.addPass(createGraphToPlanPass());
  passes.nest<plan::EntryOp>().addPass(createInsertTransfersPass());
  passes.nest<plan::EntryOp>().addPass(createScheduleQueuesPass());
  passes.addPass(createPlanInPlacePass());
  passes.nest<plan::EntryOp>().addPass(createPlanMemoryPass());
}

void addPhase(OpPassManager &passes, Phase phase, int optimisation, const Placement &placement) {
  switch (phase) {
  case Phase::Graph:
    return addGraphPhase(passes.nest<func::FuncOp>(), optimisation, placement);
  case Phase::Dispatch:
    return addDispatchPhase(passes, optimisation);
  case Phase::Plan:
    return addPlanPhase(passes);
  case Phase::Import:
  case Phase::Kernel:
    return;
  }
}

/// Passes within adaptors show in the text of a pipeline alone: "builtin.module(func.func(name{option=value},...))".
std::vector<std::string> passNames() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Phase phase : {Phase::Graph, Phase::Dispatch, Phase::Plan}) {
    OpPassManager passes(ModuleOp::getOperationName());
    addPhase(passes, phase, /*optimisation=*/3);
    passes.printAsTextualPipeline(os);
    os << ',';
  }
  std::vector<std::string> names;
  for (StringRef rest = text; !rest.empty();) {
    size_t end = rest.find_first_of(",(){");
    StringRef name = rest.take_front(end);
    bool isPass = !name.empty() && !name.contains('.'); // names of ops have a dialect
    if (isPass && !llvm::is_contained(names, name.str()))
      names.push_back(name.str());
    bool hasOptions = end != StringRef::npos && rest[end] == '{';
    rest = rest.drop_front(std::min(rest.size(), hasOptions ? rest.find('}', end) + 1 : end + 1));
  }
  return names;
}

} // namespace llmc
