// write-artifact IN.mlir LEVEL OUT.llmc: an artifact from IR text.
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "test/compiler/Emit/PlanText.h"

int main(int argc, char **argv) {
  auto text = argc == 4 ? llvm::MemoryBuffer::getFile(argv[1]) : std::error_code();
  if (!text)
    return 2;
  mlir::MLIRContext context;
  llmc::test::loadPlanTextDialects(context);
  return failed(llmc::test::writePlanText((*text)->getBuffer(), argv[2], argv[3], context));
}
