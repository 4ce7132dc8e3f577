// Element-wise generics: all loops parallel, stored along the innermost dim of the result.
//
// Dims that all tensors step through evenly become one. A work item is a chunk of the innermost dim, or several whole rows if
// they are static and short; its size comes from static sizes alone.
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "compiler/Codegen/Cpu/Pointwise.h"
#include "dialects/Graph/Graph.h"

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

constexpr int64_t kItemBytes = 8192; // of the widest result: a quarter of the L1 cache

class ElementwiseKernel {
public:
  explicit ElementwiseKernel(KernelBuilder &kb)
      : kb(kb), pointwise(kb, kb.sizesOf(kb.computedResult(0))) {}

  LogicalResult emit() {
    if (failed(collect()))
      return failure();
    pointwise.collapse();
    planItems();
    if (outer.empty() && chunksPerRow != kb.constantExpr(1))
      emitLine();
    else if (chunksPerRow == kb.constantExpr(1))
      emitWholeRows();
    else
      emitChunks();
    kb.finish();
    return success(!kb.broken);
  }

private:
  LogicalResult collect() {
    auto dispatch = kb.dispatch;
    Dims sizes = kb.sizesOf(kb.computedResult(0));
    for (unsigned i = 0; i < dispatch.getNumResults(); ++i) {
      Value tensor = kb.computedResult(i);
      if (kb.sizesOf(tensor) != sizes)
        return emitError(tensor.getLoc(), "results of one element-wise kernel must have the same sizes");
      if (failed(pointwise.require(tensor)))
        return failure();
      tensors.push_back(tensor);
      accesses.push_back({tensor, pointwise.identity()});
      views.push_back(kb.resultView(i));
      elementBytes = std::max(elementBytes, views.back().elementBytes());
    }
    return success();
  }

  void planItems() {
    inner = pointwise.groupSizes().back();
    outer.assign(pointwise.groupSizes().begin(), std::prev(pointwise.groupSizes().end()));
    rows = graph::productOf(kb.context(), outer);
    lanes = pointwise.naturalLanes();
    chunk = llvm::alignTo(std::max<int64_t>(kItemBytes / elementBytes, 1), lanes);
    std::optional<int64_t> rowSize = inner.asConstant();
    rowsPerItem = rowSize && *rowSize < chunk ? chunk / std::max<int64_t>(*rowSize, 1) : 1;
    chunksPerRow = rowSize && *rowSize <= chunk ? kb.constantExpr(1) : inner.ceilDiv(chunk);
    kb.cost.grid = rows.ceilDiv(rowsPerItem) * chunksPerRow;
    int64_t cycles = pointwise.cycles() + pointwise.stridedReads(pointwise.groupSizes().size() - 1) * lanes;
    DimExpr elements = inner.min(kb.constantExpr(chunk)) * rowsPerItem;
    kb.cost.grain = grainFor(elements.ceilDiv(lanes) * cycles);
  }

  /// One long row: the items of a call are one range of it.
  void emitLine() {
    Value size = kb.index(inner);
    Value first = kb.mul(kb.begin(), kb.index(chunk));
    Value last = kb.min(kb.mul(kb.end(), kb.index(chunk)), size);
    emitRow({}, first, last);
  }

  void emitWholeRows() {
    Value first = kb.mul(kb.begin(), kb.index(rowsPerItem));
    Value last = kb.min(kb.mul(kb.end(), kb.index(rowsPerItem)), kb.index(rows));
    kb.loop(first, last, 1, [&](Value row) { emitRow(kb.delinearize(row, outer), kb.index(0), kb.index(inner)); });
  }

  void emitChunks() {
    kb.loop(kb.begin(), kb.end(), 1, [&](Value item) {
      SmallVector<Value> place = kb.delinearize(item, {rows, chunksPerRow});
      Value first = kb.mul(place[1], kb.index(chunk));
      Value last = kb.min(kb.add(first, kb.index(chunk)), kb.index(inner));
      emitRow(kb.delinearize(place[0], outer), first, last);
    });
  }

  void emitRow(SmallVector<Value> coordinates, Value first, Value last) {
    coordinates.push_back(first);
    Position row{coordinates, static_cast<unsigned>(outer.size()), kb.allLanes(lanes)};
    pointwise.hoist(row, accesses);
    kb.loopOverLanes(first, last, lanes, [&](Value i, const Lanes &active) {
      Position position = row;
      position.index.back() = i;
      position.lanes = active;
      pointwise.newPosition();
      SmallVector<Value> vectors; // all before the first store: a result may lie on an argument
      for (Value tensor : tensors)
        vectors.push_back(pointwise.evaluate(tensor, position));
      for (auto [vector, view] : llvm::zip_equal(vectors, views))
        pointwise.store(vector, view, position);
    });
  }

  KernelBuilder &kb;
  Pointwise pointwise;
  SmallVector<Value> tensors; // one per result
  SmallVector<Pointwise::Access> accesses;
  SmallVector<View> views;
  Dims outer;
  DimExpr inner, rows, chunksPerRow;
  int64_t chunk = 0, rowsPerItem = 1;
  unsigned elementBytes = 1, lanes = 1;
};

} // namespace

bool isElementwise(func::FuncOp dispatch) {
  return llvm::all_of(dispatch.getBody().front().without_terminator(), [](Operation &op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic)
      return generic.getNumParallelLoops() == generic.getNumLoops();
    return op.getName().getDialectNamespace() != "graph";
  });
}

LogicalResult emitElementwise(KernelBuilder &kb) { return ElementwiseKernel(kb).emit(); }

} // namespace llmc::cpu
