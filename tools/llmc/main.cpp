// llmc: an ONNX model in, one artifact out.
#include "tools/llmc/Options.h"
#include "compiler/Emit/ArtifactFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <unistd.h>

using namespace llmc;

namespace {

/// One line that each phase overwrites, on a terminal only.
void showProgress(llvm::StringRef phase) {
  if (isatty(STDERR_FILENO))
    llvm::errs() << "\r\033[K" << phase << " ...";
}

void clearProgress() {
  if (isatty(STDERR_FILENO))
    llvm::errs() << "\r\033[K";
}

/// Prints the error, if there is one.
bool isGood(llvm::Error error) {
  if (!error)
    return true;
  llvm::errs() << "llmc: error: " << llvm::toString(std::move(error)) << "\n";
  return false;
}

bool writeReport(const CommandLine &line, const CompileResult &result) {
  bool isPage = llvm::StringRef(line.reportPath).ends_with(".html");
  std::string text = isPage ? reportHtml(line.compile, result) : reportJson(line.compile, result);
  auto file = ArtifactFile::create(line.reportPath);
  llvm::Error error = file ? (*file)->writeAt(0, text) : file.takeError();
  if (!error)
    error = (*file)->commit(text.size());
  return isGood(std::move(error));
}

/// Finds out before the work is done.
bool canWriteFiles(const CommandLine &line) {
  return isGood(ArtifactFile::checkReplaceable(line.compile.outputPath)) && isGood(ArtifactFile::checkReplaceable(line.reportPath));
}

std::string listed(const std::vector<uint64_t> &numbers) {
  return llvm::join(llvm::map_range(numbers, [](uint64_t number) { return std::to_string(number); }), ",");
}

void printBatching(const plan::BatchingT &batching) {
  if (batching.generated.empty())
    llvm::outs() << "batches of " << listed(batching.sizes) << " rows of " << batching.dim << "; " << batching.row_proof << "\n";
  else
    llvm::outs() << "batches of requests packed along " << batching.dim << ", up to " << batching.sizes.back() << " places; " << batching.row_proof << "\n";
  for (auto &bucket : batching.buckets)
    llvm::outs() << "buckets " << bucket->name << "=" << listed(bucket->edges) << "; " << bucket->proof << "\n";
}

void printSummary(const CommandLine &line, const CompileResult &result, double seconds) {
  std::vector<std::string> fallbacks = result.fallbacks();
  llvm::outs() << line.compile.outputPath << ": " << llvm::format("%.2f s, %.1f MB, ", seconds, result.artifact.fileBytes / 1e6)
               << result.artifact.steps << " steps, arena ";
  if (result.arenaPeak)
    llvm::outs() << llvm::format("%.1f MB", *result.arenaPeak / 1e6);
  else
    llvm::outs() << "by shape";
  llvm::outs() << ", " << (fallbacks.empty() ? "no fallbacks" : "fallbacks: " + llvm::join(fallbacks, ", ")) << "\n";
  if (result.batch)
    printBatching(result.batch->table);
}

/// Names and attributes come from the model and may have any length; the start of a long one tells enough.
std::string shortened(llvm::StringRef text) {
  constexpr size_t most = 2000;
  return text.size() <= most ? text.str() : text.take_front(most).str() + "... (" + std::to_string(text.size()) + " bytes)";
}

llvm::StringRef nameOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Note: return "note";
  case mlir::DiagnosticSeverity::Warning: return "warning";
  case mlir::DiagnosticSeverity::Error: return "error";
  case mlir::DiagnosticSeverity::Remark: return "remark";
  }
  llvm_unreachable("no such severity");
}

void printDiagnostic(mlir::Diagnostic &diagnostic) {
  std::string place;
  llvm::raw_string_ostream os(place);
  os << diagnostic.getLocation();
  if (!mlir::isa<mlir::UnknownLoc>(diagnostic.getLocation()))
    llvm::errs() << shortened(place) << ": ";
  llvm::errs() << nameOf(diagnostic.getSeverity()) << ": " << shortened(diagnostic.str()) << "\n";
  llvm::for_each(diagnostic.getNotes(), printDiagnostic);
}

} // namespace

int main(int argc, char **argv) {
  CommandLine line;
  if (std::optional<int> code = parseCommandLine(argc, argv, line))
    return *code;
  if (!canWriteFiles(line))
    return badData;
  auto start = std::chrono::steady_clock::now();
  line.compile.onPhase = showProgress;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler(printDiagnostic);
  CompileResult result = compileModel(context, line.compile);
  clearProgress();
  switch (result.fault) {
  case Fault::None: break;
  case Fault::Model: return badData;
  case Fault::Options: return wrongCommandLine;
  case Fault::Internal: return ourFault;
  }
  if (!result.text.empty()) {
    llvm::outs() << result.text;
    return 0;
  }
  if (!line.reportPath.empty() && !writeReport(line, result))
    return badData;
  printSummary(line, result, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return 0;
}
