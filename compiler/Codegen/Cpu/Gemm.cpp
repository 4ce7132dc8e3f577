#include "compiler/Codegen/Cpu/Gemm.h"
#include "compiler/Codegen/Cpu/Microkernel.h"
#include "compiler/Codegen/Cpu/PanelPacker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <set>

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

/// The tile heights that blocks of `blockRows` rows out of `rows` (nothing: any number) are cut into, greatest first.
SmallVector<int64_t> tileHeights(std::optional<int64_t> rows, int64_t blockRows, int64_t tileRows) {
  std::set<int64_t, std::greater<>> heights;
  auto addBlock = [&](int64_t count) {
    if (count == 0)
      return;
    int64_t tiles = llvm::divideCeil(count, tileRows);
    heights.insert(count / tiles);
    heights.insert(llvm::divideCeil(count, tiles));
  };
  if (rows) {
    addBlock(std::min(*rows, blockRows));
    addBlock(*rows % blockRows);
  } else {
    for (int64_t height = 1; height <= tileRows; ++height)
      heights.insert(height);
  }
  return llvm::to_vector(heights);
}

class GemmEmitter {
public:
  GemmEmitter(KernelBuilder &kb, Gemm &gemm)
      : kb(kb), gemm(gemm), nest(gemm.nest), rows(nest.loops[gemm.rowLoop].size), columns(nest.loops.back().size),
        depth(gemm.segments * gemm.depth),
        strategy(chooseGemm(kb.level, {rows.asConstant(), columns.asConstant(), depth.asConstant(), gemm.rowBytes})),
        heights(tileHeights(rows.asConstant(), strategy.blockRows, strategy.tileRows)),
        tileColumns(strategy.tileVectors * kb.level.lanes(4)) {}

  LogicalResult emit() {
    panels = columns.ceilDiv(panelColumns);
    Dims grid;
    for (unsigned loop = 0; loop + 1 < nest.loops.size(); ++loop)
      if (loop != gemm.rowLoop)
        grid.push_back(nest.loops[loop].size);
    grid.push_back(rows.ceilDiv(strategy.blockRows));
    grid.push_back(panels.ceilDiv(strategy.blockPanels));
    setCost(grid);
    if (gemm.rows && !heights.empty())
      gemm.rows->prepareKernel(kb.advance(kb.scratch(), kb.b.getI8Type(), kb.index(panelBytes())), strategy);
    if (!heights.empty()) // there are rows
      kb.loop(kb.begin(), kb.end(), 1, [&](Value item) { emitItem(kb.delinearize(item, grid)); });
    kb.finish();
    return status;
  }

private:
  DimExpr panelBytes() { return gemm.rightIsPacked ? kb.constantExpr(0) : depth * panelColumns * 4; }

  void setCost(const Dims &grid) {
    kb.cost.grid = graph::productOf(kb.context(), grid);
    kb.cost.scratch = panelBytes();
    if (gemm.rows)
      kb.cost.scratch = kb.cost.scratch + gemm.rows->scratchBytes(strategy);
    kb.cost.grain = kb.constantExpr(grainOf(strategy.itemNanos));
  }

  /// `coordinates`: the outer loops', then the number of the row block and of the group of panels.
  void emitItem(ArrayRef<Value> coordinates) {
    SmallVector<Value> indices(nest.loops.size());
    for (unsigned loop = 0, next = 0; loop + 1 < nest.loops.size(); ++loop)
      if (loop != gemm.rowLoop)
        indices[loop] = coordinates[next++];
    ArrayRef<Value> blocks = coordinates.take_back(2);
    Value firstRow = kb.mul(blocks[0], kb.index(strategy.blockRows));
    Value lastRow = kb.min(kb.add(firstRow, kb.index(strategy.blockRows)), kb.index(rows));
    Value firstPanel = kb.mul(blocks[1], kb.index(strategy.blockPanels));
    Value lastPanel = kb.min(kb.add(firstPanel, kb.index(strategy.blockPanels)), kb.index(panels));
    if (gemm.rows)
      gemm.rows->prepareBlock(nest, gemm.rowLoop, indices, firstRow, lastRow);
    kb.loop(firstPanel, lastPanel, 1, [&](Value panel) { emitPanel(indices, panel, firstRow, lastRow); });
  }

  void emitPanel(SmallVector<Value> indices, Value panel, Value firstRow, Value lastRow) {
    Value firstColumn = kb.mul(panel, kb.index(panelColumns));
    Value left = kb.sub(kb.index(columns), firstColumn);
    Value packed = panelPointer(indices, panel, firstColumn);
    Value tiles =
        kb.div(kb.add(kb.sub(lastRow, firstRow), kb.index(strategy.tileRows - 1)), kb.index(strategy.tileRows));
    planFetchAhead(packed, tiles);
    kb.loop(kb.index(0), kb.min(left, kb.index(panelColumns)), tileColumns, [&](Value column) {
      indices.back() = kb.add(firstColumn, column);
      Value right = kb.advance(packed, kb.b.getF32Type(), column);
      kb.loop(kb.index(0), tiles, 1, [&](Value tile) {
        Value share = kb.add(kb.mul(kb.div(column, kb.index(tileColumns)), tiles), tile);
        emitTile(indices, tile, tiles, firstRow, lastRow, right, share);
      });
    });
  }

  /// The next panel is fetched evenly by the tiles that use this one. Past the last panel that costs little: it can not
  /// fault.
  void planFetchAhead(Value packed, Value tiles) {
    if (!strategy.fetchAhead || !gemm.rightIsPacked)
      return;
    ahead = kb.advance(packed, kb.b.getF32Type(), kb.index(depth * panelColumns));
    Value shares = kb.mul(tiles, kb.index(panelColumns / tileColumns));
    Value rowBytes = kb.index(panelColumns * sizeof(float));
    aheadStep = kb.div(kb.add(rowBytes, kb.sub(shares, kb.index(1))), shares);
    aheadShare = kb.mul(aheadStep, kb.index(depth));
  }

  /// The packed panel, made in scratch if the operand is not packed.
  Value panelPointer(SmallVector<Value> indices, Value panel, Value firstColumn) {
    indices[gemm.rowLoop] = {};
    indices.back() = gemm.rightIsPacked ? Value() : firstColumn;
    Value pointer = nest.pointer(gemm.right, indices);
    if (gemm.rightIsPacked)
      return kb.advance(pointer, kb.b.getF32Type(), kb.mul(panel, kb.index(depth * panelColumns)));
    packPanel(kb,
              {pointer, gemm.segments, gemm.depth, gemm.rightSegmentStep, gemm.rightStep,
               nest.accesses[gemm.right].strides.back(), columns},
              firstColumn, kb.scratch());
    return kb.scratch();
  }

  /// Tile `tile` of `tiles` in the block: the first `extra` ones have one row more than the others.
  void emitTile(SmallVector<Value> indices, Value tile, Value tiles, Value firstRow, Value lastRow, Value right,
                Value share) {
    Value blockRows = kb.sub(lastRow, firstRow);
    Value least = kb.div(blockRows, tiles), extra = kb.rem(blockRows, tiles);
    Value row = kb.add(kb.mul(tile, least), kb.min(tile, extra));
    Value isHigher = arith::CmpIOp::create(kb.b, arith::CmpIPredicate::slt, tile, extra);
    Value height = kb.add(least, arith::ExtUIOp::create(kb.b, kb.b.getI64Type(), isHigher));
    indices[gemm.rowLoop] = kb.add(firstRow, row);
    emitHeights(heights, height, [&](int64_t rows) { emitTileOf(rows, indices, row, right, share); });
  }

  /// Calls `body` for the one of `choices` that `height` is.
  void emitHeights(ArrayRef<int64_t> choices, Value height, llvm::function_ref<void(int64_t)> body) {
    if (choices.size() == 1)
      return body(choices.front());
    Value isFirst = arith::CmpIOp::create(kb.b, arith::CmpIPredicate::eq, height, kb.index(choices.front()));
    auto branch = scf::IfOp::create(kb.b, isFirst, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(kb.b);
    kb.b.setInsertionPointToStart(branch.thenBlock());
    body(choices.front());
    kb.b.setInsertionPointToStart(branch.elseBlock());
    emitHeights(choices.drop_front(), height, body);
  }

  void emitTileOf(int64_t rowCount, SmallVector<Value> indices, Value row, Value right, Value share) {
    MicrokernelSpec spec{kb.level.lanes(4), rowCount, strategy.tileVectors};
    MicrokernelOperands operands;
    if (!gemm.segments.isConstant(1))
      operands.segments = kb.index(gemm.segments);
    operands.depth = kb.index(gemm.depth);
    operands.rowStep = kb.index(gemm.leftStep);
    operands.panel = right;
    if (ahead) {
      operands.ahead = kb.advance(ahead, kb.b.getI8Type(), kb.mul(share, aheadShare));
      operands.aheadStep = aheadStep;
    }
    auto pointers = [&](Value segment) { return rowPointers(rowCount, indices, row, segment); };
    operands.rowPointers = pointers;
    SmallVector<Value> sums = emitMicrokernel(kb.b, spec, operands);

    TileOfResult tile{indices, gemm.rowLoop, rowCount, strategy.tileVectors, {}};
    std::optional<int64_t> known = columns.asConstant();
    if (!known || *known % tileColumns != 0)
      tile.columns = kb.sub(kb.index(columns), indices.back());
    if (failed(gemm.epilogue.store(kb, nest, tile, sums)))
      status = failure();
  }

  SmallVector<Value> rowPointers(int64_t rowCount, SmallVector<Value> indices, Value row, Value segment) {
    if (gemm.rows)
      return gemm.rows->pointers(row, rowCount, segment ? segment : kb.index(0));
    indices.back() = {};
    Value first = nest.pointer(*gemm.left, indices);
    if (segment)
      first = kb.advance(first, kb.b.getF32Type(), kb.mul(segment, kb.index(gemm.leftSegmentStep)));
    Value step = kb.index(nest.accesses[*gemm.left].strides[gemm.rowLoop]);
    SmallVector<Value> pointers;
    for (int64_t r = 0; r < rowCount; ++r)
      pointers.push_back(kb.advance(first, kb.b.getF32Type(), kb.mul(kb.index(r), step)));
    return pointers;
  }

  KernelBuilder &kb;
  Gemm &gemm;
  Nest &nest;
  DimExpr rows, columns, depth, panels;
  GemmStrategy strategy;
  SmallVector<int64_t> heights;
  int64_t tileColumns;
  Value ahead, aheadStep, aheadShare; // the panel to fetch: where, bytes per k, bytes per tile; null: none
  LogicalResult status = success();
};

} // namespace

unsigned collapseRows(Nest &nest, SmallVector<unsigned> candidates) {
  if (candidates.empty()) {
    nest.insertUnitLoop(0, 0);
    return 0;
  }
  unsigned row = candidates.pop_back_val();
  for (unsigned outer : llvm::reverse(candidates))
    if (nest.canCollapse(outer, row)) {
      nest.collapse(outer, row);
      --row;
    }
  return row;
}

LogicalResult emitGemm(KernelBuilder &kb, Gemm &gemm) { return GemmEmitter(kb, gemm).emit(); }

} // namespace llmc::cpu
