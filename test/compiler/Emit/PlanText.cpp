// See PlanText.h.
#include "test/compiler/Emit/PlanText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace llmc::test {

void loadPlanTextDialects(MLIRContext &context) {
  prepareForCpu(context);
  context.loadDialect<plan::PlanDialect, func::FuncDialect, arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                      tensor::TensorDialect>();
}

FailureOr<ArtifactInfo> writePlanText(StringRef text, StringRef level, const std::string &path, MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return failure();
  std::vector<CompiledImage> images;
  if (!module->getOps<func::FuncOp>().empty()) {
    FailureOr<CompiledImage> image = compileForCpu(*module, *cantFail(findCpuLevel(level)), {});
    if (failed(image))
      return failure();
    images.push_back(std::move(*image));
  }
  return writeArtifact(*module, images, {"test", {}}, path);
}

} // namespace llmc::test
