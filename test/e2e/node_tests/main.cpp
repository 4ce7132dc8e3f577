// Compiles and runs all ONNX node tests in one process: see usage.
#include "compiler/Compiler.h"
#include "test/e2e/node_tests/NodeModel.h"
#include "test/e2e/node_tests/RunArtifact.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <atomic>
#include <map>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace llmc;
using namespace llmc::test;
namespace fs = std::filesystem;

namespace {

constexpr const char *usage = R"(usage: node-tests FOLDER MODE [--list] [--only SUBSTRING] [--level N] [--threads N]
Compiles each FOLDER/NAME/model.onnx and runs the artifact on NAME/test_data_set_0.
MODE: static (as given), symbolic (every dim of every input open), constant (inputs as initializers)
--list: also prints the cases that are not supported, with the reason
--level, --threads: the optimisation level of the compiler (2), the threads of each run (1)
A crash prints "case NAME". Prints each failure, and last "N passed, N failed, N skipped". Skipped is only what llmc says is not supported, and what is random.
)";

struct Outcome {
  enum Kind { Passed, Failed, Skipped } kind = Failed;
  std::string reason;
};

/// A file in memory, for a reader that wants a path.
class MemoryFile {
public:
  explicit MemoryFile(const std::string &bytes) : fd(::memfd_create("model", MFD_CLOEXEC)) {
    if (::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      llvm::report_fatal_error("no memory for a file");
  }
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() { ::close(fd); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

private:
  int fd;
};

struct Settings {
  Mode mode;
  int level = 2, threads = 1;
};

bool isUnsupported(llvm::StringRef problem) { return problem.contains("not supported"); }

Outcome runCase(const fs::path &folder, const Settings &settings, const fs::path &artifact) {
  std::string name = "case " + folder.filename().string();
  llvm::PrettyStackTraceString onCrash(name.c_str());
  NodeModel model = readNodeModel(folder, settings.mode);
  if (model.bytes.empty())
    return {isUnsupported(model.problem) ? Outcome::Skipped : Outcome::Failed, model.problem};
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string problem;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    if (problem.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      problem = diagnostic.str();
  });
  MemoryFile file(model.bytes);
  CompileOptions options;
  options.modelPath = file.path();
  options.outputPath = artifact.string();
  options.version = "test";
  options.optimisation = settings.level;
  if (compileModel(context, options).fault != Fault::None)
    return {isUnsupported(problem) ? Outcome::Skipped : Outcome::Failed, problem};
  if (model.isRandom)
    return {Outcome::Skipped, "draws random numbers"};
  std::string wrong = checkArtifact(artifact, folder / "test_data_set_0", settings.threads);
  return {wrong.empty() ? Outcome::Passed : isUnsupported(wrong) ? Outcome::Skipped : Outcome::Failed, wrong};
}

/// On all processors; outcomes in the order of `folders`.
std::vector<Outcome> runAll(const std::vector<fs::path> &folders, const Settings &settings) {
  std::vector<Outcome> outcomes(folders.size());
  std::atomic<size_t> next = 0;
  auto work = [&](unsigned worker) {
    fs::path artifact = fs::temp_directory_path() / ("node-test-" + std::to_string(::getpid()) + "-" + std::to_string(worker) + ".llmc");
    for (size_t i; (i = next++) < folders.size();)
      outcomes[i] = runCase(folders[i], settings, artifact);
    fs::remove(artifact);
  };
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < std::max(1u, std::thread::hardware_concurrency()); ++worker)
    threads.emplace_back(work, worker);
  for (std::thread &thread : threads)
    thread.join();
  return outcomes;
}

} // namespace

int main(int argc, char **argv) {
  llvm::EnablePrettyStackTrace();
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  std::optional<Mode> mode = argc > 2 ? parseMode(argv[2]) : std::nullopt;
  Settings settings{mode.value_or(Mode::Static)};
  bool list = false;
  std::string only;
  for (int i = 3; i < argc; ++i) {
    llvm::StringRef option = argv[i];
    list |= option == "--list";
    if (option == "--only" && i + 1 < argc)
      only = argv[++i];
    if (option == "--level" && i + 1 < argc)
      settings.level = std::atoi(argv[++i]);
    if (option == "--threads" && i + 1 < argc)
      settings.threads = std::atoi(argv[++i]);
  }
  if (!mode) {
    llvm::errs() << usage;
    return 2;
  }
  std::vector<fs::path> folders;
  for (const fs::directory_entry &entry : fs::directory_iterator(argv[1]))
    if (entry.path().filename().string().find(only) != std::string::npos)
      folders.push_back(entry.path());
  std::ranges::sort(folders);
  std::map<Outcome::Kind, int> counts;
  std::vector<Outcome> outcomes = runAll(folders, settings);
  for (size_t i = 0; i < folders.size(); ++i) {
    const Outcome &outcome = outcomes[i];
    ++counts[outcome.kind];
    if (outcome.kind == Outcome::Failed || (list && outcome.kind == Outcome::Skipped))
      llvm::outs() << (outcome.kind == Outcome::Failed ? "FAILED " : "skipped ") << folders[i].filename().string() << ": "
                   << outcome.reason << "\n";
  }
  llvm::outs() << counts[Outcome::Passed] << " passed, " << counts[Outcome::Failed] << " failed, " << counts[Outcome::Skipped]
               << " skipped\n";
  return counts[Outcome::Failed] != 0 || counts[Outcome::Passed] == 0;
}
