#include "compiler/Codegen/Cpu/PanelPacker.h"
#include "compiler/Codegen/Cpu/Microkernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace llmc::cpu {
namespace {

class PanelPacker {
public:
  PanelPacker(KernelBuilder &kb, const StridedMatrix &matrix, Value panel) : kb(kb), matrix(matrix), panel(panel) {}

  /// The panel's vector of columns from `column` on, of which `active` (i64, 0 or more) exist.
  void packVector(int64_t column, Value active) {
    unsigned count = kb.level.lanes(4);
    auto whole = compare(arith::CmpIPredicate::sge, active, count);
    ifElse(
        whole, [&] { copy(column, [&](Value from) { return read(from, kb.allLanes(count)); }); },
        [&] {
          ifElse(
              compare(arith::CmpIPredicate::sgt, active, 0),
              [&] { copy(column, [&](Value from) { return read(from, kb.firstLanes(count, active)); }); },
              [&] { copy(column, [&](Value) { return kb.zeroVector(kb.b.getF32Type(), count); }); });
        });
  }

private:
  Value compare(arith::CmpIPredicate predicate, Value value, int64_t bound) {
    return arith::CmpIOp::create(kb.b, predicate, value, kb.index(bound));
  }

  void ifElse(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
    auto branch = scf::IfOp::create(kb.b, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(kb.b);
    kb.b.setInsertionPointToStart(branch.thenBlock());
    then();
    kb.b.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  }

  Value read(Value from, const Lanes &lanes) {
    if (matrix.columnStep.isConstant(1))
      return kb.load(from, kb.b.getF32Type(), lanes);
    return kb.loadStrided(from, kb.b.getF32Type(), kb.index(matrix.columnStep), lanes);
  }

  void copy(int64_t column, llvm::function_ref<Value(Value)> readAt) {
    Type f32 = kb.b.getF32Type();
    Value first = kb.advance(matrix.pointer, f32, kb.mul(kb.index(column), kb.index(matrix.columnStep)));
    kb.loop(kb.index(0), kb.index(matrix.segments), 1, [&](Value segment) {
      Value from = kb.advance(first, f32, kb.mul(segment, kb.index(matrix.segmentStep)));
      Value to = kb.advance(panel, f32, kb.mul(kb.mul(segment, kb.index(matrix.depth)), kb.index(panelColumns)));
      kb.loop(kb.index(0), kb.index(matrix.depth), 1, [&](Value k) {
        Value target = kb.advance(to, f32, kb.add(kb.mul(k, kb.index(panelColumns)), kb.index(column)));
        kb.store(readAt(kb.advance(from, f32, kb.mul(k, kb.index(matrix.depthStep)))), target,
                 kb.allLanes(kb.level.lanes(4)));
      });
    });
  }

  KernelBuilder &kb;
  const StridedMatrix &matrix;
  Value panel;
};

} // namespace

void packPanel(KernelBuilder &kb, const StridedMatrix &matrix, Value firstColumn, Value panel) {
  PanelPacker packer(kb, matrix, panel);
  Value rest = kb.sub(kb.index(matrix.columns), firstColumn);
  for (int64_t column = 0; column < panelColumns; column += kb.level.lanes(4))
    packer.packVector(column, kb.max(kb.sub(rest, kb.index(column)), kb.index(0)));
}

} // namespace llmc::cpu
