// Imports a model and prints its IR, or what is wrong with it: the tool of the .onnxtxt tests.
//
//   print-import MODEL.onnx [--dim NAME=VALUE|LO..HI] [--shape INPUT=1x3]
#include "compiler/Import/DimOptions.h"
#include "compiler/Import/OnnxProto.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {

int fail(const std::string &error) {
  llvm::errs() << "error: " << error << "\n";
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  llmc::ImportOptions options;
  std::string path, error;
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i];
    bool good = true;
    if (argument == "--dim" && i + 1 < argc)
      good = llmc::parseDimOption(argv[++i], options, error);
    else if (argument == "--shape" && i + 1 < argc)
      good = llmc::parseShapeOption(argv[++i], options, error);
    else
      path = argument.str();
    if (!good)
      return fail(error);
  }
  std::unique_ptr<llmc::OnnxModel> model = llmc::OnnxModel::load(path, error);
  if (!model)
    return fail(error);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = llmc::importOnnx(context, *model, options);
  if (!module)
    return 1;
  module->print(llvm::outs(), OpPrintingFlags().elideLargeElementsAttrs(64).elideLargeResourceString(16));
  return 0;
}
