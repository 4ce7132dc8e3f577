// Element-wise fusion on linalg, by structure.
#include "passes/Graph/Device.h"
#include "passes/Lower/Passes.h"
#include "passes/Rewrite.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "passes/Lower/Passes.h.inc"
namespace {

/// Of one body: compile time and the registers that a body needs grow with its length, what fusion saves does not.
constexpr int64_t mostOps = 100;

/// A generic that only moves elements: a transpose, a broadcast, a copy of a slice.
bool onlyMoves(linalg::GenericOp op) {
  Operation *yield = op.getBody()->getTerminator();
  return op.getBody()->getOperations().size() == 1 && yield->getNumOperands() == 1 &&
         isa<BlockArgument>(yield->getOperand(0)) && op.getNumDpsInputs() == 1;
}

bool isContraction(linalg::GenericOp op) {
  return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() >= 2;
}

/// Whether the op reads the result of a convolution, pooling or matrix product: it is then worth more as that kernel's epilogue
/// than inside a reduction.
bool followsRoot(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    Operation *producer = input.getDefiningOp();
    auto generic = dyn_cast_if_present<linalg::GenericOp>(producer);
    return input.hasOneUse() && (isa_and_present<graph::ConvOp, graph::MaxPoolOp, graph::AveragePoolOp>(producer) ||
                                 (generic && isContraction(generic)));
  });
}

int64_t bodySize(linalg::GenericOp op) { return op.getBody()->getOperations().size(); }

/// Why an element-wise `producer` should not be computed where `consumer` reads it; null if it should.
const char *obstacleTo(linalg::GenericOp consumer, linalg::GenericOp producer) {
  if (consumer->getBlock() != producer->getBlock())
    return "the consumer is in the block of a branch or loop";
  if (deviceOf(consumer) != deviceOf(producer))
    return "the producer is on another device";
  if (isContraction(consumer)) {
    bool permutes = onlyMoves(producer) && producer.getMatchingIndexingMap(producer.getDpsInputOperand(0)).isPermutation();
    return permutes ? nullptr : "a product reads its operands through transposes only";
  }
  bool reduces = consumer.getNumReductionLoops() > 0;
  // A reduction of two operands is a matrix product, which rounds once where these ops round twice. Bits do not depend on fusion.
  if (reduces && producer.getNumDpsInputs() > 1)
    return "a reduction reads one operand";
  if (reduces && followsRoot(producer))
    return "the producer is an epilogue";
  if (bodySize(consumer) + bodySize(producer) > mostOps)
    return "the body would be too long";
  bool oneUse = llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer.getOperation(); });
  return oneUse || onlyMoves(producer) ? nullptr : "the producer's result has other readers";
}

bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  return producer && consumer && !obstacleTo(consumer, producer);
}

/// consumer(producer(x)) -> fused(x), with the locations of both: upstream's pattern forgets the producer's.
struct FuseProducer final : OpRewritePattern<linalg::GenericOp> {
  explicit FuseProducer(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(linalg::GenericOp consumer, PatternRewriter &rewriter) const override {
    for (OpOperand &operand : consumer->getOpOperands()) {
      if (!linalg::areElementwiseOpsFusable(&operand) || !shouldFuse(&operand))
        continue;
      Operation *producer = operand.get().getDefiningOp();
      FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, &operand);
      if (failed(fused))
        return rewriter.notifyMatchFailure(consumer, "can not be fused");
      fused->fusedOp->setLoc(rewriter.getFusedLoc({producer->getLoc(), consumer.getLoc()}));
      rewriter.replaceOp(consumer, llvm::map_to_vector(consumer.getResults(), [&](Value result) { return fused->replacements.lookup(result); }));
      return success();
    }
    return rewriter.notifyMatchFailure(consumer, "no operand to fuse");
  }
};

/// One remark for each element-wise producer that is left beside its consumer.
void reportNotFused(linalg::GenericOp consumer) {
  for (Value input : consumer.getDpsInputs()) {
    auto producer = input.getDefiningOp<linalg::GenericOp>();
    const char *obstacle = producer && producer.getNumReductionLoops() == 0 ? obstacleTo(consumer, producer) : nullptr;
    if (obstacle)
      remark::missed(consumer.getLoc(), remark::RemarkOpts::name("NotFused").category("linalg-fuse-element-wise"))
          << remark::reason("{0}", obstacle) << remark::metric("Producer", graph::joinedSourceNames(producer.getLoc()));
  }
}

/// transpose(contraction(a, b)) -> contraction(a, b) that writes the transposed result
struct FoldTransposeIntoContraction final : OpRewritePattern<linalg::GenericOp> {
  using Base::Base;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (op.getNumReductionLoops() > 0 || !onlyMoves(op))
      return rewriter.notifyMatchFailure(op, "not a transpose");
    AffineMap read = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    auto contraction = op.getDpsInputs()[0].getDefiningOp<linalg::GenericOp>();
    if (!read.isPermutation() || !contraction || !isContraction(contraction) || !contraction->hasOneUse() ||
        contraction->getBlock() != op->getBlock() || deviceOf(contraction) != deviceOf(op))
      return rewriter.notifyMatchFailure(op, "the operand is not a contraction of this block and device, of one use, read by a permutation");
    auto fill = contraction.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    if (!fill)
      return rewriter.notifyMatchFailure(op, "the contraction does not start from a filled tensor");
    SmallVector<AffineMap> maps = contraction.getIndexingMapsArray();
    maps.back() = inversePermutation(read).compose(maps.back());
    Value init = linalg::FillOp::create(rewriter, fill.getLoc(), fill.getInputs()[0], op.getDpsInits()[0]).getResult(0);
    auto merged = linalg::GenericOp::create(rewriter, rewriter.getFusedLoc({contraction.getLoc(), op.getLoc()}), op.getResultTypes(),
                                            contraction.getDpsInputs(), ValueRange(init), maps,
                                            contraction.getIteratorTypesArray());
    rewriter.cloneRegionBefore(contraction.getRegion(), merged.getRegion(), merged.getRegion().end());
    rewriter.replaceOp(op, merged.getResults());
    rewriter.eraseOp(contraction);
    return success();
  }
};

/// Patterns of others make ops without the attributes of those they replace.
struct KeepDevices final : RewriterBase::Listener {
  void notifyOperationReplaced(Operation *op, ValueRange values) override {
    for (Value value : values)
      if (Operation *made = value.getDefiningOp<linalg::GenericOp>())
        inheritDevice(op, made);
  }
};

struct FuseElementwisePass : impl::FuseElementwisePassBase<FuseElementwisePass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    patterns.add<FoldTransposeIntoContraction, FuseProducer>(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    KeepDevices listener;
    GreedyRewriteConfig config;
    config.enableFolding(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled).setListener(&listener);
    if (failed(rewriteAll(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    getOperation().walk(reportNotFused);
  }
};

} // namespace
} // namespace llmc
