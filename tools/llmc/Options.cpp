// Flags to options.
#include "tools/llmc/Options.h"
#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>
#include <filesystem>
#include <thread>

using llvm::StringRef;

namespace llmc {
namespace {

constexpr int wrongCommandLine = 2;

constexpr const char *examples = R"(
Examples:
  llmc resnet50.onnx                                    writes resnet50.llmc for this machine's CPU
  llmc bert.onnx -o bert.llmc --dim N=1..8 --dim S=128  batch of 1 to 8, sequences of 128
  llmc model.onnx --cpu=x86-64-v3,x86-64-v4             one file for machines with AVX2 and with AVX-512
  llmc model.onnx --stop-after=graph                    prints the graph after the passes of that phase

Exit codes: 0 good; 1 the model, the disk or the memory is at fault; 2 the command line is wrong; 3 a fault of llmc.)";

/// "NAME=VALUE" or "NAME=LO..HI".
bool parseDim(const std::string &text, ImportOptions &options) {
  auto [name, value] = StringRef(text).rsplit('=');
  graph::DimRange range;
  auto [lo, hi] = value.split("..");
  bool isRange = value.contains("..");
  if (name.empty() || lo.getAsInteger(10, range.lo) || (isRange && hi.getAsInteger(10, range.hi)))
    return false;
  if (!isRange)
    range.hi = range.lo;
  options.dims[name.str()] = range;
  return range.lo >= 0 && range.lo <= range.hi;
}

/// "INPUT=1x3x224x224"; "?" leaves a dim as the model has it.
bool parseShape(const std::string &text, ImportOptions &options) {
  auto [name, value] = StringRef(text).rsplit('=');
  std::vector<int64_t> sizes;
  for (StringRef part : llvm::split(value, 'x')) {
    int64_t size = -1;
    if (part != "?" && (part.getAsInteger(10, size) || size < 0))
      return false;
    sizes.push_back(size);
  }
  options.shapes[name.str()] = sizes;
  return !name.empty();
}

std::string checkEach(const std::vector<std::string> &texts, bool (*parse)(const std::string &, ImportOptions &),
                      ImportOptions &options, const char *form) {
  for (const std::string &text : texts)
    if (!parse(text, options))
      return "'" + text + "' is not of the form " + form;
  return "";
}

} // namespace

std::optional<int> parseCommandLine(int argc, char **argv, CommandLine &line) {
  CompileOptions &options = line.compile;
  CLI::App app("Compiles an ONNX model into one file that the llmc runtime maps and runs.", "llmc");
  app.footer(examples);
  app.set_version_flag("--version", "llmc " LLMC_VERSION);
  std::vector<std::string> dims, shapes, levels = {"native"};
  std::string stopAfter, emit = "artifact";
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("model", options.modelPath, "The ONNX file")->required();
  app.add_option("-o,--output", options.outputPath, "The artifact (default: the model's name with .llmc, in this folder)");
  app.add_option("-O", options.optimisation, "Optimisation level, as in -O3 (default: 2)")->check(CLI::Range(0, 3));
  app.add_option("--cpu", levels, "CPU levels: native, x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4+vnni+bf16")->delimiter(',');
  app.add_option("--dim", dims, "NAME=VALUE or NAME=LO..HI: the size of a symbolic dim");
  app.add_option("--shape", shapes, "INPUT=1x3x224x224: the sizes of an input; ? leaves one as it is");
  app.add_option("--stop-after", stopAfter, "Print the IR after a phase: import, graph, dispatch, kernel, plan")
      ->check(CLI::IsMember({"import", "graph", "dispatch", "kernel", "plan"}));
  app.add_option("--print-ir-after", options.printAfter, "Print the IR after a pass, by its flag in llmc-opt");
  app.add_option("--emit", emit, "artifact, mlir (the plan), llvm or asm (the kernels)")
      ->check(CLI::IsMember({"artifact", "mlir", "llvm", "asm"}));
  app.add_option("--report", line.reportPath, "Write what became of the model, as JSON");
  app.add_option("--remarks-filter", options.remarksFilter, "Print what the passes whose names match did and did not do, and why");
  app.add_option("-j,--jobs", options.jobs, "Threads (default: all cores)")->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : wrongCommandLine;
  }
  std::string problem = checkEach(dims, parseDim, options.import, "NAME=VALUE or NAME=LO..HI with 0 <= LO <= HI");
  if (problem.empty())
    problem = checkEach(shapes, parseShape, options.import, "INPUT=1x3x224x224");
  for (const std::string &level : levels)
    if (auto found = findCpuLevel(level); !found && problem.empty())
      problem = llvm::toString(found.takeError());
    else
      llvm::consumeError(found.takeError());
  if (!problem.empty()) {
    llvm::errs() << "llmc: error: " << problem << "\n";
    return wrongCommandLine;
  }
  options.levels = levels;
  options.version = LLMC_VERSION;
  if (!stopAfter.empty())
    options.stopAfter = parsePhase(stopAfter);
  options.emit = emit == "mlir" ? Emit::Mlir : emit == "llvm" ? Emit::Llvm : emit == "asm" ? Emit::Assembly : Emit::Artifact;
  if (options.outputPath.empty())
    options.outputPath = std::filesystem::path(options.modelPath).stem().string() + ".llmc";
  return std::nullopt;
}

} // namespace llmc
