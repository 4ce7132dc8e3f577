#include "compiler/Codegen/Cpu/ContractionKernel.h"
#include "compiler/Codegen/Cpu/Gemm.h"
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "compiler/Codegen/Cpu/Microkernel.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

/// Who is who in a contraction.
struct Roles {
  unsigned right = 1;      // the operand that the result's innermost dim belongs to
  bool hasColumns = false; // false: both operands move along that dim, or there is none
  unsigned columnLoop = 0; // number of the generic's loop over it
};

bool mentions(AffineMap map, unsigned loop) { return map.isFunctionOfDim(loop); }

Roles rolesOf(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Roles roles;
  if (maps[2].getNumResults() == 0)
    return roles;
  roles.columnLoop = maps[2].getDimPosition(maps[2].getNumResults() - 1);
  bool inFirst = mentions(maps[0], roles.columnLoop), inSecond = mentions(maps[1], roles.columnLoop);
  roles.hasColumns = inFirst != inSecond;
  roles.right = inSecond ? 1 : 0;
  return roles;
}

/// One loop over k, with the steps of the left and right operand.
struct Reduction {
  DimExpr size, leftStep, rightStep;
};

/// Merges neighbours that both operands can walk as one.
void collapse(SmallVectorImpl<Reduction> &reductions) {
  for (size_t i = reductions.size(); i-- > 1;) {
    Reduction &outer = reductions[i - 1], &inner = reductions[i];
    if (outer.leftStep != inner.leftStep * inner.size || outer.rightStep != inner.rightStep * inner.size)
      continue;
    outer = {outer.size * inner.size, inner.leftStep, inner.rightStep};
    reductions.erase(reductions.begin() + i);
  }
}

class ContractionEmitter {
public:
  ContractionEmitter(KernelBuilder &kb, linalg::GenericOp op)
      : kb(kb), op(op), maps(op.getIndexingMapsArray()), roles(rolesOf(op)), nest(kb, kb.sizesOf(op.getResult(0))) {}

  LogicalResult emit() {
    FailureOr<Epilogue> epilogue = Epilogue::of(kb, op.getResult(0), nest);
    FailureOr<View> left = kb.viewOf(operand(1 - roles.right)), right = kb.viewOf(operand(roles.right));
    if (failed(epilogue) || failed(left) || failed(right))
      return failure();
    if (!left->encoding.empty())
      return op.emitError("can not read its left operand in the packed layout ") << left->encoding;
    if (failed(unpackStrides(*right)))
      return failure();
    if (failed(findReductions(*left, *right)))
      return failure();
    unsigned leftAccess = nest.addAccess(accessOf(*left, maps[1 - roles.right]));
    unsigned rightAccess = nest.addAccess(accessOf(*right, maps[roles.right]));
    if (!roles.hasColumns)
      nest.insertUnitLoop(nest.loops.size(), 1);
    unsigned row = collapseRows(nest, rowCandidates());

    DimExpr one = kb.constantExpr(1), zero = kb.constantExpr(0);
    Reduction outer = reductions.size() > 1 ? reductions.front() : Reduction{one, zero, zero};
    Reduction inner = reductions.empty() ? Reduction{one, zero, zero} : reductions.back();
    Gemm gemm(nest, *epilogue, outer.size, inner.size);
    gemm.rowLoop = row;
    gemm.left = leftAccess;
    gemm.leftSegmentStep = outer.leftStep;
    gemm.leftStep = inner.leftStep;
    gemm.right = rightAccess;
    gemm.rightIsPacked = packed;
    gemm.rightSegmentStep = outer.rightStep;
    gemm.rightStep = inner.rightStep;
    return emitGemm(kb, gemm);
  }

private:
  Value operand(unsigned number) { return op.getDpsInputOperand(number)->get(); }

  bool isReduction(unsigned loop) { return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction; }

  /// Gives a packed right operand the strides of its panels: those of the batch dims, in elements.
  LogicalResult unpackStrides(View &right) {
    std::optional<Encoding> encoding = Encoding::parse(right.encoding);
    if (!encoding ||
        (encoding->kind != Encoding::Kind::Dense && encoding->kind != encodingOfOperand(op, roles.right).kind))
      return op.emitError("can not read its right operand in the layout ") << right.encoding;
    packed = encoding->kind != Encoding::Kind::Dense;
    if (!packed)
      return success();
    size_t rank = right.sizes.size();
    bool transposed = encoding->kind == Encoding::Kind::TransposedMatrix;
    DimExpr depth = right.sizes[transposed ? rank - 1 : rank - 2],
            columns = right.sizes[transposed ? rank - 2 : rank - 1];
    DimExpr step = depth * columns.ceilDiv(panelColumns) * panelColumns;
    right.strides.assign(rank, kb.constantExpr(0));
    for (size_t d = rank - 2; d-- > 0;) {
      right.strides[d] = step;
      step = step * right.sizes[d];
    }
    return success();
  }

  LogicalResult findReductions(const View &left, const View &right) {
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      if (!isReduction(loop))
        continue;
      Reduction reduction{{}, kb.constantExpr(0), kb.constantExpr(0)};
      auto add = [&](const View &view, AffineMap map, DimExpr &step) {
        if (std::optional<unsigned> d = map.getResultPosition(kb.b.getAffineDimExpr(loop))) {
          reduction.size = view.sizes[*d];
          step = view.strides[*d];
        }
      };
      add(left, maps[1 - roles.right], reduction.leftStep);
      add(right, maps[roles.right], reduction.rightStep);
      reductions.push_back(reduction);
    }
    if (!packed)
      collapse(reductions);
    if (reductions.size() > 2)
      return op.emitError("sums over ") << reductions.size() << " dims that can not be walked as two";
    return success();
  }

  /// The operand's strides by dims of the result.
  Access accessOf(const View &view, AffineMap map) {
    Access access{view, Dims(nest.loops.size(), kb.constantExpr(0))};
    for (auto [d, loop] : llvm::enumerate(maps[2].getResults()))
      if (std::optional<unsigned> position = map.getResultPosition(loop))
        access.strides[d] = view.strides[*position];
    return access;
  }

  /// Dims of the result along which only the left operand moves.
  SmallVector<unsigned> rowCandidates() {
    SmallVector<unsigned> candidates;
    for (unsigned d = 0; d < maps[2].getNumResults(); ++d)
      if (!mentions(maps[roles.right], maps[2].getDimPosition(d)))
        candidates.push_back(d);
    return candidates;
  }

  KernelBuilder &kb;
  linalg::GenericOp op;
  SmallVector<AffineMap> maps;
  Roles roles;
  Nest nest;
  bool packed = false;
  SmallVector<Reduction> reductions;
};

bool startsAtZero(linalg::GenericOp op) {
  auto fill = op.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getDpsInputOperand(0)->get(), m_PosZeroFloat());
}

} // namespace

bool isContraction(linalg::GenericOp op) {
  return linalg::isaContractionOpInterface(op) && startsAtZero(op) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) { return getElementTypeOrSelf(type).isF32(); });
}

Encoding encodingOfOperand(linalg::GenericOp op, unsigned operand) {
  Roles roles = rolesOf(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = maps[operand];
  if (operand != roles.right || !roles.hasColumns || map.getNumResults() < 2 || op.getNumReductionLoops() != 1)
    return {};
  auto isReduction = [&](unsigned d) {
    return op.getIteratorTypesArray()[map.getDimPosition(d)] == utils::IteratorType::reduction;
  };
  unsigned last = map.getNumResults() - 1;
  if (isReduction(last - 1) && map.getDimPosition(last) == roles.columnLoop)
    return {Encoding::Kind::Matrix};
  if (isReduction(last) && map.getDimPosition(last - 1) == roles.columnLoop)
    return {Encoding::Kind::TransposedMatrix};
  return {};
}

static linalg::GenericOp contractionOf(func::FuncOp dispatch) {
  for (auto generic : dispatch.getOps<linalg::GenericOp>())
    return isContraction(generic) ? generic : nullptr;
  return nullptr;
}

bool hasContraction(func::FuncOp dispatch) { return contractionOf(dispatch) != nullptr; }

LogicalResult emitContraction(KernelBuilder &kb) { return ContractionEmitter(kb, contractionOf(kb.dispatch)).emit(); }

} // namespace llmc::cpu
