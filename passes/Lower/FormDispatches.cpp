// Outlining of dispatch groups.
#include "passes/Graph/Device.h"
#include "passes/Graph/ShapeAnalysis.h"
#include "passes/Lower/DispatchGroups.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_FORMDISPATCHESPASS
#include "passes/Lower/Passes.h.inc"
namespace {

using graph::DimExpr;

/// Ops that cost nothing and move into the dispatch that needs them.
bool isPrologue(Operation *op) {
  return isa<tensor::EmptyOp, linalg::FillOp, tensor::ExtractSliceOp, graph::SizeOp>(op) ||
         isa_and_present<arith::ArithDialect>(op->getDialect());
}

StringRef stemOf(const DispatchGroup &group) {
  Operation *first = group.ops.front();
  if (!isa<linalg::GenericOp>(first))
    return first->getName().stripDialect();
  if (group.kind == DispatchGroup::Kind::Root)
    return "matmul";
  bool reduces = llvm::any_of(group.ops, [](Operation *op) { return cast<linalg::GenericOp>(op).getNumReductionLoops() > 0; });
  return reduces ? "rows" : "elementwise";
}

class Outliner {
public:
  Outliner(ModuleOp module, ShapeAnalysis &analysis) : module(module), analysis(analysis), symbols(module) {}

  void outline(const DispatchGroup &group);

private:
  void collect(const DispatchGroup &group);
  func::FuncOp build(const DispatchGroup &group);
  Value clonedPrologue(Value value, OpBuilder &builder, IRMapping &mapping);
  void addSizes(ArrayRef<DimExpr> dims);
  DenseI64ArrayAttr sizesAttr(ArrayRef<DimExpr> dims);
  func::FuncOp shared(func::FuncOp function, StringRef stem);

  ModuleOp module;
  ShapeAnalysis &analysis;
  SymbolTable symbols;
  llvm::StringMap<func::FuncOp> known; // text -> function
  int64_t count = 0;

  // Of the group at hand.
  llvm::SetVector<Value> inputs;
  llvm::SetVector<Attribute> sizes; // #graph.expr
  SmallVector<Value> outputs;
};

void Outliner::addSizes(ArrayRef<DimExpr> dims) {
  for (DimExpr dim : dims)
    if (!dim.asConstant())
      sizes.insert(dim.attribute());
}

void Outliner::collect(const DispatchGroup &group) {
  inputs.clear();
  sizes.clear();
  outputs.clear();
  llvm::SmallDenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  std::function<void(Value)> need = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (producer && members.contains(producer))
      return;
    if (!producer || !isPrologue(producer)) {
      inputs.insert(value);
      return;
    }
    if (auto size = dyn_cast<graph::SizeOp>(producer))
      addSizes({DimExpr(size.getExpr())});
    llvm::for_each(producer->getOperands(), need);
  };
  for (Operation *op : group.ops) {
    llvm::for_each(op->getOperands(), need);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::for_each(captured, need);
  }
  for (Operation *op : group.ops)
    for (Value result : op->getResults()) // a kernel that gives several writes all of them, wanted or not
      if (op->getNumResults() > 1 || llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); }))
        outputs.push_back(result);
  for (Value input : inputs)
    addSizes(analysis.dims(input));
  for (Value output : outputs)
    addSizes(analysis.dims(output));
}

DenseI64ArrayAttr Outliner::sizesAttr(ArrayRef<DimExpr> dims) {
  SmallVector<int64_t> values;
  for (DimExpr dim : dims) {
    auto place = llvm::find(sizes, dim.attribute());
    values.push_back(dim.asConstant() ? *dim.asConstant() : -(place - sizes.begin()) - 1);
  }
  return DenseI64ArrayAttr::get(module.getContext(), values);
}

Value Outliner::clonedPrologue(Value value, OpBuilder &builder, IRMapping &mapping) {
  if (mapping.contains(value))
    return mapping.lookup(value);
  Operation *producer = value.getDefiningOp();
  for (Value operand : producer->getOperands())
    clonedPrologue(operand, builder, mapping);
  builder.clone(*producer, mapping);
  return mapping.lookup(value);
}

func::FuncOp Outliner::build(const DispatchGroup &group) {
  MLIRContext *context = module.getContext();
  SmallVector<Type> arguments = llvm::map_to_vector(inputs, [](Value input) { return input.getType(); });
  arguments.append(sizes.size(), IndexType::get(context));
  SmallVector<Type> results = llvm::map_to_vector(outputs, [](Value output) { return output.getType(); });
  SmallVector<Location> locations = llvm::map_to_vector(group.ops, [](Operation *op) { return op->getLoc(); });
  auto function = func::FuncOp::create(FusedLoc::get(context, locations), "dispatch", FunctionType::get(context, arguments, results));
  function.setPrivate();
  function->setAttr("graph.dispatch", UnitAttr::get(context));
  for (auto [i, input] : llvm::enumerate(inputs))
    function.setArgAttr(i, "graph.sizes", sizesAttr(analysis.dims(input)));
  for (auto [i, output] : llvm::enumerate(outputs))
    function.setResultAttr(i, "graph.sizes", sizesAttr(analysis.dims(output)));

  Block *body = function.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip(inputs, body->getArguments()))
    mapping.map(input, argument);
  ArrayRef<BlockArgument> indices = body->getArguments().drop_front(inputs.size());
  auto mapSizes = [&](Operation *root) { // every graph.size that the group reads is an argument
    std::function<void(Value)> visit = [&](Value value) {
      Operation *producer = value.getDefiningOp();
      if (!producer || !isPrologue(producer) || mapping.contains(value))
        return;
      if (auto size = dyn_cast<graph::SizeOp>(producer); size && !DimExpr(size.getExpr()).asConstant()) {
        mapping.map(value, indices[llvm::find(sizes, Attribute(size.getExpr())) - sizes.begin()]);
        return;
      }
      llvm::for_each(producer->getOperands(), visit);
    };
    llvm::for_each(root->getOperands(), visit);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(root->getRegions(), captured);
    llvm::for_each(captured, visit);
    return captured;
  };
  for (Operation *op : group.ops) {
    llvm::SetVector<Value> captured = mapSizes(op);
    for (Value operand : op->getOperands())
      clonedPrologue(operand, builder, mapping);
    for (Value value : captured)
      clonedPrologue(value, builder, mapping);
    builder.clone(*op, mapping)->removeAttr(deviceAttrName);
  }
  func::ReturnOp::create(builder, function.getLoc(), llvm::map_to_vector(outputs, [&](Value output) { return mapping.lookup(output); }));
  return function;
}

/// An equal function that exists already, else `function` under a name of its own.
func::FuncOp Outliner::shared(func::FuncOp function, StringRef stem) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function.print(os, OpPrintingFlags().useLocalScope());
  auto [place, isNew] = known.try_emplace(text, function);
  if (!isNew) {
    function.erase();
    return place->second;
  }
  function.setName((stem + "_" + Twine(count++)).str());
  symbols.insert(function);
  return function;
}

void Outliner::outline(const DispatchGroup &group) {
  collect(group);
  func::FuncOp function = shared(build(group), stemOf(group));
  Operation *last = group.ops.back();
  OpBuilder builder(last);
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> dims = llvm::map_to_vector(
      outputs, [&](Value output) -> Attribute { return graph::dimsAttr(context, analysis.dims(output)); });
  SmallVector<Location> locations = llvm::map_to_vector(group.ops, [](Operation *op) { return op->getLoc(); });
  auto dispatch = graph::DispatchOp::create(builder, FusedLoc::get(context, locations),
                                            llvm::map_to_vector(outputs, [](Value output) { return output.getType(); }),
                                            function.getName(), inputs.getArrayRef(), builder.getArrayAttr(sizes.getArrayRef()),
                                            builder.getArrayAttr(dims));
  inheritDevice(last, dispatch);
  for (auto [before, after] : llvm::zip_equal(outputs, dispatch.getResults())) {
    analysis.alias(after, before);
    before.replaceAllUsesWith(after);
  }
}

struct FormDispatchesPass : impl::FormDispatchesPassBase<FormDispatchesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (function.isDeclaration() || function->hasAttr("graph.dispatch"))
        continue;
      ShapeAnalysis analysis(function);
      if (analysis.failed() || failed(allSizesKnown(function, analysis)))
        return signalPassFailure();
      Outliner outliner(module, analysis);
      formIn(function.getBody().front(), outliner);
    }
  }

  void formIn(Block &block, Outliner &outliner) {
    for (Operation &op : block)
      if (isa<graph::IfOp, graph::LoopOp>(op))
        for (Region &region : op.getRegions())
          formIn(region.front(), outliner);
    for (const DispatchGroup &group : groupDispatches(block, fuse))
      outliner.outline(group);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (!op.hasTrait<OpTrait::IsTerminator>() && op.use_empty() &&
          !isa<graph::DispatchOp>(op) && !isFence(&op))
        op.erase();
    sortBetweenFences(block);
  }

  static void sortBetweenFences(Block &block) {
    Block::iterator begin = block.begin();
    for (Block::iterator op = block.begin(); op != block.end(); ++op)
      if (isFence(&*op) || std::next(op) == block.end()) {
        sortTopologically(&block, llvm::make_range(begin, op));
        begin = std::next(op);
      }
  }

  /// A size that depends on data has no expression; such models are refused here, by name.
  static LogicalResult allSizesKnown(func::FuncOp function, const ShapeAnalysis &analysis) {
    bool known = true;
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        for (auto [i, dim] : llvm::enumerate(isa<RankedTensorType>(result.getType()) ? analysis.dims(result) : ArrayRef<DimExpr>()))
          if (!dim) {
            op->emitError() << "the size of dim " << i << " of the result of " << op->getName() << " depends on data: not supported";
            known = false;
            break;
          }
    });
    return success(known);
  }
};

} // namespace
} // namespace llmc
