// From a model file to an artifact: what the tool and the tests call.
#ifndef LLMC_COMPILER_COMPILER_H
#define LLMC_COMPILER_COMPILER_H

#include "compiler/Batch/BatchPlan.h"
#include "compiler/Emit/PlanWriter.h"
#include "compiler/Import/OnnxImporter.h"
#include "compiler/Report/Report.h"
#include "passes/Pipeline.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llmc {

enum class Emit { Artifact, Mlir, Llvm, Assembly };

struct CompileOptions {
  std::string modelPath;
  std::string outputPath; // of the artifact
  ImportOptions import;
  std::vector<std::string> levels = {"native"}; // CPU levels, by name
  int optimisation = 2;                         // 0 to 3
  Placement placement;                          // none: all on the CPU
  BatchOptions batch;                           // without a dim: nothing is said of batches
  std::optional<Phase> stopAfter;               // text of the IR is the result then
  Emit emit = Emit::Artifact;
  std::vector<std::string> printAfter; // passes after which the IR goes to stderr, by flag
  std::string remarksFilter;           // regular expression over pass names; empty: no remarks are printed
  bool report = false;                 // collect what reports say
  unsigned jobs = 1;                   // threads
  std::string version;                 // of the producer, as recorded in the artifact
  std::function<void(llvm::StringRef phase)> onPhase; // called as each phase starts; may be null
};

struct PhaseTime {
  std::string name;
  double seconds;
};

struct KernelInfo {
  std::string name, kernelTemplate;
  std::string fallbackReason; // see CompiledKernel
};

struct CompileResult {
  Fault fault = Fault::None; // otherwise nothing else is of use
  std::string text;      // for all but Emit::Artifact, or with stopAfter
  ArtifactInfo artifact; // for Emit::Artifact
  std::vector<PhaseTime> phases;
  std::vector<std::string> levels; // as resolved
  std::vector<KernelInfo> kernels; // of the first level
  std::optional<BatchPlan> batch;  // if CompileOptions::batch names a dim; with all proofs
  std::optional<int64_t> arenaPeak, arenaBound; // bytes, if all sizes are static
  // If CompileOptions::report:
  std::vector<StepReport> steps;
  std::vector<BufferReport> buffers;
  std::vector<SegmentReport> segments;
  std::vector<CrossingReport> crossings;
  std::vector<NodeReport> nodes;     // of the model, those of functions too, each once
  std::vector<RemarkReport> remarks; // of all passes, in order
  /// Kernels that no generated code exists for.
  std::vector<std::string> fallbacks() const;
};

/// Compiles one model. Diagnostics go to the handlers of `context`, or to stderr; no file is left on failure.
CompileResult compileModel(mlir::MLIRContext &context, const CompileOptions &options);

/// Loads every dialect that the pipeline uses.
void loadDialects(mlir::MLIRContext &context);
} // namespace llmc

#endif // LLMC_COMPILER_COMPILER_H
