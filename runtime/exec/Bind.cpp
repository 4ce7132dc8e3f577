//===- Bind.cpp - From the dims of the inputs to all numbers of a body --------------------------------------------===//

#include "runtime/exec/LoadedPlan.h"
#include "runtime/exec/Steps.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::rt {
namespace {

using Node = Program::Node;

/// The dims that a caller gives, against the dims that the entry states.
class DimBinder {
public:
  DimBinder(const Program &program, std::span<const int64_t> dims, ShapeState &shape)
      : program(program), specs(program.entry->inputs()), dims(dims), shape(shape) {}

  /// Constant dims, ranges of symbols, and inputs that share a symbol.
  Status bindSymbols();
  /// Dims that are computed from symbols; after these are resolved.
  Status checkComputed() const { return forEachDim(&DimBinder::checkOperation); }

private:
  using Check = Status (DimBinder::*)(uint32_t input, uint32_t dim, const Node &node, int64_t given) const;

  Status forEachDim(Check check) const;
  Status checkConstant(uint32_t input, uint32_t dim, const Node &node, int64_t given) const;
  Status checkSymbol(uint32_t input, uint32_t dim, const Node &node, int64_t given) const;
  Status checkOperation(uint32_t input, uint32_t dim, const Node &node, int64_t given) const;
  Status mismatch(uint32_t input, uint32_t dim, int64_t given, int64_t expected) const;
  std::string_view name(uint32_t input) const { return text(specs->Get(input)->name()); }
  int64_t given(uint32_t input, uint32_t dim) const;

  const Program &program;
  const flatbuffers::Vector<flatbuffers::Offset<plan::TensorSpec>> *specs;
  std::span<const int64_t> dims;
  ShapeState &shape;
};

int64_t DimBinder::given(uint32_t input, uint32_t dim) const {
  size_t first = 0;
  for (uint32_t i = 0; i < input; ++i)
    first += count(specs->Get(i)->dims());
  return dims[first + dim];
}

Status DimBinder::forEachDim(Check check) const {
  size_t next = 0;
  for (uint32_t i = 0; i < count(specs); ++i)
    for (uint32_t d = 0; d < count(specs->Get(i)->dims()); ++d)
      LLMC_TRY((this->*check)(i, d, program.nodes[specs->Get(i)->dims()->Get(d)], dims[next++]));
  return {};
}

Status DimBinder::mismatch(uint32_t input, uint32_t dim, int64_t given, int64_t expected) const {
  return {Code::Shape, concat("input '", name(input), "' has ", given, " in dim ", dim, ", expected ", expected)};
}

Status DimBinder::checkConstant(uint32_t input, uint32_t dim, const Node &node, int64_t given) const {
  if (node.kind == Node::Kind::Constant && given != node.imm)
    return mismatch(input, dim, given, node.imm);
  return {};
}

Status DimBinder::checkSymbol(uint32_t input, uint32_t dim, const Node &node, int64_t here) const {
  if (node.kind != Node::Kind::Symbol || shape.symbols[node.symbol] == here)
    return {};
  const Program::Symbol &symbol = program.symbols[node.symbol];
  return {Code::Shape, concat("inputs '", name(symbol.input), "' and '", name(input), "' disagree on '",
                              text(symbol.spec->name()), "': dim ", symbol.dim, " of '", name(symbol.input), "' is ",
                              given(symbol.input, symbol.dim), ", dim ", dim, " of '", name(input), "' is ", here)};
}

Status DimBinder::checkOperation(uint32_t input, uint32_t dim, const Node &node, int64_t given) const {
  int64_t expected = shape.values[size_t(&node - program.nodes.data())];
  return given == expected ? Status() : mismatch(input, dim, given, expected);
}

Status DimBinder::bindSymbols() {
  LLMC_TRY(forEachDim(&DimBinder::checkConstant));
  for (size_t i = 0; i < program.symbols.size(); ++i) {
    const Program::Symbol &symbol = program.symbols[i];
    if (symbol.source != plan::SymbolSource::INPUT_DIM)
      continue;
    int64_t value = given(symbol.input, symbol.dim);
    if (value < symbol.lo || value > symbol.hi)
      return {Code::Shape, concat("input '", name(symbol.input), "' has ", value, " in dim ", symbol.dim, ", but '",
                                  text(symbol.spec->name()), "' is in ", symbol.lo, "..", symbol.hi)};
    shape.symbols[i] = value;
  }
  return forEachDim(&DimBinder::checkSymbol);
}

Status checkGuards(const Program &program, const ShapeState &shape) {
  for (uint32_t i = 0; i < count(program.body->guards()); ++i) {
    const plan::Guard *guard = program.body->guards()->Get(i);
    int64_t value = shape.values[guard->expr()];
    if (!holds(value, guard->cmp(), guard->bound()))
      return {Code::Shape, concat("the plan is for shapes with ", value, " ", spelling(guard->cmp()), " ",
                                  guard->bound(), " in guard ", i)};
  }
  return {};
}

} // namespace

Status bindShape(const LoadedBody &body, std::span<const int64_t> dims, ShapeState &shape,
                 std::vector<BlockError> &blockErrors) {
  const Program &program = body.program;
  DimBinder binder(program, dims, shape);
  LLMC_TRY(binder.bindSymbols());
  LLMC_TRY(resolveEvent(program, kBindEvent, shape, &blockErrors));
  LLMC_TRY(binder.checkComputed());
  LLMC_TRY(checkGuards(program, shape));
  if (program.placementEvent == kBindEvent)
    return placeBuffers(program, shape, blockErrors);
  return {};
}

/// Of steps whose numbers are not known yet, the answer is yes.
static bool isParallel(const Program &program, const ShapeState &shape) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Program::Step &step) {
    if (step.queue != kHostQueue)
      return false;
    if (step.kind == Program::StepKind::Dispatch)
      return step.event > kBindEvent || participantsOf(shape.launches[step.index], 2) > 1;
    if (step.kind == Program::StepKind::Copy)
      return step.event > kBindEvent || shape.values[program.copies[step.index].length] >= kSplitBytes;
    return false;
  });
}

std::shared_ptr<const Binding> LoadedEntry::find(std::span<const int64_t> dims) {
  std::lock_guard lock(mutex);
  for (auto at = cache.begin(); at != cache.end(); ++at)
    if (std::equal(dims.begin(), dims.end(), (*at)->dims.begin(), (*at)->dims.end())) {
      cache.splice(cache.begin(), cache, at);
      return cache.front();
    }
  return nullptr;
}

/// The first body, by priority, that takes these dims. The last one is the most general, so its error is the user's.
Result<std::shared_ptr<const Binding>> LoadedEntry::makeBinding(std::span<const int64_t> dims) const {
  Status error;
  for (const auto &body : bodies) {
    auto binding = std::make_shared<Binding>(
        Binding{body.get(), {dims.begin(), dims.end()}, body->loaded, body->loadErrors, false});
    error = bindShape(*body, dims, binding->shape, binding->blockErrors);
    binding->isParallel = isParallel(body->program, binding->shape);
    if (error.ok())
      return std::shared_ptr<const Binding>(std::move(binding));
  }
  return error;
}

Result<std::shared_ptr<const Binding>> LoadedEntry::bind(std::span<const int64_t> dims) {
  if (std::shared_ptr<const Binding> known = find(dims))
    return known;
  // Outside of the lock: two threads may make the same binding, and one of the two is dropped in time.
  LLMC_TRY_ASSIGN(std::shared_ptr<const Binding> made, makeBinding(dims));
  std::lock_guard lock(mutex);
  cache.push_front(made);
  if (cache.size() > std::max<size_t>(1, cacheSize))
    cache.pop_back();
  return made;
}

} // namespace llmc::rt
