// See CpuLowering.h. Functions of math on f32 vectors become polynomials here, the same for every vector width; whatever remains
// is a call to the math library that the linker adds.
#include "compiler/Target/CpuLowering.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace llmc::cpu {
namespace {

/// fma(a, b, c) -> a * b + c, on levels whose machines have no such instruction.
struct SplitFma final : OpRewritePattern<math::FmaOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(math::FmaOp op, PatternRewriter &rewriter) const override {
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), op->getOperand(0), op->getOperand(1));
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op->getOperand(2));
    return success();
  }
};

LogicalResult expandMath(ModuleOp module, const CpuLevel &level) {
  RewritePatternSet patterns(module.getContext());
  // x^y and the like in terms of exp and log, which the approximations then take.
  math::populateExpansionPatterns(patterns, {math::TanOp::getOperationName(), math::SinhOp::getOperationName(),
                                             math::CoshOp::getOperationName(), math::AsinhOp::getOperationName(),
                                             math::AcoshOp::getOperationName(), math::AtanhOp::getOperationName(),
                                             math::Exp2Op::getOperationName(), math::RsqrtOp::getOperationName(),
                                             math::PowFOp::getOperationName(), math::FPowIOp::getOperationName(),
                                             math::ClampFOp::getOperationName()});
  populateMathPolynomialApproximationPatterns(patterns, MathPolynomialApproximationOptions{});
  if (!level.fma)
    patterns.add<SplitFma>(module.getContext());
  return applyPatternsGreedily(module, std::move(patterns));
}

} // namespace

LogicalResult lowerToLlvmDialect(ModuleOp module, const CpuLevel &level) {
  if (failed(expandMath(module, level)))
    return module.emitError("the math functions of the kernels do not expand");
  PassManager passes(module.getContext());
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(module);
}

void loadCodegenDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                      scf::SCFDialect, vector::VectorDialect>();
}

} // namespace llmc::cpu
