// Operators with graphs: If, Loop, Scan.
#include "compiler/Import/Converters.h"
#include "compiler/Import/LoopBuilder.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace graph;

bool isCondition(NodeContext &node, Value value) {
  bool fits = value && node.elementType(value).isInteger(1) && hasOneElement(node, value);
  if (value && !fits)
    node.fail("the condition is no tensor of one bool");
  return fits;
}

/// Of a graph that gives tensors only.
std::optional<SmallVector<Value>> runForTensors(NodeContext &node, const FlatGraph &graph, ArrayRef<Value> inputs) {
  std::optional<SmallVector<Item>> items = node.run(graph, llvm::to_vector_of<Item>(inputs));
  if (!items)
    return std::nullopt;
  for (auto [i, item] : llvm::enumerate(*items))
    if (!item.isTensor())
      node.fail("output " + Twine(i) + " of the body is " + item.form.describe() + ", expected a tensor");
  return llvm::map_to_vector(*items, [](const Item &item) { return item.tensor(); });
}

// --- If --------------------------------------------------------------------------------------------------------------------

/// The dims of the results of two blocks; where they differ, a symbol for which each block yields a size.
class BranchJoin {
public:
  BranchJoin(NodeContext &node, size_t firstSymbol) : node(node), firstSymbol(firstSymbol) {}

  DimExpr size(DimExpr inThen, DimExpr inElse) {
    if (!inThen || !inElse)
      node.fail("the size of a result depends on data, which is not supported");
    if (node.failed())
      return {};
    if (inThen == inElse && !node.shared().isNewerThan(firstSymbol, inThen))
      return inThen;
    for (size_t i = 0; i < symbols.size(); ++i)
      if (sizes[0][i] == inThen && sizes[1][i] == inElse)
        return symbols[i];
    symbols.push_back(node.shared().newSymbol("branch", {0, INT64_MAX}));
    sizes[0].push_back(inThen);
    sizes[1].push_back(inElse);
    return symbols.back();
  }

  SmallVector<DimExpr> symbols, sizes[2];

private:
  NodeContext &node;
  size_t firstSymbol;
};

/// Results of one element get the same rank in both branches.
void matchRanks(NodeContext &node, InnerBlock (&blocks)[2], size_t i) {
  int64_t ranks[] = {node.rank(blocks[0].results[i]), node.rank(blocks[1].results[i])};
  InnerBlock &lower = blocks[ranks[0] < ranks[1] ? 0 : 1];
  if (ranks[0] != ranks[1])
    lower.results[i] = withRank(node, lower.results[i], std::max(ranks[0], ranks[1]), lower.region->front());
}

/// The branch to take if a rank depends on it: that of the lower rank, since exporters write so what squeezes a dim if it is 1.
std::optional<int> branchOfLowerRank(NodeContext &node, const InnerBlock (&blocks)[2]) {
  for (auto [inThen, inElse] : llvm::zip(blocks[0].results, blocks[1].results))
    if (node.rank(inThen) != node.rank(inElse) && !(hasOneElement(node, inThen) && hasOneElement(node, inElse)))
      return node.rank(inThen) < node.rank(inElse) ? 0 : 1;
  return std::nullopt;
}

/// Has each run fail in which the condition is another one.
void requireCondition(NodeContext &node, Value condition, bool holds) {
  DimExpr found = node.readNumber(castTo(node, condition, IntegerType::get(node.context(), 64)), {0, 1});
  node.require(found, node.number(holds), "the condition must be " + Twine(holds ? "true" : "false") +
                                              ": the rank of a result depends on it, and the other one is not supported");
}

/// Runs the graph in place of the branch.
void takeBranch(NodeContext &node, const FlatGraph &graph) {
  if (auto outputs = node.run(graph, {}))
    llvm::for_each(*outputs, [&](const Item &output) { node.result(output); });
}

/// Gives the items of both branches the same forms, and the blocks the tensors of which they are made.
SmallVector<Form> joinForms(NodeContext &node, InnerBlock (&blocks)[2], const SmallVector<Item> (&items)[2]) {
  if (items[0].size() != items[1].size())
    node.fail("the branches give " + Twine(items[0].size()) + " and " + Twine(items[1].size()) + " values");
  SmallVector<Form> forms;
  for (size_t k = 0; k < items[0].size() && !node.failed(); ++k) {
    forms.push_back(join(node, items[0][k].form, items[1][k].form));
    for (int i : {0, 1}) {
      OpBuilder::InsertionGuard guard(node.shared().builder);
      node.shared().builder.setInsertionPointToEnd(&blocks[i].region->front());
      blocks[i].results.append(convert(node, items[i][k], forms.back()).tensors);
    }
  }
  return forms;
}

/// The results of the op that has these blocks.
SmallVector<Value> joinBranches(NodeContext &node, Value condition, InnerBlock (&blocks)[2], size_t firstSymbol) {
  size_t numResults = blocks[0].results.size();
  BranchJoin join(node, firstSymbol);
  SmallVector<Dims> dims;
  SmallVector<Type> types;
  for (size_t i = 0; i < numResults && !node.failed(); ++i) {
    matchRanks(node, blocks, i);
    Value inThen = blocks[0].results[i], inElse = blocks[1].results[i];
    if (!node.failed() && node.elementType(inThen) != node.elementType(inElse))
      node.fail("result " + Twine(i) + " has another element type in one branch than in the other");
    if (node.failed())
      return {};
    dims.emplace_back();
    for (auto [a, b] : llvm::zip_equal(node.dims(inThen), node.dims(inElse)))
      dims.back().push_back(join.size(a, b));
    types.push_back(RankedTensorType::get(staticSizes(dims.back()), node.elementType(inThen)));
  }
  if (node.failed())
    return {};
  OpBuilder &b = node.shared().builder;
  SmallVector<StringRef> names = llvm::map_to_vector(join.symbols, [](DimExpr symbol) { return symbol.symbolName(); });
  SmallVector<Attribute> lists =
      llvm::map_to_vector(dims, [&](const Dims &list) -> Attribute { return dimsAttr(node.context(), list); });
  for (int i : {0, 1})
    endBlock(node, blocks[i], join.sizes[i]);
  auto op = IfOp::create(b, node.loc(), types, condition, b.getStrArrayAttr(names), b.getArrayAttr(lists));
  op.getThenBlock().takeBody(*blocks[0].region);
  op.getElseBlock().takeBody(*blocks[1].region);
  for (auto [result, list] : llvm::zip_equal(op.getResults(), dims))
    node.shared().shapes[result] = {list, std::nullopt};
  return llvm::to_vector_of<Value>(op.getResults());
}

/// A branch whose nodes have that problem: each run that takes it fails. Its `items` look like `others`, those of the other branch.
std::optional<InnerBlock> failingBranch(NodeContext &node, const ImportProblem &problem, const FlatGraph &graph, ArrayRef<Item> others,
                                        SmallVector<Item> &items, size_t firstSymbol) {
  emitWarning(NameLoc::get(StringAttr::get(node.context(), problem.label)))
      << problem.reason << "; a run that takes this branch ('" << graph.attribute << "') fails";
  auto block = node.innerBlock([&](Block &) -> std::optional<SmallVector<Value>> {
    items.assign(others.begin(), others.end());
    for (Item &item : items)
      for (Value &tensor : item.tensors) {
        Dims dims = node.dims(tensor);
        for (DimExpr &dim : dims)
          if (!dim || node.shared().isNewerThan(firstSymbol, dim))
            dim = node.number(1);
        Value sizes = node.create<FromDimsOp>({}, {node.named("dims", ArrayRef(dims))});
        tensor = node.create<ExpandOp>({node.scalar(tensor, 0), sizes});
      }
    return SmallVector<Value>();
  });
  if (!block)
    return block;
  Builder b(node.context());
  block->checks.push_back(b.getArrayAttr({node.number(0).attribute(), node.number(1).attribute(), b.getStringAttr(problem.label + ": " + problem.reason)}));
  return block;
}

/// Both branches without their results, which are `items`. One may fail in each run. False after a problem.
bool importBranches(NodeContext &node, const FlatGraph *const (&graphs)[2], InnerBlock (&blocks)[2], SmallVector<Item> (&items)[2]) {
  size_t firstSymbol = node.shared().symbols.size(), firstProblem = node.shared().problems.size();
  std::optional<InnerBlock> built[2];
  std::optional<ImportProblem> problem;
  for (int i : {0, 1}) {
    built[i] = node.innerBlock([&](Block &) -> std::optional<SmallVector<Value>> {
      std::optional<SmallVector<Item>> outputs = node.run(*graphs[i], {});
      if (!outputs)
        return std::nullopt;
      items[i] = std::move(*outputs);
      return SmallVector<Value>();
    });
    if (built[i])
      continue;
    if (problem) // both
      node.shared().problems.push_back(*problem);
    else
      problem = node.takeBackProblem(firstProblem);
    if (node.failed())
      return false;
  }
  for (int i : {0, 1})
    if (!built[i] && !(built[i] = failingBranch(node, *problem, *graphs[i], items[1 - i], items[i], firstSymbol)))
      return false;
  for (int i : {0, 1})
    blocks[i] = std::move(*built[i]);
  return true;
}

void branch(NodeContext &node) {
  const FlatGraph *graphs[] = {node.graphAttribute("then_branch", 0), node.graphAttribute("else_branch", 0)};
  Value condition = node.input(0);
  if (node.failed() || !isCondition(node, condition))
    return;
  if (std::optional<SmallVector<int64_t>> known = node.knownIntegers(condition))
    return takeBranch(node, *graphs[known->front() ? 0 : 1]);
  size_t firstSymbol = node.shared().symbols.size();
  InnerBlock blocks[2];
  SmallVector<Item> items[2];
  if (!importBranches(node, graphs, blocks, items))
    return;
  SmallVector<Form> forms = joinForms(node, blocks, items);
  if (node.failed())
    return;
  if (std::optional<int> taken = branchOfLowerRank(node, blocks)) {
    node.shared().dropSymbols(firstSymbol);
    requireCondition(node, condition, *taken == 0);
    return takeBranch(node, *graphs[*taken]);
  }
  SmallVector<Value> joined = joinBranches(node, condition, blocks, firstSymbol);
  if (node.failed())
    return;
  ArrayRef<Value> rest(joined);
  for (const Form &form : forms)
    node.result(Item::takeFrom(rest, form));
}

// --- Loop ------------------------------------------------------------------------------------------------------------------

/// The rank that a graph says its input has; 0 if it does not.
int64_t declaredRank(const FlatGraph &graph, int input) {
  return graph.proto->input(input).type().tensor_type().shape().dim_size();
}

/// Value number i of a body that only passes it on is no value that changes.
bool isPassedOn(const FlatGraph &body, int i) {
  std::string name = body.proto->output(i).name();
  for (auto node = body.nodes.rbegin(); node != body.nodes.rend(); ++node) // each comes after what it reads
    if (node->proto->op_type() == "Identity" && node->proto->input_size() == 1 && node->proto->output_size() == 1 &&
        node->proto->output(0) == name)
      name = node->proto->input(0);
  return name == body.proto->input(i + 1).name();
}

/// An i64 or bool with the rank that the body's input has.
Value withDeclaredRank(NodeContext &node, Value value, const FlatGraph &body, int input) {
  int64_t rank = declaredRank(body, input);
  return node.rank(value) == rank ? value : node.create<ReshapeOp>({value, node.indices(SmallVector<int64_t>(rank, 1))});
}

/// What the values of a loop are before each trip.
struct LoopValues {
  SmallVector<Item> inits;
  SmallVector<bool> passedOn;
  SmallVector<Form> forms; // of the others
  bool settled;            // whether the body keeps the forms
};

/// The items that the body starts a trip with, whose tensors are `carried`.
SmallVector<Item> bodyInputs(NodeContext &node, const FlatGraph &body, const LoopValues &values, DimExpr trip, ArrayRef<Value> carried) {
  SmallVector<Item> inputs = {
      withDeclaredRank(node, node.create<FromDimsOp>({}, {node.named("dims", ArrayRef(trip))}), body, 0),
      withDeclaredRank(node, node.scalar(IntegerType::get(node.context(), 1), 1), body, 1)};
  ArrayRef<Form> forms(values.forms);
  for (auto [init, passedOn] : llvm::zip_equal(values.inits, values.passedOn)) {
    inputs.push_back(passedOn ? init : Item::takeFrom(carried, forms.front()));
    forms = forms.drop_front(!passedOn);
  }
  return inputs;
}

/// The tensors that the body ends a trip with. Nothing if an item needs another form, which `values` then has.
std::optional<SmallVector<Value>> bodyResults(NodeContext &node, LoopValues &values, ArrayRef<Item> outputs) {
  SmallVector<Value> results;
  values.settled = true;
  Form *form = values.forms.begin();
  for (auto [i, output] : llvm::enumerate(outputs)) {
    if (i > 0 && i <= values.inits.size()) {
      if (values.passedOn[i - 1])
        continue;
      Form joined = join(node, *form, output.form);
      values.settled &= isSame(joined, *form);
      *form++ = joined;
      if (values.settled)
        results.append(convert(node, output, joined).tensors);
    } else if (Value tensor = output.tensor()) {
      results.push_back(tensor);
    } else {
      node.fail("output " + Twine(i) + " of the body is " + output.form.describe() + ", expected a tensor");
    }
  }
  return values.settled ? std::optional(results) : std::nullopt;
}

/// An empty list gets the rank that the body says, before it is known what the body puts into it. A rank of 0 is often but a shape that
/// was left out.
Form formInLoop(NodeContext &node, const Item &init, const onnx::TypeProto &declared) {
  Form form = init.form;
  const onnx::TypeProto &element = declared.sequence_type().elem_type();
  if (form.kind == Form::Kind::List && form.parts.empty() && element.tensor_type().shape().dim_size() > 0)
    form = {Form::Kind::Packed, form.element, element.tensor_type().shape().dim_size(), {}};
  return form;
}

void loop(NodeContext &node) {
  size_t numValues = node.numInputs() < 2 ? 0 : node.numInputs() - 2;
  const FlatGraph *body = node.graphAttribute("body", numValues + 2);
  LoopSpec spec;
  std::optional<Dims> trips = node.numbers(0);
  spec.condition = node.optionalInput(1);
  if (node.failed() || (spec.condition && !isCondition(node, spec.condition)))
    return;
  if (trips && trips->size() != 1)
    return node.fail("the number of trips is no scalar");
  if (body->proto->output_size() < static_cast<int>(numValues + 1))
    return node.fail("graph 'body' has " + Twine(body->proto->output_size()) + " outputs, expected at least " + Twine(numValues + 1));
  spec.trips = trips ? trips->front() : node.number(INT64_MAX);
  spec.hasCondition = true;
  LoopValues values;
  for (size_t i = 0; i < numValues; ++i) {
    values.inits.push_back(node.item(i + 2));
    values.passedOn.push_back(isPassedOn(*body, i + 1));
    if (!values.passedOn.back())
      values.forms.push_back(formInLoop(node, values.inits.back(), body->proto->input(i + 2).type()));
  }
  spec.body = [&](DimExpr trip, ArrayRef<Value> carried) -> std::optional<SmallVector<Value>> {
    std::optional<SmallVector<Item>> outputs = node.run(*body, bodyInputs(node, *body, values, trip, carried));
    if (!outputs || !isCondition(node, outputs->front().tensor()))
      return std::nullopt;
    return bodyResults(node, values, *outputs);
  };
  size_t firstSymbol = node.shared().symbols.size();
  SmallVector<Value> built;
  do {
    node.shared().dropSymbols(firstSymbol);
    spec.inits.clear();
    ArrayRef<Form> forms(values.forms);
    for (auto [init, passedOn] : llvm::zip_equal(values.inits, values.passedOn)) {
      if (!passedOn)
        spec.inits.append(convert(node, init, forms.front()).tensors);
      forms = forms.drop_front(!passedOn);
    }
    values.settled = true;
    built = buildLoop(node, spec);
  } while (!values.settled && !node.failed());
  if (node.failed())
    return;
  ArrayRef<Value> results(built);
  ArrayRef<Form> forms(values.forms);
  for (auto [init, passedOn] : llvm::zip_equal(values.inits, values.passedOn)) {
    node.result(passedOn ? init : Item::takeFrom(results, forms.front()));
    forms = forms.drop_front(!passedOn);
  }
  llvm::for_each(results, [&](Value result) { node.result(result); });
}

// --- Scan ------------------------------------------------------------------------------------------------------------------

struct ScanSpec {
  const FlatGraph *body;
  size_t numStates;
  SmallVector<int64_t> inputAxes, inputDirections, outputAxes, outputDirections; // one per sequence
};

/// One scan: the last states, and after them what is collected, along axis 0.
SmallVector<Value> scanOnce(NodeContext &node, const ScanSpec &scan, ArrayRef<Value> inputs) {
  ArrayRef<Value> sequences = inputs.drop_front(scan.numStates);
  LoopSpec spec;
  spec.hasCondition = false;
  spec.inits.assign(inputs.begin(), inputs.begin() + scan.numStates);
  for (auto [i, sequence] : llvm::enumerate(sequences)) {
    DimExpr length = node.dims(sequence)[scan.inputAxes[i]];
    if (!length)
      node.fail("the length of the sequence depends on data, which is not supported");
    if (i == 0)
      spec.trips = length;
    else
      node.require(length, spec.trips, "sequences have the same length");
  }
  spec.body = [&](DimExpr trip, ArrayRef<Value> carried) -> std::optional<SmallVector<Value>> {
    SmallVector<Value> values(carried);
    for (auto [i, sequence] : llvm::enumerate(sequences)) {
      int64_t axis = scan.inputAxes[i];
      Value element = part(node, sequence, axis, scan.inputDirections[i] ? spec.trips - trip - 1 : trip, node.number(1));
      values.push_back(node.create<SqueezeOp>({element}, {node.named("axes", ArrayRef<int64_t>(axis))}));
    }
    return runForTensors(node, *scan.body, values);
  };
  SmallVector<Value> results = buildLoop(node, spec);
  for (size_t i = scan.numStates; i < results.size(); ++i)
    if (scan.outputDirections[i - scan.numStates])
      results[i] = part(node, results[i], 0, spec.trips - 1, spec.trips, -1);
  return results;
}

/// A list of one number per sequence, 0 if it is absent.
SmallVector<int64_t> listAttribute(NodeContext &node, StringRef name, size_t size) {
  SmallVector<int64_t> list = node.intsAttribute(name).value_or(SmallVector<int64_t>(size, 0));
  if (list.size() != size)
    node.fail("attribute '" + name + "' has " + Twine(list.size()) + " numbers, expected " + Twine(size));
  list.resize(size);
  return list;
}

std::optional<ScanSpec> scanSpec(NodeContext &node, size_t numInputs) {
  int64_t numSequences = node.intAttribute("num_scan_inputs", 0);
  ScanSpec scan;
  scan.body = node.graphAttribute("body", numInputs);
  if (numSequences < 1 || static_cast<size_t>(numSequences) > numInputs)
    node.fail("num_scan_inputs is " + Twine(numSequences) + ", the node has " + Twine(numInputs) + " inputs");
  if (node.failed())
    return std::nullopt;
  scan.numStates = numInputs - numSequences;
  if (static_cast<size_t>(scan.body->proto->output_size()) < scan.numStates) {
    node.fail("graph 'body' has " + Twine(scan.body->proto->output_size()) + " outputs, expected at least " + Twine(scan.numStates));
    return std::nullopt;
  }
  size_t numCollected = scan.body->proto->output_size() - scan.numStates;
  bool batched = node.version < 9;
  scan.inputDirections = listAttribute(node, batched ? "directions" : "scan_input_directions", numSequences);
  scan.inputAxes.assign(numSequences, 0);
  scan.outputAxes.assign(numCollected, 0);
  scan.outputDirections.assign(numCollected, 0);
  if (!batched) {
    scan.inputAxes = listAttribute(node, "scan_input_axes", numSequences);
    scan.outputAxes = listAttribute(node, "scan_output_axes", numCollected);
    scan.outputDirections = listAttribute(node, "scan_output_directions", numCollected);
  }
  return scan;
}

void scan(NodeContext &node) {
  std::optional<ScanSpec> scan = scanSpec(node, node.numInputs());
  if (!scan)
    return;
  SmallVector<Value> inputs;
  for (size_t i = 0; i < node.numInputs(); ++i)
    inputs.push_back(node.input(i));
  for (auto [i, axis] : llvm::enumerate(scan->inputAxes))
    axis = node.axis(axis, node.rank(inputs[scan->numStates + i]));
  if (node.failed())
    return;
  for (auto [i, value] : llvm::enumerate(scanOnce(node, *scan, inputs))) {
    int64_t axis = i < scan->numStates ? 0 : node.axis(scan->outputAxes[i - scan->numStates], node.rank(value));
    if (axis != 0) {
      SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(1, node.rank(value)));
      perm.insert(perm.begin() + axis, 0);
      value = node.create<TransposeOp>({value}, {node.named("perm", ArrayRef<int64_t>(perm))});
    }
    node.result(value);
  }
}

/// Up to opset 8 all values have a batch in front: a scan for each element of it.
void batchedScan(NodeContext &node) {
  if (node.hasInput(0))
    return node.fail("lengths of sequences are not supported");
  std::optional<ScanSpec> scan = scanSpec(node, node.numInputs() - 1);
  if (!scan)
    return;
  SmallVector<Value> inputs;
  for (size_t i = 1; i < node.numInputs(); ++i)
    inputs.push_back(node.input(i));
  if (node.failed() || llvm::any_of(inputs, [&](Value input) { return node.rank(input) == 0; }))
    return node.fail("an input has no batch");
  LoopSpec batch;
  batch.hasCondition = false;
  batch.trips = node.dims(inputs[0])[0];
  for (Value input : inputs)
    node.require(node.dims(input)[0], batch.trips, "inputs have the same batch");
  batch.body = [&](DimExpr trip, ArrayRef<Value>) -> std::optional<SmallVector<Value>> {
    SmallVector<Value> elements = llvm::map_to_vector(inputs, [&](Value input) {
      return node.create<SqueezeOp>({part(node, input, 0, trip, node.number(1))}, {node.named("axes", ArrayRef<int64_t>{0})});
    });
    return scanOnce(node, *scan, elements);
  };
  for (Value result : buildLoop(node, batch))
    node.result(result);
}

} // namespace

ArrayRef<Converter> controlConverters() {
  static const Converter table[] = {
      {"If", 1, newest, branch},
      {"Loop", 1, newest, loop},
      {"Scan", 8, 8, batchedScan},
      {"Scan", 9, newest, scan},
  };
  return table;
}

} // namespace llmc
