// Concatenation: a row of the result (the dims from the axis on) is one run of each operand after the other.
//
// A work item is a chunk of a row, or several whole rows if they are static and short.
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "dialects/Graph/Graph.h"

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

constexpr int64_t kItemBytes = 8192;

graph::ConcatOp concatOf(func::FuncOp dispatch) {
  auto concats = dispatch.getBody().getOps<graph::ConcatOp>();
  return concats.empty() ? graph::ConcatOp() : *concats.begin();
}

class ConcatKernel {
public:
  ConcatKernel(KernelBuilder &kb, graph::ConcatOp op) : kb(kb), op(op) {}

  LogicalResult emit() {
    if (failed(collect()))
      return failure();
    unsigned bytes = result.elementBytes();
    int64_t chunk = kItemBytes / bytes;
    std::optional<int64_t> rowSize = row.asConstant();
    bool wholeRows = rowSize && *rowSize <= chunk;
    int64_t rowsPerItem = wholeRows ? chunk / std::max<int64_t>(*rowSize, 1) : 1;
    DimExpr chunksPerRow = wholeRows ? kb.constantExpr(1) : row.ceilDiv(chunk);
    kb.cost.grid = rows.ceilDiv(rowsPerItem) * chunksPerRow;
    kb.cost.grain = grainFor((row.min(kb.constantExpr(chunk)).ceilDiv(lanes) * 2 + 10 * runs.size()) * rowsPerItem);
    if (wholeRows)
      emitWholeRows(rowsPerItem);
    else
      emitChunks(chunk, chunksPerRow);
    kb.finish();
    return success();
  }

private:
  struct Run {
    View source;
    DimExpr size;
    DimExpr begin; // in the result's row
  };

  LogicalResult collect() {
    result = kb.resultView(0);
    rows = graph::productOf(kb.context(), ArrayRef(result.sizes).take_front(op.getAxis()));
    row = graph::productOf(kb.context(), ArrayRef(result.sizes).drop_front(op.getAxis()));
    lanes = std::max(1u, kb.level.vectorBytes / result.elementBytes());
    DimExpr begin = kb.constantExpr(0);
    for (Value operand : op.getInputs()) {
      FailureOr<View> source = kb.viewOf(operand);
      if (failed(source))
        return failure();
      DimExpr size = graph::productOf(kb.context(), ArrayRef(source->sizes).drop_front(op.getAxis()));
      runs.push_back({*source, size, begin});
      begin = begin + size;
    }
    return success();
  }

  void emitWholeRows(int64_t rowsPerItem) {
    Value first = kb.mul(kb.begin(), kb.index(rowsPerItem));
    Value last = kb.min(kb.mul(kb.end(), kb.index(rowsPerItem)), kb.index(rows));
    kb.loop(first, last, 1, [&](Value number) {
      for (const Run &run : runs)
        copy(run, number, kb.index(0), kb.index(run.size));
    });
  }

  void emitChunks(int64_t chunk, DimExpr chunksPerRow) {
    kb.loop(kb.begin(), kb.end(), 1, [&](Value item) {
      SmallVector<Value> place = kb.delinearize(item, {rows, chunksPerRow});
      Value first = kb.mul(place[1], kb.index(chunk)), last = kb.add(first, kb.index(chunk));
      for (const Run &run : runs) {
        Value begin = kb.index(run.begin), size = kb.index(run.size);
        Value from = kb.max(kb.sub(first, begin), kb.index(0)), to = kb.min(kb.sub(last, begin), size);
        copy(run, place[0], from, kb.max(from, to));
      }
    });
  }

  /// Elements first to last of the run, in row `number`.
  void copy(const Run &run, Value number, Value first, Value last) {
    Value source = kb.advance(run.source.base, run.source.elementType, kb.mul(number, kb.index(run.size)));
    Value start = kb.add(kb.mul(number, kb.index(row)), kb.index(run.begin));
    Value target = kb.advance(result.base, result.elementType, start);
    kb.loopOverLanes(first, last, lanes, [&](Value i, const Lanes &active) {
      kb.store(kb.load(kb.advance(source, run.source.elementType, i), run.source.elementType, active),
               kb.advance(target, result.elementType, i), active);
    });
  }

  KernelBuilder &kb;
  graph::ConcatOp op;
  View result;
  SmallVector<Run> runs;
  DimExpr rows, row;
  unsigned lanes = 1;
};

} // namespace

bool isConcat(func::FuncOp dispatch) {
  graph::ConcatOp concat = concatOf(dispatch);
  // From arguments as they are to the result as it is.
  return concat && llvm::all_of(concat.getInputs(), llvm::IsaPred<BlockArgument>) &&
         dispatch.getBody().front().getTerminator()->getOperand(0) == concat.getResult();
}

LogicalResult emitConcat(KernelBuilder &kb) { return ConcatKernel(kb, concatOf(kb.dispatch)).emit(); }

} // namespace llmc::cpu
