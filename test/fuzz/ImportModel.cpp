// Fuzz target: a model is refused with a reason, or becomes valid IR.
#include "compiler/Import/OnnxImporter.h"
#include "compiler/Import/OnnxProto.h"
#include "mlir/IR/Verifier.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

using namespace llmc;

// Type storage of ours lies in memory of libraries that are built without the sanitizer.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0"; }

/// A file that goes with the process, alone in its folder: models name other files beside them.
class ModelFile {
public:
  ModelFile() {
    std::string folder = "/dev/shm/llmc-fuzz-XXXXXX";
    if (!mkdtemp(folder.data()))
      std::abort();
    path = folder + "/model.onnx";
  }
  ~ModelFile() {
    unlink(path.c_str());
    rmdir(path.substr(0, path.rfind('/')).c_str());
  }
  void write(const uint8_t *data, size_t size) {
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(data), std::streamsize(size));
  }
  std::string path;
};

/// A context keeps all types and attributes it ever saw: a new one after some models.
static mlir::MLIRContext &contextOfSome() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int models = 0;
  if (models++ % 1000 == 0)
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

static void expect(bool holds, const char *what, const std::string &said) {
  if (holds)
    return;
  std::fprintf(stderr, "%s: %s\n", what, said.c_str());
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static ModelFile file;
  file.write(data, size);
  std::string error;
  std::unique_ptr<OnnxModel> model = OnnxModel::load(file.path, error);
  if (!model) {
    expect(!error.empty(), "refused without a reason", "");
    return 0;
  }
  mlir::MLIRContext &context = contextOfSome();
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return mlir::success();
  });
  Fault fault = Fault::None;
  mlir::OwningOpRef<mlir::ModuleOp> module = importOnnx(context, *model, {}, &fault);
  expect(fault != Fault::Internal, "a fault of ours", error);
  if (!module)
    expect(!error.empty(), "refused without a reason", "");
  else
    expect(mlir::succeeded(mlir::verify(*module)), "IR that is not valid", error);
  return 0;
}
