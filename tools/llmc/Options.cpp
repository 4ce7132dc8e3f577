// Flags to options.
#include "tools/llmc/Options.h"
#include "compiler/Import/DimOptions.h"
#include "passes/Plan/DeviceOptions.h"
#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>
#include <filesystem>
#include <thread>

namespace llmc {
namespace {

constexpr const char *examples = R"(
Examples:
  llmc resnet50.onnx                                    writes resnet50.llmc for this machine's CPU
  llmc bert.onnx -o bert.llmc --dim N=1..8 --dim S=128  batch of 1 to 8, sequences of 128
  llmc model.onnx --cpu=x86-64-v3,x86-64-v4             one file for machines with AVX2 and with AVX-512
  llmc model.onnx --device cpu=cpu --device left=sim:0 --pin left=layer1
                                                        layer1's nodes run on a simulated device, all others on the CPU
  llmc bert.onnx --dim N=1..32 --batch-dim N --buckets S=16,32,64,128 --pad input_ids=0 --mask attention_mask
                                                        requests of up to 128 tokens share runs of up to 32 rows
  llmc model.onnx --stop-after=graph                    prints the graph after the passes of that phase

Exit codes: 0 good; 1 the model, the disk or the memory is at fault; 2 the command line is wrong; 3 a fault of llmc.)";

/// Batch options as they are given.
struct BatchTexts {
  std::string sizes;
  std::vector<std::string> buckets, pads, generates;

  std::string parse(BatchOptions &options) const {
    std::string problem = sizes.empty() ? "" : parseBatchSizes(sizes, options);
    for (const std::string &text : buckets)
      problem += problem.empty() ? parseBucketOption(text, options) : "";
    for (const std::string &text : pads)
      problem += problem.empty() ? parsePadOption(text, options) : "";
    for (const std::string &text : generates)
      problem += problem.empty() ? parseGenerateOption(text, options) : "";
    return problem.empty() ? checkBatchOptions(options) : problem;
  }
};

/// What is wrong with the options that CLI11 does not know enough of; "" if nothing is.
std::string problemOf(CompileOptions &options, const std::vector<std::string> &dims, const std::vector<std::string> &shapes,
                      const BatchTexts &batch) {
  std::string problem = batch.parse(options.batch);
  if (!problem.empty())
    return problem;
  for (const std::string &text : dims)
    if (!parseDimOption(text, options.import, problem))
      return problem;
  for (const std::string &text : shapes)
    if (!parseShapeOption(text, options.import, problem))
      return problem;
  for (const auto &[dim, edges] : options.batch.buckets) // nothing is longer than the last edge, unless --dim says so
    options.import.dims.emplace(dim, graph::DimRange{0, edges.back()});
  DeviceOptions devices;
  for (const std::string &text : options.placement.devices)
    if (problem = devices.addDevice(text); !problem.empty())
      return problem;
  for (const std::string &text : options.placement.pins)
    if (problem = devices.addPin(text); !problem.empty())
      return problem;
  for (const std::string &level : options.levels)
    if (auto found = findCpuLevel(level); !found)
      return llvm::toString(found.takeError());
  std::vector<std::string> passes = passNames();
  for (const std::string &pass : options.printAfter)
    if (!llvm::is_contained(passes, pass))
      return "unknown pass '" + pass + "', expected one of " + llvm::join(passes, ", ");
  return "";
}

void listOperators() {
  for (const OperatorVersions &versions : supportedOperators())
    std::cout << versions.name << ' ' << versions.first << ".." << versions.last << '\n';
  throw CLI::Success();
}

} // namespace

std::optional<int> parseCommandLine(int argc, char **argv, CommandLine &line) {
  CompileOptions &options = line.compile;
  CLI::App app("Compiles an ONNX model into one file that the llmc runtime maps and runs.", "llmc");
  app.footer(examples);
  app.set_version_flag("--version", "llmc " LLMC_VERSION);
  std::vector<std::string> dims, shapes, levels = {"native"};
  BatchTexts batch;
  std::string stopAfter, emit = "artifact";
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("model", options.modelPath, "The ONNX file")->required();
  app.add_option("-o,--output", options.outputPath, "The artifact (default: the model's name with .llmc, in this folder)");
  app.add_option("-O", options.optimisation, "-O0: nothing for speed, soonest done; -O1: rewrites of the graph, kernels of several ops; -O2 (default): element-wise "
                 "fusion too, and LLVM's usual effort; -O3: today the same as -O2 but for more of LLVM's time")->check(CLI::Range(0, 3));
  app.add_option("--cpu", levels, "CPU levels: native, x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4+vnni+bf16")->delimiter(',');
  app.add_option("--dim", dims, "NAME=VALUE or NAME=LO..HI: the size of a symbolic dim");
  app.add_option("--shape", shapes, "INPUT=1x3x224x224: the sizes of an input; ? leaves one as it is, a name gives it that name");
  app.add_option("--max-trips", options.import.maxTrips, "Most trips of a loop whose number of trips is not in the model; a run in which one goes on fails")
      ->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--device", options.placement.devices,
                 "NAME=cpu or NAME=sim:N: a device to run on (repeatable); the first gets what no pin names")->allow_extra_args(false);
  app.add_option("--pin", options.placement.pins,
                 "DEVICE=REGEX: nodes whose names match run on the device (repeatable; the last that matches counts)")->allow_extra_args(false);
  app.add_option("--batch-dim", options.batch.dim, "The symbolic dim along which requests share a run: its rows must not influence each other");
  app.add_option("--batch-sizes", batch.sizes, "1,2,4,8: numbers of rows worth running (default: powers of two in the range of the dim, to 32; to 4096 with --generate)");
  app.add_option("--buckets", batch.buckets, "S=16,32,64: requests are padded in this dim, up to the next edge (repeatable, for other dims)")
      ->allow_extra_args(false);
  app.add_option("--pad", batch.pads, "INPUT=VALUE: what an input is padded with (repeatable; default 0)")->allow_extra_args(false);
  app.add_option("--mask", options.batch.masks, "INPUT: marks what is valid, with 0 where there is padding (repeatable)")->allow_extra_args(false);
  app.add_option("--generate", batch.generates,
                 "INPUT=KIND: requests of any length are packed along the batch dim, and the runtime makes this input, which says where each lies: "
                 "count, accumulated, accumulated-zero, index, longest (repeatable)")->allow_extra_args(false);
  app.add_option("--stop-after", stopAfter, "Print the IR after a phase: import, graph, dispatch, kernel, plan")
      ->check(CLI::IsMember({"import", "graph", "dispatch", "kernel", "plan"}));
  app.add_option("--print-ir-after", options.printAfter, "Print the IR after a pass, by its flag in llmc-opt");
  app.add_option("--emit", emit, "artifact, mlir (the plan), llvm or asm (the kernels)")
      ->check(CLI::IsMember({"artifact", "mlir", "llvm", "asm"}));
  app.add_option("--report", line.reportPath, "Write what became of the model: a page if FILE ends in .html, else JSON");
  app.add_option("--remarks-filter", options.remarksFilter, "Print what the passes whose names match did and did not do, and why");
  app.add_option("-j,--jobs", options.jobs, "Threads (default: all cores)")->check(CLI::PositiveNumber);
  app.add_flag_callback("--list-operators", listOperators, "Print the operators that are supported, with their opset versions, and end")
      ->trigger_on_parse();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : wrongCommandLine;
  }
  options.levels = levels;
  std::string problem = problemOf(options, dims, shapes, batch);
  if (!problem.empty()) {
    llvm::errs() << "llmc: error: " << problem << "\n";
    return wrongCommandLine;
  }
  options.version = LLMC_VERSION;
  if (!stopAfter.empty())
    options.stopAfter = parsePhase(stopAfter);
  options.emit = emit == "mlir" ? Emit::Mlir : emit == "llvm" ? Emit::Llvm : emit == "asm" ? Emit::Assembly : Emit::Artifact;
  options.report = !line.reportPath.empty();
  if (options.outputPath.empty())
    options.outputPath = std::filesystem::path(options.modelPath).stem().string() + ".llmc";
  return std::nullopt;
}

} // namespace llmc
