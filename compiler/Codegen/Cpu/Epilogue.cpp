#include "compiler/Codegen/Cpu/Epilogue.h"
#include "compiler/Codegen/Cpu/BodyEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using llmc::graph::DimExpr;

namespace llmc::cpu {

FailureOr<Epilogue::Source> Epilogue::sourceOf(KernelBuilder &kb, OpOperand &operand, linalg::GenericOp op,
                                               Nest &nest) {
  Value value = operand.get();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (auto computed = numbers.find(value); computed != numbers.end()) {
    if (!map.isIdentity())
      return op.emitError("reads a value of its own kernel by a map that is not the identity");
    return Source{Source::Computed, computed->second, {}};
  }
  if (!isa<ShapedType>(value.getType())) {
    Value scalar = kb.scalar(value);
    if (!scalar)
      return failure();
    return Source{Source::Scalar, 0, scalar};
  }
  FailureOr<View> view = kb.viewOf(value);
  if (failed(view))
    return failure();
  return Source{Source::Memory, nest.addAccess(*view, map), {}};
}

LogicalResult Epilogue::addStep(KernelBuilder &kb, linalg::GenericOp op, Nest &nest) {
  if (op.getNumReductionLoops() != 0 || op.getNumLoops() != nest.loops.size() || op.hasIndexSemantics())
    return op.emitError("does not walk the result of the root that it follows");
  Step step{op, {}};
  for (OpOperand *operand : op.getDpsInputOperands()) {
    FailureOr<Source> source = sourceOf(kb, *operand, op, nest);
    if (failed(source))
      return failure();
    step.inputs.push_back(*source);
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getMatchingIndexingMap(&init).isIdentity() || op.payloadUsesValueFromOperand(&init))
      return op.emitError("an element-wise op must write its results by the identity and not read them");
  for (Value result : op.getResults())
    numbers.try_emplace(result, numbers.size());
  steps.push_back(std::move(step));
  return success();
}

FailureOr<Epilogue> Epilogue::of(KernelBuilder &kb, Value root, Nest &nest) {
  Epilogue epilogue;
  epilogue.numbers[root] = 0;
  for (Operation *op = root.getDefiningOp()->getNextNode(); op; op = op->getNextNode())
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      if (failed(epilogue.addStep(kb, generic, nest)))
        return failure();
  auto dispatch = kb.dispatch;
  AffineMap identity = AffineMap::getMultiDimIdentityMap(nest.loops.size(), kb.context());
  for (unsigned i = 0; i < dispatch.getNumResults(); ++i) {
    auto value = epilogue.numbers.find(kb.computedResult(i));
    if (value == epilogue.numbers.end())
      return dispatch.emitError("result ") << i << " is not computed by the root or the ops behind it";
    epilogue.outputs.push_back({value->second, nest.addAccess(kb.resultView(i), identity)});
  }
  return epilogue;
}

LogicalResult Epilogue::addBias(KernelBuilder &kb, Value tensor, unsigned dim, Nest &nest) {
  FailureOr<View> view = kb.viewOf(tensor);
  if (failed(view))
    return failure();
  bias = nest.addAccess(*view, AffineMap::get(nest.loops.size(), 0, kb.b.getAffineDimExpr(dim)));
  return success();
}

/// Evaluates the steps for one vector after the other. What does not change from row to row (a bias) or along a row is
/// read once per tile.
class Epilogue::Applier {
public:
  Applier(KernelBuilder &kb, const Epilogue &epilogue, const Nest &nest, const TileOfResult &tile)
      : kb(kb), epilogue(epilogue), nest(nest), tile(tile), count(kb.level.lanes(4)) {
    for (unsigned i = 0; i < nest.accesses.size(); ++i)
      pointers.push_back({});
  }

  LogicalResult vector(int64_t row, int64_t column, const Lanes &lanes, Value sum) {
    if (epilogue.bias)
      sum = arith::AddFOp::create(kb.b, sum, read(*epilogue.bias, row, column, lanes));
    SmallVector<Value> computed{sum};
    for (const Step &step : epilogue.steps) {
      SmallVector<Value> operands;
      for (const Source &source : step.inputs)
        operands.push_back(source.kind == Source::Computed ? computed[source.number]
                           : source.kind == Source::Scalar ? kb.splat(source.scalar, count)
                                                           : read(source.number, row, column, lanes));
      linalg::GenericOp op = step.op;
      operands.resize(op.getBody()->getNumArguments()); // results are not read
      FailureOr<SmallVector<Value>> results = emitBody(kb, op, operands, count, [](int64_t) { return Value(); });
      if (failed(results))
        return failure();
      llvm::append_range(computed, *results);
    }
    for (const Output &output : epilogue.outputs)
      kb.store(computed[output.value], pointer(output.access, row, column), lanes);
    return success();
  }

  /// A column of vectors, from the first row to the last.
  LogicalResult column(int64_t column, const Lanes &lanes, ArrayRef<Value> sums) {
    for (int64_t row = 0; row < tile.rows; ++row)
      if (failed(vector(row, column, lanes, sums[row * tile.vectors + column])))
        return failure();
    return success();
  }

private:
  bool movesByRow(unsigned access) const { return !nest.accesses[access].strides[tile.rowLoop].isConstant(0); }
  DimExpr columnStep(unsigned access) const { return nest.accesses[access].strides.back(); }

  Value pointer(unsigned access, int64_t row, int64_t column) {
    const Access &of = nest.accesses[access];
    Value &first = pointers[access];
    if (!first)
      first = nest.pointer(access, tile.indices);
    Value offset = kb.add(kb.mul(kb.index(row), kb.index(of.strides[tile.rowLoop])),
                          kb.mul(kb.index(column * count), kb.index(of.strides.back())));
    return kb.advance(first, of.view.elementType, offset);
  }

  Value read(unsigned access, int64_t row, int64_t column, const Lanes &lanes) {
    bool alongRow = !columnStep(access).isConstant(0);
    Value &value = values[{access, movesByRow(access) ? row : -1, alongRow ? column : -1}];
    if (!value)
      value = fetch(access, pointer(access, row, column), lanes);
    return value;
  }

  Value fetch(unsigned access, Value from, const Lanes &lanes) {
    Type type = nest.accesses[access].view.elementType;
    if (columnStep(access).isConstant(0))
      return kb.splat(kb.loadScalar(from, type), count);
    if (columnStep(access).isConstant(1))
      return kb.load(from, type, lanes);
    return kb.loadStrided(from, type, kb.index(columnStep(access)), lanes);
  }

  KernelBuilder &kb;
  const Epilogue &epilogue;
  const Nest &nest;
  const TileOfResult &tile;
  unsigned count;
  SmallVector<Value> pointers;
  std::map<std::tuple<unsigned, int64_t, int64_t>, Value> values;
};

LogicalResult Epilogue::store(KernelBuilder &kb, const Nest &nest, const TileOfResult &tile,
                              ArrayRef<Value> sums) const {
  unsigned count = kb.level.lanes(4);
  auto allColumns = [&] {
    Applier applier(kb, *this, nest, tile);
    for (int64_t column = 0; column < tile.vectors; ++column)
      if (failed(applier.column(column, kb.allLanes(count), sums)))
        return failure();
    return success();
  };
  if (!tile.columns)
    return allColumns();
  Value full = arith::CmpIOp::create(kb.b, arith::CmpIPredicate::sge, tile.columns, kb.index(tile.vectors * count));
  auto branch = scf::IfOp::create(kb.b, full, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(kb.b);
  kb.b.setInsertionPointToStart(branch.thenBlock());
  LogicalResult status = allColumns();
  kb.b.setInsertionPointToStart(branch.elseBlock());
  for (int64_t column = 0; column < tile.vectors && succeeded(status); ++column) {
    Value rest = kb.sub(tile.columns, kb.index(column * count));
    Value some = arith::CmpIOp::create(kb.b, arith::CmpIPredicate::sgt, rest, kb.index(0));
    kb.ifThen(some, [&] {
      Applier applier(kb, *this, nest, tile);
      status = applier.column(column, kb.firstLanes(count, kb.min(rest, kb.index(count))), sums);
    });
  }
  return status;
}

LogicalResult Epilogue::store(KernelBuilder &kb, const Nest &nest, const TileOfResult &tile, const Lanes &lanes,
                              ArrayRef<Value> values) const {
  assert(tile.vectors == 1 && "one vector per row");
  return Applier(kb, *this, nest, tile).column(0, lanes, values);
}

} // namespace llmc::cpu
