//===- VerifySteps.cpp - Operands of each step --------------------------------------------------------------------===//

#include "runtime/plan/verify/Verify.h"
#include <algorithm>
#include <map>
#include <set>

namespace llmc::rt {
namespace {

using plan::BufKind;
using plan::SymbolSource;

using List = flatbuffers::Vector<uint32_t>;

/// Where a step puts values. It copies their bytes one after the other, so none may overwrite what a later copy reads.
class Places {
public:
  explicit Places(const BodyContext &context) : context(context) {}
  /// `places` of the values from number `first` on; kNone for none.
  Status add(const List *places, uint32_t first);
  /// What is copied to the places of the values from number `first` on.
  Status check(const List *sources, uint32_t first) const;

private:
  const BodyContext &context;
  std::map<uint32_t, uint32_t> owner; // root of a place -> its value
};

Status Places::add(const List *places, uint32_t first) {
  for (uint32_t k = 0; k < count(places); ++k)
    if (places->Get(k) != kNone && !owner.insert({context.bufferRoot[places->Get(k)], first + k}).second)
      return fail("loop-carried", "two carried values share the bytes of buffer ", places->Get(k));
  return {};
}

Status Places::check(const List *sources, uint32_t first) const {
  for (uint32_t k = 0; k < count(sources); ++k)
    if (auto place = owner.find(context.bufferRoot[sources->Get(k)]); place != owner.end() && place->second != first + k)
      return fail("loop-carried", "buffer ", sources->Get(k), " shares the bytes of another carried value");
  return {};
}

/// Checks the steps of one block. A step names only buffers, symbols and expressions of its own block.
class StepVerifier {
public:
  StepVerifier(const BodyContext &context, uint32_t block)
      : context(context), block(block), numExprs(count(blockAt(block).exprs())) {}

  Status verify(const plan::Step &step);
  /// After all steps: each READ_STEP symbol has been written once.
  Status verifyReads() const;

private:
  const plan::Block &blockAt(uint32_t index) const { return *context.body.blocks()->Get(index); }
  const plan::Buffer &bufferAt(uint32_t index) const { return *context.body.buffers()->Get(index); }
  Status read(uint32_t buffer) const;
  Status write(uint32_t buffer) const;
  Status expr(uint32_t index) const;
  Status readAs(uint32_t buffer, std::initializer_list<plan::DType> types) const;
  Status arguments(const flatbuffers::Vector<uint32_t> *list, uint32_t callee, const plan::Loop *loop) const;
  Status define(uint32_t symbol);

  Status verifyDispatch(const plan::Dispatch &dispatch, const plan::Step &step) const;
  Status verifyBinding(const plan::Dispatch &dispatch, const plan::Binding &binding, uint32_t i) const;
  Status verifyCopy(const plan::Copy &copy) const;
  Status verifyFill(const plan::Fill &fill) const;
  Status verifyIf(const plan::If &branch);
  Status verifyBranchResults(const plan::If &branch);
  Status verifyLoop(const plan::Loop &loop);
  Status verifyCarried(const plan::Loop &loop) const;
  Status verifyCollected(const plan::Loop &loop) const;
  Status verifySizes(const plan::Loop &loop);
  Status verifyReadScalar(const plan::ReadScalar &read);
  Status verifyBody(const plan::Step &step);
  Status verifyPoints(const plan::Step &step) const;
  Status verifyQueue(const plan::Step &step) const;
  Status resident(uint32_t buffer, uint32_t device) const;
  Status resident(std::initializer_list<const List *> lists, uint32_t device) const;
  Status verifyResidency(const plan::Step &step) const;
  Status verifyInfo(const plan::Step &step) const;

  const BodyContext &context;
  uint32_t block, numExprs;
  std::set<uint32_t> readSymbols;
};

Status StepVerifier::read(uint32_t buffer) const {
  if (buffer >= context.body.buffers()->size())
    return fail("step-buffer", "buffer ", buffer, " of ", context.body.buffers()->size());
  if (bufferAt(buffer).block() != block)
    return fail("step-block", "buffer ", buffer, " is of block ", bufferAt(buffer).block());
  return {};
}

Status StepVerifier::write(uint32_t buffer) const {
  LLMC_TRY(read(buffer));
  BufKind kind = bufferAt(context.bufferRoot[buffer]).kind();
  if (kind == BufKind::INPUT || kind == BufKind::CONSTANT)
    return fail("write-access", "buffer ", buffer, " can not be written: its bytes are ", plan::EnumNameBufKind(kind));
  return {};
}

Status StepVerifier::expr(uint32_t index) const {
  return index < numExprs ? Status() : fail("step-expr", "expression ", index, " of ", numExprs);
}

Status StepVerifier::readAs(uint32_t buffer, std::initializer_list<plan::DType> types) const {
  LLMC_TRY(read(buffer));
  for (plan::DType type : types)
    if (bufferAt(buffer).dtype() == type)
      return {};
  return fail("step-type", "buffer ", buffer, " has type ", plan::EnumNameDType(bufferAt(buffer).dtype()),
              ", not what the step reads");
}

/// One argument per FRAME_ARGUMENT symbol of the callee, in order, but for those that `loop`, if any, changes in each trip.
Status StepVerifier::arguments(const flatbuffers::Vector<uint32_t> *list, uint32_t callee, const plan::Loop *loop) const {
  uint32_t expected = 0;
  for (uint32_t i = 0; i < count(blockAt(callee).symbols()); ++i)
    expected += blockAt(callee).symbols()->Get(i)->source() == SymbolSource::FRAME_ARGUMENT &&
                !(loop && changesInTrips(*loop, i));
  if (count(list) != expected)
    return fail("frame-arguments", count(list), " arguments for block ", callee, ", which takes ", expected);
  for (uint32_t i = 0; i < count(list); ++i)
    LLMC_TRY(expr(list->Get(i)));
  return {};
}

Status StepVerifier::verifyBinding(const plan::Dispatch &dispatch, const plan::Binding &binding, uint32_t i) const {
  uint32_t buffer = dispatch.buffers()->Get(i);
  return binding.access() == plan::Access::READ ? read(buffer) : write(buffer);
}

Status StepVerifier::verifyDispatch(const plan::Dispatch &dispatch, const plan::Step &step) const {
  const auto *executables = context.file.plan.executables();
  if (dispatch.executable() >= count(executables))
    return fail("dispatch-executable", "executable ", dispatch.executable(), " of ", count(executables));
  const plan::Executable *executable = executables->Get(dispatch.executable());
  if (dispatch.export_index() >= executable->exports()->size())
    return fail("dispatch-export", "export ", dispatch.export_index(), " of ", executable->exports()->size());
  uint32_t device = context.body.devices()->Get(context.deviceOfQueue(step.queue()));
  plan::DeviceKind kind = context.file.plan.devices()->Get(device)->kind();
  // A simulated device runs the code of the machine that simulates it.
  if (executable->device_kind() != (kind == plan::DeviceKind::SIM ? plan::DeviceKind::CPU : kind))
    return fail("dispatch-device", "code for ", plan::EnumNameDeviceKind(executable->device_kind()),
                " on a queue of device ", device);
  const plan::Export *exported = executable->exports()->Get(dispatch.export_index());
  if (count(dispatch.buffers()) != exported->bindings()->size())
    return fail("dispatch-buffers", count(dispatch.buffers()), " buffers for ", exported->bindings()->size(),
                " bindings");
  if (count(dispatch.scalars()) != exported->scalars())
    return fail("dispatch-scalars", count(dispatch.scalars()), " scalars, the export takes ", exported->scalars());
  for (uint32_t i = 0; i < count(dispatch.buffers()); ++i)
    LLMC_TRY(verifyBinding(dispatch, *exported->bindings()->Get(i), i));
  for (uint32_t i = 0; i < count(dispatch.scalars()); ++i)
    LLMC_TRY(expr(dispatch.scalars()->Get(i)));
  return {};
}

Status StepVerifier::verifyCopy(const plan::Copy &copy) const {
  LLMC_TRY(read(copy.src()));
  LLMC_TRY(write(copy.dst()));
  LLMC_TRY(expr(copy.src_offset()));
  LLMC_TRY(expr(copy.dst_offset()));
  return expr(copy.length());
}

Status StepVerifier::verifyFill(const plan::Fill &fill) const {
  uint8_t size = fill.pattern_size();
  if (size != 1 && size != 2 && size != 4 && size != 8)
    return fail("fill-pattern", "a pattern of ", int(size), " bytes");
  return write(fill.dst());
}

/// Notes that the step gives READ_STEP symbol `symbol` of this block its value.
Status StepVerifier::define(uint32_t symbol) {
  const auto *symbols = blockAt(block).symbols();
  if (symbol >= count(symbols) || symbols->Get(symbol)->source() != SymbolSource::READ_STEP)
    return fail("read-symbol", "symbol ", symbol, " of ", count(symbols), " is not for reading into");
  if (!readSymbols.insert(symbol).second)
    return fail("read-symbol", "symbol ", symbol, " is read twice");
  return {};
}

Status StepVerifier::verifyIf(const plan::If &branch) {
  LLMC_TRY(readAs(branch.cond(), {plan::DType::BOOL}));
  LLMC_TRY(arguments(branch.then_arguments(), branch.then_block(), nullptr));
  if (branch.else_block() != kNone)
    LLMC_TRY(arguments(branch.else_arguments(), branch.else_block(), nullptr));
  return verifyBranchResults(branch);
}

Status StepVerifier::verifyBranchResults(const plan::If &branch) {
  uint32_t sizes = count(branch.symbols()), results = count(branch.results());
  if (sizes + results != 0 && branch.else_block() == kNone)
    return fail("branch-results", "no block gives the results if the condition does not hold");
  if (count(branch.then_sizes()) != sizes || count(branch.else_sizes()) != sizes ||
      count(branch.then_results()) != results || count(branch.else_results()) != results)
    return fail("branch-results", "the blocks do not give ", sizes, " sizes and ", results, " buffers");
  for (uint32_t j = 0; j < sizes; ++j) {
    LLMC_TRY(define(branch.symbols()->Get(j)));
    LLMC_TRY(StepVerifier(context, branch.then_block()).expr(branch.then_sizes()->Get(j)));
    LLMC_TRY(StepVerifier(context, branch.else_block()).expr(branch.else_sizes()->Get(j)));
  }
  for (uint32_t k = 0; k < results; ++k) {
    LLMC_TRY(write(branch.results()->Get(k)));
    LLMC_TRY(StepVerifier(context, branch.then_block()).read(branch.then_results()->Get(k)));
    LLMC_TRY(StepVerifier(context, branch.else_block()).read(branch.else_results()->Get(k)));
  }
  Places places(context);
  LLMC_TRY(places.add(branch.results(), 0));
  LLMC_TRY(places.check(branch.then_results(), 0));
  return places.check(branch.else_results(), 0);
}

Status StepVerifier::verifyCarried(const plan::Loop &loop) const {
  uint32_t numCarried = count(loop.carried_out());
  if (count(loop.carried_init()) != numCarried || count(loop.carried_yield()) != numCarried)
    return fail("loop-carried", "lists of ", count(loop.carried_init()), ", ", count(loop.carried_yield()), " and ",
                numCarried, " buffers");
  if (count(loop.carried_argument()) != 0 && count(loop.carried_argument()) != numCarried)
    return fail("loop-carried", count(loop.carried_argument()), " arguments for ", numCarried, " values");
  StepVerifier inner(context, loop.body_block());
  for (uint32_t k = 0; k < numCarried; ++k) {
    LLMC_TRY(read(loop.carried_init()->Get(k)));
    LLMC_TRY(write(loop.carried_out()->Get(k)));
    LLMC_TRY(inner.read(loop.carried_yield()->Get(k)));
    uint32_t argument = count(loop.carried_argument()) ? loop.carried_argument()->Get(k) : kNone;
    if (argument == kNone)
      continue;
    LLMC_TRY(inner.write(argument));
    if (bufferAt(argument).kind() != BufKind::ARENA)
      return fail("loop-carried", "argument ", k, " has no memory of its own");
  }
  return {};
}

Status StepVerifier::verifyCollected(const plan::Loop &loop) const {
  uint32_t numCollected = count(loop.collected_out());
  if (count(loop.collected_yield()) != numCollected)
    return fail("loop-collected", "lists of ", count(loop.collected_yield()), " and ", numCollected, " buffers");
  for (uint32_t k = 0; k < numCollected; ++k) {
    LLMC_TRY(write(loop.collected_out()->Get(k)));
    LLMC_TRY(StepVerifier(context, loop.body_block()).read(loop.collected_yield()->Get(k)));
  }
  return {};
}

Status StepVerifier::verifySizes(const plan::Loop &loop) {
  uint32_t numSizes = count(loop.size_arguments());
  if (count(loop.size_starts()) != numSizes || count(loop.size_yields()) != numSizes ||
      count(loop.size_results()) != numSizes)
    return fail("loop-sizes", "lists of ", numSizes, ", ", count(loop.size_starts()), ", ", count(loop.size_yields()),
                " and ", count(loop.size_results()), " sizes");
  const auto *symbols = blockAt(loop.body_block()).symbols();
  std::set<uint32_t> seen = {loop.iteration()};
  for (uint32_t j = 0; j < numSizes; ++j) {
    uint32_t argument = loop.size_arguments()->Get(j);
    if (argument >= count(symbols) || symbols->Get(argument)->source() != SymbolSource::FRAME_ARGUMENT ||
        !seen.insert(argument).second)
      return fail("loop-sizes", "symbol ", argument, " of block ", loop.body_block(),
                  " is not a frame argument, or given twice");
    LLMC_TRY(expr(loop.size_starts()->Get(j)));
    LLMC_TRY(StepVerifier(context, loop.body_block()).expr(loop.size_yields()->Get(j)));
    LLMC_TRY(define(loop.size_results()->Get(j)));
  }
  return {};
}

Status StepVerifier::verifyLoop(const plan::Loop &loop) {
  if (loop.cond() != kNone)
    LLMC_TRY(readAs(loop.cond(), {plan::DType::BOOL}));
  LLMC_TRY(expr(loop.trip()));
  const plan::Block &body = blockAt(loop.body_block());
  if (loop.iteration() != kNone && (loop.iteration() >= count(body.symbols()) ||
                                    body.symbols()->Get(loop.iteration())->source() != SymbolSource::FRAME_ARGUMENT))
    return fail("loop-iteration", "symbol ", loop.iteration(), " of block ", loop.body_block(),
                " is not a frame argument");
  LLMC_TRY(verifySizes(loop));
  LLMC_TRY(arguments(loop.arguments(), loop.body_block(), &loop));
  LLMC_TRY(verifyCarried(loop));
  LLMC_TRY(verifyCollected(loop));
  Places places(context);
  uint32_t numCarried = count(loop.carried_out());
  LLMC_TRY(places.add(loop.carried_out(), 0));
  LLMC_TRY(places.add(loop.carried_argument(), 0));
  LLMC_TRY(places.add(loop.collected_out(), numCarried));
  LLMC_TRY(places.check(loop.carried_init(), 0)); // what is collected is appended before carried values are copied
  return places.check(loop.carried_yield(), 0);
}

Status StepVerifier::verifyReadScalar(const plan::ReadScalar &read) {
  LLMC_TRY(readAs(read.src(), {plan::DType::I32, plan::DType::I64}));
  LLMC_TRY(expr(read.offset()));
  return define(read.symbol());
}

Status StepVerifier::verifyReads() const {
  for (uint32_t i = 0; i < count(blockAt(block).symbols()); ++i)
    if (blockAt(block).symbols()->Get(i)->source() == SymbolSource::READ_STEP && !readSymbols.count(i))
      return fail("read-symbol", "symbol ", i, " is never read");
  return {};
}

Status StepVerifier::verifyBody(const plan::Step &step) {
  switch (step.body_type()) {
  case plan::StepBody::Dispatch:
    return verifyDispatch(*step.body_as_Dispatch(), step);
  case plan::StepBody::Copy:
    return verifyCopy(*step.body_as_Copy());
  case plan::StepBody::Fill:
    return verifyFill(*step.body_as_Fill());
  case plan::StepBody::If:
    return verifyIf(*step.body_as_If());
  case plan::StepBody::Loop:
    return verifyLoop(*step.body_as_Loop());
  case plan::StepBody::ReadScalar:
    return verifyReadScalar(*step.body_as_ReadScalar());
  case plan::StepBody::Check:
    if (!step.body_as_Check()->guard())
      return fail("check-guard", "no guard");
    return verifyGuard(*step.body_as_Check()->guard(), numExprs);
  case plan::StepBody::Barrier:
    return {};
  default:
    return fail("step-kind", "unknown kind ", int(step.body_type()));
  }
}

Status StepVerifier::verifyPoints(const plan::Step &step) const {
  for (const auto *points : {step.wait(), step.signal()}) {
    LLMC_TRY(verifyAligned(points, "points"));
    for (uint32_t i = 0; i < count(points); ++i) {
      if (points->Get(i)->semaphore() >= context.body.semaphores())
        return fail("step-semaphore", "semaphore ", points->Get(i)->semaphore(), " of ", context.body.semaphores());
      if (uint64_t value = points->Get(i)->value(); value == 0 || value > kMaxPoint)
        return fail("point-value", "value ", value, " of a semaphore, expected 1..", kMaxPoint);
    }
  }
  return {};
}

/// The host decides what runs; only work runs elsewhere.
Status StepVerifier::verifyQueue(const plan::Step &step) const {
  if (step.queue() >= context.body.queues()->size())
    return fail("step-queue", "queue ", step.queue(), " of ", context.body.queues()->size());
  if (step.queue() == 0)
    return {};
  plan::StepBody kind = step.body_type();
  bool isWork = kind == plan::StepBody::Dispatch || kind == plan::StepBody::Copy || kind == plan::StepBody::Fill;
  return isWork ? Status() : fail("host-step", "only queue 0 has such steps, not queue ", step.queue());
}

Status StepVerifier::resident(uint32_t buffer, uint32_t device) const {
  if (uint32_t place = context.deviceOfBuffer(buffer); place != device)
    return fail("residency", "buffer ", buffer, " is in the memory of device ", place, ", the step is on device ", device);
  return {};
}

Status StepVerifier::resident(std::initializer_list<const List *> lists, uint32_t device) const {
  for (const List *list : lists)
    for (uint32_t i = 0; i < count(list); ++i)
      if (list->Get(i) != kNone)
        LLMC_TRY(resident(list->Get(i), device));
  return {};
}

/// A step touches memory of its own device alone. A copy to or from the host is on the queue of the other device; between two
/// others, on the target's.
Status StepVerifier::verifyResidency(const plan::Step &step) const {
  uint32_t device = context.deviceOfQueue(step.queue()), host = context.deviceOfQueue(0);
  switch (step.body_type()) {
  case plan::StepBody::Dispatch:
    return resident({step.body_as_Dispatch()->buffers()}, device);
  case plan::StepBody::Copy: {
    uint32_t to = step.body_as_Copy()->dst();
    uint32_t target = context.deviceOfBuffer(to);
    return resident(target == host ? step.body_as_Copy()->src() : to, device);
  }
  case plan::StepBody::Fill:
    return resident(step.body_as_Fill()->dst(), device);
  case plan::StepBody::If: {
    const plan::If *branch = step.body_as_If();
    LLMC_TRY(resident(branch->cond(), device));
    return resident({branch->results(), branch->then_results(), branch->else_results()}, device);
  }
  case plan::StepBody::Loop: {
    const plan::Loop *loop = step.body_as_Loop();
    if (loop->cond() != kNone)
      LLMC_TRY(resident(loop->cond(), device));
    return resident({loop->carried_init(), loop->carried_yield(), loop->carried_out(), loop->carried_argument(),
                     loop->collected_yield(), loop->collected_out()}, device);
  }
  case plan::StepBody::ReadScalar:
    return resident(step.body_as_ReadScalar()->src(), device);
  default:
    return {};
  }
}

Status StepVerifier::verifyInfo(const plan::Step &step) const {
  const auto *infos = context.file.plan.step_infos();
  if (step.info() == kNone)
    return {};
  if (step.info() >= count(infos))
    return fail("step-info", "info ", step.info(), " of ", count(infos));
  const plan::StepInfo *info = infos->Get(step.info());
  for (uint32_t index : {info->flops(), info->bytes()})
    if (index != kNone)
      LLMC_TRY(expr(index));
  return {};
}

Status StepVerifier::verify(const plan::Step &step) {
  LLMC_TRY(verifyQueue(step));
  LLMC_TRY(verifyPoints(step));
  LLMC_TRY(verifyInfo(step));
  LLMC_TRY(verifyBody(step));
  return verifyResidency(step);
}

} // namespace

bool changesInTrips(const plan::Loop &loop, uint32_t symbol) {
  const List *sizes = loop.size_arguments();
  return symbol == loop.iteration() || (sizes && std::find(sizes->begin(), sizes->end(), symbol) != sizes->end());
}

Status verifySteps(BodyContext &context) {
  const auto &blocks = *context.body.blocks();
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    StepVerifier verifier(context, b);
    const auto &steps = *blocks.Get(b)->steps();
    for (uint32_t s = 0; s < steps.size(); ++s)
      if (Status status = verifier.verify(*steps.Get(s)); !status.ok())
        return std::move(status).in(
            concat("block ", b, ", step ", s, " (", plan::EnumNameStepBody(steps.Get(s)->body_type()), ")"));
    if (Status status = verifier.verifyReads(); !status.ok())
      return std::move(status).in(concat("block ", b));
  }
  return {};
}

} // namespace llmc::rt
