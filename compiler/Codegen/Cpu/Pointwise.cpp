// See Pointwise.h. Collecting comes first (`require`, `collapse`), emission after (`hoist`, `evaluate`, `store`).
#include "compiler/Codegen/Cpu/Pointwise.h"

#include "compiler/Codegen/Cpu/BodyEmitter.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

/// The number in every element of a tensor that is one: a splat constant. Null if it is another thing.
TypedAttr splatConstant(Value tensor) {
  DenseElementsAttr elements;
  if (!matchPattern(tensor, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

std::optional<unsigned> loopOf(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition();
  return std::nullopt;
}

} // namespace

Pointwise::Pointwise(KernelBuilder &kb, Dims sizes) : kb(kb), sizes(sizes), sizesOfGroups(sizes) {
  for (unsigned loop = 0; loop < sizes.size(); ++loop)
    groups.push_back({loop});
}

AffineMap Pointwise::identity() const { return AffineMap::getMultiDimIdentityMap(sizes.size(), kb.context()); }

AffineMap Pointwise::loopsOf(linalg::GenericOp op, unsigned result, AffineMap map) const {
  AffineMap output = op.getIndexingMapMatchingResult(op->getResult(result));
  return output.isPermutation() ? inversePermutation(output).compose(map) : AffineMap();
}

bool Pointwise::varies(AffineMap map, unsigned group) const {
  return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
    std::optional<unsigned> loop = loopOf(expr);
    return loop && llvm::is_contained(groups[group], *loop);
  });
}

Dims Pointwise::stridesOf(const View &view, AffineMap map) {
  Dims strides(sizes.size(), kb.constantExpr(0));
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), view.strides))
    if (std::optional<unsigned> loop = loopOf(expr))
      strides[*loop] = strides[*loop] + stride;
  return strides;
}

// --- Collecting ---

LogicalResult Pointwise::require(Value tensor, AffineMap map) {
  if (!visited.insert({tensor, map}) || providers.contains(tensor))
    return success();
  Type elementType = cast<RankedTensorType>(tensor.getType()).getElementType();
  bool simpleMap = llvm::all_of(map.getResults(), [](AffineExpr expr) { return loopOf(expr) || isa<AffineConstantExpr>(expr); });
  if (!simpleMap)
    return emitError(tensor.getLoc(), "a kernel reads tensors through projected permutations only, not ") << AffineMapAttr::get(map);
  if (!elementType.isInteger(1))
    widest = std::max(widest, bytesOf(elementType));
  if (!views.contains(tensor) && kb.isView(tensor)) {
    FailureOr<View> view = kb.viewOf(tensor);
    if (failed(view))
      return failure();
    if (!view->encoding.empty())
      return emitError(tensor.getLoc(), "an element-wise kernel can not read the packing ") << view->encoding;
    views[tensor] = *view;
  }
  if (auto view = views.find(tensor); view != views.end()) {
    reads.insert({{tensor, map}, stridesOf(view->second, map)});
    estimatedCycles += 1;
    return success();
  }
  if (splatConstant(tensor) || tensor.getDefiningOp<linalg::FillOp>())
    return success();
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumParallelLoops() != generic.getNumLoops())
    return emitError(tensor.getLoc(), "an element-wise kernel can not compute this tensor");
  AffineMap loops = loopsOf(generic, cast<OpResult>(tensor).getResultNumber(), map);
  if (!loops)
    return generic.emitError("needs a permutation as map of its result");
  return requireGeneric(generic, loops);
}

LogicalResult Pointwise::requireGeneric(linalg::GenericOp op, AffineMap loops) {
  widest = std::max(widest, widestBytes(op));
  estimatedCycles += bodyCycles(op);
  op.getBody()->walk([&](linalg::IndexOp index) {
    if (std::optional<unsigned> loop = loopOf(loops.getResult(index.getDim())))
      loopsWithIndex.insert(*loop);
  });
  for (OpOperand &operand : op->getOpOperands())
    if (!op.getMatchingBlockArgument(&operand).use_empty())
      if (failed(require(operand.get(), op.getMatchingIndexingMap(&operand).compose(loops))))
        return failure();
  return success();
}

bool Pointwise::mayMerge(unsigned outer, unsigned inner) const {
  if (loopsWithIndex.contains(outer) || loopsWithIndex.contains(inner))
    return false;
  bool stepsEvenly = llvm::all_of(reads, [&](const auto &read) {
    return read.second[outer] == read.second[inner] * sizes[inner];
  });
  return stepsEvenly && llvm::all_of(visited, [&](const Access &access) {
    if (!providers.contains(access.first))
      return true;
    return access.second.isFunctionOfDim(outer) == access.second.isFunctionOfDim(inner);
  });
}

void Pointwise::collapse(llvm::function_ref<bool(unsigned, unsigned)> allowed) {
  groups.clear();
  sizesOfGroups.clear();
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    if (sizes[loop].isConstant(1))
      continue;
    if (!groups.empty() && allowed(groups.back().back(), loop) && mayMerge(groups.back().back(), loop)) {
      groups.back().push_back(loop);
      sizesOfGroups.back() = sizesOfGroups.back() * sizes[loop];
    } else {
      groups.push_back({loop});
      sizesOfGroups.push_back(sizes[loop]);
    }
  }
  if (groups.empty()) {
    groups.push_back({});
    sizesOfGroups.push_back(kb.constantExpr(1));
  }
}

SmallVector<Pointwise::Access> Pointwise::operandsOf(const Access &access) const {
  auto [tensor, map] = access;
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || providers.contains(tensor) || views.contains(tensor))
    return {};
  AffineMap loops = loopsOf(generic, cast<OpResult>(tensor).getResultNumber(), map);
  SmallVector<Access> operands;
  for (OpOperand &operand : generic->getOpOperands())
    if (!generic.getMatchingBlockArgument(&operand).use_empty())
      operands.push_back({operand.get(), generic.getMatchingIndexingMap(&operand).compose(loops)});
  return operands;
}

llvm::SetVector<Pointwise::Access> Pointwise::closureOf(const Access &access) const {
  llvm::SetVector<Access> closure;
  SmallVector<Access> pending = {access};
  while (!pending.empty()) {
    Access next = pending.pop_back_val();
    if (closure.insert(next))
      pending.append(operandsOf(next));
  }
  return closure;
}

DimExpr Pointwise::strideAlong(unsigned group, ArrayRef<DimExpr> strides) const {
  return groups[group].empty() ? kb.constantExpr(0) : strides[groups[group].back()];
}

unsigned Pointwise::stridedReads(unsigned group) const {
  return llvm::count_if(reads, [&](const auto &read) {
    DimExpr stride = strideAlong(group, read.second);
    return !stride.isConstant(0) && !stride.isConstant(1);
  });
}

// --- Emission ---

void Pointwise::hoist(const Position &position, ArrayRef<Access> accesses) {
  uniforms.clear();
  values.clear();
  for (auto [tensor, map] : accesses)
    hoistFrom(tensor, map, position);
  values.clear();
}

void Pointwise::hoistFrom(Value tensor, AffineMap map, const Position &position) {
  if (uniforms.contains({tensor, map}))
    return;
  if (!varies(map, position.vectorGroup)) {
    Value value = evaluate(tensor, map, position);
    uniforms[{tensor, map}] = value;
    return;
  }
  for (auto [operand, operandMap] : operandsOf({tensor, map}))
    hoistFrom(operand, operandMap, position);
}

Value Pointwise::evaluate(Value tensor, AffineMap map, const Position &position) {
  unsigned count = position.lanes.count;
  if (count > 1)
    if (Value hoisted = uniforms.lookup({tensor, map}))
      return hoisted;
  auto key = std::make_pair(Access{tensor, map}, count);
  if (Value known = values.lookup(key))
    return known;
  Value value;
  if (count > 1 && !varies(map, position.vectorGroup)) {
    Value one = evaluate(tensor, map, {position.index, position.vectorGroup, kb.allLanes(1)});
    value = kb.splat(vector::ExtractOp::create(kb.b, one, 0), count);
  } else {
    value = compute(tensor, map, position);
  }
  values[key] = value;
  return value;
}

Value Pointwise::compute(Value tensor, AffineMap map, const Position &position) {
  if (auto provider = providers.find(tensor); provider != providers.end())
    return provider->second(map, position);
  if (views.contains(tensor))
    return loadAt(tensor, map, position);
  if (TypedAttr number = splatConstant(tensor))
    return kb.constantVector(number, position.lanes.count);
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return kb.splat(kb.scalar(fill.value()), position.lanes.count);
  return evaluateGeneric(cast<OpResult>(tensor), map, position);
}

Value Pointwise::evaluateGeneric(OpResult result, AffineMap map, const Position &position) {
  auto generic = cast<linalg::GenericOp>(result.getOwner());
  AffineMap loops = loopsOf(generic, result.getResultNumber(), map);
  SmallVector<Value> arguments;
  for (OpOperand &operand : generic->getOpOperands()) {
    bool used = !generic.getMatchingBlockArgument(&operand).use_empty();
    arguments.push_back(
        used ? evaluate(operand.get(), generic.getMatchingIndexingMap(&operand).compose(loops), position) : Value());
  }
  FailureOr<SmallVector<Value>> yielded =
      emitBody(kb, generic, arguments, position.lanes.count,
               [&](int64_t dim) { return indexAlong(loops.getResult(dim), position); });
  kb.broken |= failed(yielded);
  if (failed(yielded))
    return kb.zeroVector(cast<RankedTensorType>(result.getType()).getElementType(), position.lanes.count);
  return (*yielded)[result.getResultNumber()];
}

Value Pointwise::loadAt(Value tensor, AffineMap map, const Position &position) {
  const View &view = views.find(tensor)->second;
  auto known = reads.find({tensor, map});
  Dims strides = known != reads.end() ? known->second : stridesOf(view, map);
  Value pointer = pointerAt(view, strides, position);
  DimExpr stride = strideAlong(position.vectorGroup, strides);
  if (position.lanes.count == 1 || stride.isConstant(1))
    return kb.load(pointer, view.elementType, position.lanes);
  return kb.loadStrided(pointer, view.elementType, kb.index(stride), position.lanes);
}

Value Pointwise::pointerAt(const View &view, ArrayRef<DimExpr> strides, const Position &position) {
  Value row = kb.index(view.offset);
  for (unsigned group = 0; group < groups.size(); ++group)
    if (group != position.vectorGroup)
      row = kb.add(row, kb.mul(position.index[group], kb.index(strideAlong(group, strides))));
  Value along = kb.mul(position.index[position.vectorGroup], kb.index(strideAlong(position.vectorGroup, strides)));
  return kb.advance(kb.advance(view.base, view.elementType, row), view.elementType, along);
}

Value Pointwise::indexAlong(AffineExpr expr, const Position &position) {
  unsigned count = position.lanes.count;
  std::optional<unsigned> loop = loopOf(expr);
  for (unsigned group = 0; loop && group < groups.size(); ++group) {
    if (!llvm::is_contained(groups[group], *loop))
      continue;
    Value first = kb.splat(position.index[group], count);
    if (group != position.vectorGroup || count == 1)
      return first;
    SmallVector<int64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    auto type = VectorType::get(count, kb.b.getI64Type());
    return kb.add(first, arith::ConstantOp::create(kb.b, DenseIntElementsAttr::get(type, numbers)));
  }
  return kb.zeroVector(kb.b.getI64Type(), count);
}

void Pointwise::store(Value vector, const View &view, AffineMap map, const Position &position) {
  Dims strides = stridesOf(view, map);
  assert((position.lanes.count == 1 || groups[position.vectorGroup].empty() ||
          strideAlong(position.vectorGroup, strides).isConstant(1)) &&
         "results are stored along their innermost dim");
  kb.store(vector, pointerAt(view, strides, position), position.lanes);
}

} // namespace llmc::cpu
