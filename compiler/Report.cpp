// What became of a model, as JSON.
#include "compiler/Compiler.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace llmc {

std::string reportJson(const CompileOptions &options, const CompileResult &result) {
  using llvm::json::Array;
  using llvm::json::Object;
  Array phases, kernels, steps, fallbacks, levels;
  for (const PhaseTime &phase : result.phases)
    phases.push_back(Object{{"name", phase.name}, {"seconds", phase.seconds}});
  for (const KernelInfo &kernel : result.kernels)
    kernels.push_back(Object{{"name", kernel.name}, {"template", kernel.kernelTemplate}, {"fallback_reason", kernel.fallbackReason}});
  for (const StepReport &step : result.steps)
    steps.push_back(Object{{"kernel", step.kernel}, {"nodes", Array(step.nodes)}});
  for (const std::string &name : result.fallbacks())
    fallbacks.push_back(name);
  for (const std::string &level : result.levels)
    levels.push_back(level);
  Object memory{{"in_place_steps", result.inPlaceSteps}};
  if (result.arenaPeak) {
    memory["peak_bytes"] = *result.arenaPeak;
    memory["lower_bound_bytes"] = *result.arenaBound;
  }
  Object artifact{{"file_bytes", static_cast<int64_t>(result.artifact.fileBytes)},
                  {"constant_bytes", static_cast<int64_t>(result.artifact.constantBytes)},
                  {"code_bytes", static_cast<int64_t>(result.artifact.codeBytes)},
                  {"steps", static_cast<int64_t>(result.artifact.steps)}};
  Object report{{"version", options.version}, {"optimisation", options.optimisation}, {"levels", std::move(levels)},
                {"phases", std::move(phases)}, {"artifact", std::move(artifact)}, {"arena", std::move(memory)},
                {"fallbacks", std::move(fallbacks)}, {"kernels", std::move(kernels)}, {"steps", std::move(steps)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(report))).str();
}

} // namespace llmc
