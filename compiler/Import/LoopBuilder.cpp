// The body is imported with the sizes of the first trip. A size that the body changes becomes a symbol, and the body is imported
// again, until what it yields has the sizes that it takes.
#include "compiler/Import/LoopBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmc {

using namespace graph;

void endBlock(NodeContext &node, InnerBlock &block, ArrayRef<DimExpr> sizes) {
  OpBuilder builder(node.context());
  builder.setInsertionPointToEnd(&block.region->front());
  auto yield = YieldOp::create(builder, node.loc(), block.results, dimsAttr(node.context(), sizes));
  if (!block.checks.empty())
    yield->setAttr("graph.checks", builder.getArrayAttr(block.checks));
}

bool hasOneElement(NodeContext &node, Value value) {
  return llvm::all_of(node.dims(value), [](DimExpr dim) { return dim.isConstant(1); });
}

Value withRank(NodeContext &node, Value value, int64_t rank, Block &block) {
  OpBuilder::InsertionGuard guard(node.shared().builder);
  node.shared().builder.setInsertionPointToEnd(&block);
  return node.create<ReshapeOp>({value, node.indices(SmallVector<int64_t>(rank, 1))});
}

namespace {

constexpr int mostAttempts = 64;

class LoopBuilder {
public:
  LoopBuilder(NodeContext &node, const LoopSpec &spec) : node(node), state(node.shared()), spec(spec), inits(spec.inits) {
    for (Value init : inits)
      changing.emplace_back(node.rank(init), -1);
  }
  SmallVector<Value> build();

private:
  /// A size that changes: in the body, at first, in the next trip, and in the end.
  struct Size {
    DimExpr symbol, start, next, result;
  };

  std::optional<InnerBlock> importBody();
  /// Whether the body yields the sizes that it takes; if not, `changing` and `inits` are such that it may the next time.
  bool settle(const InnerBlock &body);
  bool settleRank(size_t k, const InnerBlock &body, Value next);
  void requireTrip();
  bool settleClasses(ArrayRef<Value> next);
  Dims bodyDims(size_t k) const;
  Dims resultDims(size_t k) const;
  Dims collectedDims(Value part);
  DimExpr sizeInTheEnd(DimExpr inBody);
  DimExpr numTrips();
  bool isTrue(Value value) const;
  SmallVector<Value> finish(InnerBlock body);

  NodeContext &node;
  ImportState &state;
  const LoopSpec &spec;
  SmallVector<Value> inits;
  /// Per value and dim: the class of sizes that it belongs to, or -1 if it does not change. Sizes of one class are always equal.
  SmallVector<SmallVector<int>> changing;
  SmallVector<DimExpr> starts; // per class
  size_t firstSymbol = 0;      // of those that belong to the body at hand
  DimExpr trip;
  SmallVector<Size> sizes; // the first ones are the classes
  bool conditional = false;
  bool needsTrip = false; // a run without one is refused
};

Dims LoopBuilder::bodyDims(size_t k) const {
  Dims dims = node.dims(inits[k]);
  for (auto [dim, sizeClass] : llvm::zip_equal(dims, changing[k]))
    if (sizeClass >= 0)
      dim = sizes[sizeClass].symbol;
  return dims;
}

Dims LoopBuilder::resultDims(size_t k) const {
  Dims dims = node.dims(inits[k]);
  for (auto [dim, sizeClass] : llvm::zip_equal(dims, changing[k]))
    if (sizeClass >= 0)
      dim = sizes[sizeClass].result;
  return dims;
}

std::optional<InnerBlock> LoopBuilder::importBody() {
  state.dropSymbols(firstSymbol);
  trip = state.newSymbol("trip", {0, INT64_MAX - 1});
  sizes.clear();
  for (DimExpr start : starts)
    sizes.push_back({state.newSymbol("size", {0, INT64_MAX}), start, DimExpr(), DimExpr()});
  return node.innerBlock([&](Block &block) {
    SmallVector<Value> arguments;
    for (auto [k, init] : llvm::enumerate(inits)) {
      Dims dims = bodyDims(k);
      arguments.push_back(block.addArgument(RankedTensorType::get(staticSizes(dims), node.elementType(init)), init.getLoc()));
      state.shapes[arguments.back()] = {dims, std::nullopt};
    }
    return spec.body(trip, arguments);
  });
}

/// Values of one element may change their rank, as in files that hold a scalar for a tensor of shape [1]; and so may values that the
/// body never reads, whose init is but a placeholder where there is a trip.
bool LoopBuilder::settleRank(size_t k, const InnerBlock &body, Value next) {
  int64_t rank = node.rank(next);
  if (node.rank(inits[k]) == rank)
    return true;
  if (body.region->getArgument(k).use_empty()) {
    auto empty = RankedTensorType::get(SmallVector<int64_t>(rank, 0), node.elementType(next));
    inits[k] = rank ? node.constant(DenseElementsAttr::get(empty, ArrayRef<Attribute>())) : node.scalar(empty.getElementType(), 0);
    changing[k].assign(rank, -1);
    needsTrip = true;
    return false;
  }
  if (rank < node.rank(inits[k]) || !hasOneElement(node, inits[k]) || !hasOneElement(node, next)) {
    node.fail("carried value " + Twine(k) + " has rank " + Twine(node.rank(inits[k])) + " at first and " + Twine(rank) +
              " after a trip, which is not supported");
    return false;
  }
  inits[k] = withRank(node, inits[k], rank, *state.builder.getInsertionBlock());
  changing[k].assign(rank, -1);
  return false;
}

/// Sizes of one class become the same in the next trip, or they were not of one class.
bool LoopBuilder::settleClasses(ArrayRef<Value> next) {
  bool settled = true;
  for (int sizeClass = 0, count = starts.size(); sizeClass < count; ++sizeClass) {
    SmallVector<std::pair<DimExpr, int>> split; // size in the next trip -> class
    for (auto [value, classes] : llvm::zip_equal(next, changing))
      for (auto [dim, own] : llvm::zip_equal(node.dims(value), classes)) {
        if (own != sizeClass)
          continue;
        auto known = llvm::find_if(split, [&, size = dim](auto &pair) { return pair.first == size; });
        if (known == split.end()) {
          split.emplace_back(dim, split.empty() ? sizeClass : static_cast<int>(starts.size()));
          known = std::prev(split.end());
          if (known->second != sizeClass) {
            starts.push_back(starts[sizeClass]);
            settled = false;
          }
        }
        own = known->second;
      }
    sizes[sizeClass].next = split.front().first;
  }
  return settled;
}

bool LoopBuilder::settle(const InnerBlock &body) {
  ArrayRef<Value> next = ArrayRef(body.results).drop_front(spec.hasCondition).take_front(inits.size());
  bool settled = true;
  for (size_t k = 0; k < inits.size() && !node.failed(); ++k) {
    if (node.elementType(next[k]) != node.elementType(inits[k])) {
      node.fail("carried value " + Twine(k) + " changes its element type");
      return false;
    }
    if (!settleRank(k, body, next[k])) {
      settled = false;
      continue;
    }
    Dims dims = bodyDims(k); // before dims of it get classes that this body does not have
    for (auto [d, size] : llvm::enumerate(node.dims(next[k]))) {
      DimExpr before = dims[d], start = node.dims(inits[k])[d];
      if (!size || !start)
        node.fail("dim " + Twine(d) + " of carried value " + Twine(k) + " depends on data, which is not supported");
      if (changing[k][d] >= 0 || before == size || node.failed())
        continue;
      auto known = llvm::find(starts, start);
      changing[k][d] = known - starts.begin();
      if (known == starts.end())
        starts.push_back(start);
      settled = false;
    }
  }
  return settled && !node.failed() && settleClasses(next);
}

void LoopBuilder::requireTrip() {
  const char *reason = "the loop must have a trip: the rank of a carried value changes";
  DimExpr one = node.number(1);
  node.require(spec.trips.max(node.number(0)).min(one), one, reason);
  if (!spec.condition)
    return;
  Value condition = node.create<CastOp>({spec.condition}, {node.named("to", TypeAttr::get(IntegerType::get(node.context(), 64)))});
  node.require(node.readNumber(condition, {0, 1}), one, reason);
}

bool LoopBuilder::isTrue(Value value) const {
  std::optional<SmallVector<int64_t>> known = node.knownIntegers(value);
  return known && known->size() == 1 && known->front() != 0;
}

/// After the last trip, what `inBody` is in each.
DimExpr LoopBuilder::sizeInTheEnd(DimExpr inBody) {
  if (!state.isNewerThan(firstSymbol, inBody))
    return inBody;
  for (const Size &size : ArrayRef(sizes).drop_front(starts.size()))
    if (size.next == inBody)
      return size.result;
  sizes.push_back({state.newSymbol("size", {0, INT64_MAX}), node.number(0), inBody, state.newSymbol("end", {0, INT64_MAX})});
  return sizes.back().result;
}

DimExpr LoopBuilder::numTrips() {
  std::optional<int64_t> known = spec.trips.asConstant();
  bool isUnbounded = known && *known > state.maxTrips;
  if (conditional || isUnbounded)
    return sizeInTheEnd(trip + 1);
  return state.ranges.simplify(spec.trips.max(node.number(0)));
}

Dims LoopBuilder::collectedDims(Value part) {
  Dims dims = {numTrips()};
  for (DimExpr dim : node.dims(part)) {
    if (!dim)
      node.fail("the size of a value that the loop collects depends on data, which is not supported");
    dims.push_back(dim ? sizeInTheEnd(dim) : dim);
  }
  return dims;
}

SmallVector<Value> LoopBuilder::finish(InnerBlock body) {
  Value goesOn = spec.hasCondition ? body.results.front() : Value();
  DimExpr trips = spec.trips;
  if (spec.condition && !isTrue(spec.condition) && node.knownIntegers(spec.condition))
    trips = node.number(0);
  conditional = (spec.condition && !node.knownIntegers(spec.condition)) || (goesOn && !isTrue(goesOn));
  if (spec.hasCondition)
    body.results.erase(body.results.begin());
  if (needsTrip)
    requireTrip();
  for (Size &size : MutableArrayRef(sizes).take_front(starts.size()))
    size.result = state.newSymbol("end", {0, INT64_MAX});
  SmallVector<Value> carried = inits;
  SmallVector<Dims> argumentDims, dims;
  for (size_t k = 0; k < inits.size(); ++k) {
    argumentDims.push_back(bodyDims(k));
    dims.push_back(resultDims(k));
  }
  for (Value part : ArrayRef(body.results).drop_front(inits.size()))
    dims.push_back(collectedDims(part));
  if (node.failed())
    return {};
  if (conditional) { // the condition is carried in front of the other values
    Value first = spec.condition ? spec.condition : node.scalar(IntegerType::get(node.context(), 1), 1);
    carried.insert(carried.begin(), withRank(node, first, 0, *state.builder.getInsertionBlock()));
    Block &block = body.region->front();
    body.results.insert(body.results.begin(), withRank(node, goesOn ? goesOn : first, 0, block));
    block.insertArgument(0u, carried.front().getType(), node.loc());
    argumentDims.insert(argumentDims.begin(), Dims());
    dims.insert(dims.begin(), Dims());
    if (node.failed())
      return {};
  }
  Builder &b = state.builder;
  auto all = [&](auto member) {
    return llvm::map_to_vector(sizes, [&](const Size &size) { return size.*member; });
  };
  auto symbolNames = [&](ArrayRef<DimExpr> symbols) {
    return b.getStrArrayAttr(llvm::map_to_vector(symbols, [](DimExpr symbol) { return symbol.symbolName(); }));
  };
  auto lists = [&](ArrayRef<Dims> dims) {
    return b.getArrayAttr(llvm::map_to_vector(dims, [&](const Dims &list) -> Attribute { return dimsAttr(node.context(), list); }));
  };
  SmallVector<Type> types;
  for (auto [value, list] : llvm::zip_equal(body.results, dims))
    types.push_back(RankedTensorType::get(staticSizes(list), node.elementType(value)));
  std::optional<int64_t> known = trips.asConstant();
  int64_t limit = known && *known != INT64_MAX ? std::max<int64_t>(*known, 0) : state.maxTrips;
  endBlock(node, body, all(&Size::next));
  auto loop = LoopOp::create(state.builder, node.loc(), types, trips.attribute(), limit, conditional, carried,
                             trip.symbolName(), symbolNames(all(&Size::symbol)), dimsAttr(node.context(), all(&Size::start)),
                             symbolNames(all(&Size::result)), lists(argumentDims), lists(dims));
  loop.getBody().takeBody(*body.region);
  for (auto [result, list] : llvm::zip_equal(loop.getResults(), dims))
    state.shapes[result] = {list, std::nullopt};
  return llvm::to_vector_of<Value>(loop.getResults().drop_front(conditional));
}

SmallVector<Value> LoopBuilder::build() {
  firstSymbol = state.symbols.size();
  for (int attempt = 0; attempt < mostAttempts; ++attempt) {
    std::optional<InnerBlock> body = importBody();
    if (!body)
      return {};
    if (body->results.size() < inits.size() + spec.hasCondition) {
      node.fail("the body gives " + Twine(body->results.size()) + " values, expected at least " +
                Twine(inits.size() + spec.hasCondition));
      return {};
    }
    if (settle(*body))
      return finish(std::move(*body));
    if (node.failed())
      return {};
  }
  node.fail("the sizes of what the loop carries do not settle, which is not supported");
  return {};
}

} // namespace

SmallVector<Value> buildLoop(NodeContext &node, const LoopSpec &spec) {
  if (node.failed())
    return {};
  return LoopBuilder(node, spec).build();
}

} // namespace llmc
