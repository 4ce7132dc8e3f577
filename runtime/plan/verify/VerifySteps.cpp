//===- VerifySteps.cpp - Operands of each step --------------------------------------------------------------------===//

#include "runtime/plan/verify/Verify.h"
#include <set>

namespace llmc::rt {
namespace {

using plan::BufKind;
using plan::SymbolSource;

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
  Status arguments(const flatbuffers::Vector<uint32_t> *list, uint32_t callee, uint32_t except) const;

  Status verifyDispatch(const plan::Dispatch &dispatch, const plan::Step &step) const;
  Status verifyBinding(const plan::Dispatch &dispatch, const plan::Binding &binding, uint32_t i) const;
  Status verifyCopy(const plan::Copy &copy) const;
  Status verifyFill(const plan::Fill &fill) const;
  Status verifyIf(const plan::If &branch) const;
  Status verifyLoop(const plan::Loop &loop) const;
  Status verifyCarried(const plan::Loop &loop) const;
  Status verifyReadScalar(const plan::ReadScalar &read);
  Status verifyBody(const plan::Step &step);
  Status verifyPoints(const plan::Step &step) const;
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

/// One argument per FRAME_ARGUMENT symbol of the callee, in order, but for symbol `except`.
Status StepVerifier::arguments(const flatbuffers::Vector<uint32_t> *list, uint32_t callee, uint32_t except) const {
  uint32_t expected = 0;
  for (uint32_t i = 0; i < count(blockAt(callee).symbols()); ++i)
    expected += blockAt(callee).symbols()->Get(i)->source() == SymbolSource::FRAME_ARGUMENT && i != except;
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
  uint32_t device = context.body.devices()->Get(context.body.queues()->Get(step.queue())->device());
  if (executable->device_kind() != context.file.plan.devices()->Get(device)->kind())
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

Status StepVerifier::verifyIf(const plan::If &branch) const {
  LLMC_TRY(readAs(branch.cond(), {plan::DType::BOOL}));
  LLMC_TRY(arguments(branch.then_arguments(), branch.then_block(), kNone));
  if (branch.else_block() == kNone)
    return {};
  return arguments(branch.else_arguments(), branch.else_block(), kNone);
}

/// The copies of a carried list come one after the other, so none may overwrite what a later one reads.
Status StepVerifier::verifyCarried(const plan::Loop &loop) const {
  uint32_t numCarried = count(loop.carried_out());
  if (count(loop.carried_init()) != numCarried || count(loop.carried_yield()) != numCarried)
    return fail("loop-carried", "lists of ", count(loop.carried_init()), ", ", count(loop.carried_yield()), " and ",
                numCarried, " buffers");
  std::set<uint32_t> outs;
  for (uint32_t k = 0; k < numCarried; ++k) {
    LLMC_TRY(read(loop.carried_init()->Get(k)));
    LLMC_TRY(write(loop.carried_out()->Get(k)));
    LLMC_TRY(StepVerifier(context, loop.body_block()).read(loop.carried_yield()->Get(k)));
    if (!outs.insert(context.bufferRoot[loop.carried_out()->Get(k)]).second)
      return fail("loop-carried", "two carried values share the bytes of buffer ", loop.carried_out()->Get(k));
  }
  for (uint32_t k = 0; k < numCarried; ++k) {
    uint32_t own = context.bufferRoot[loop.carried_out()->Get(k)];
    for (uint32_t buffer : {loop.carried_init()->Get(k), loop.carried_yield()->Get(k)})
      if (uint32_t root = context.bufferRoot[buffer]; root != own && outs.count(root))
        return fail("loop-carried", "buffer ", buffer, " shares the bytes of another carried value");
  }
  return {};
}

Status StepVerifier::verifyLoop(const plan::Loop &loop) const {
  if (loop.cond() != kNone)
    LLMC_TRY(readAs(loop.cond(), {plan::DType::BOOL}));
  LLMC_TRY(expr(loop.trip()));
  const plan::Block &body = blockAt(loop.body_block());
  if (loop.iteration() != kNone && (loop.iteration() >= count(body.symbols()) ||
                                    body.symbols()->Get(loop.iteration())->source() != SymbolSource::FRAME_ARGUMENT))
    return fail("loop-iteration", "symbol ", loop.iteration(), " of block ", loop.body_block(),
                " is not a frame argument");
  LLMC_TRY(arguments(loop.arguments(), loop.body_block(), loop.iteration()));
  return verifyCarried(loop);
}

Status StepVerifier::verifyReadScalar(const plan::ReadScalar &read) {
  LLMC_TRY(readAs(read.src(), {plan::DType::I32, plan::DType::I64}));
  LLMC_TRY(expr(read.offset()));
  const auto *symbols = blockAt(block).symbols();
  if (read.symbol() >= count(symbols) || symbols->Get(read.symbol())->source() != SymbolSource::READ_STEP)
    return fail("read-symbol", "symbol ", read.symbol(), " of ", count(symbols), " is not for reading into");
  if (!readSymbols.insert(read.symbol()).second)
    return fail("read-symbol", "symbol ", read.symbol(), " is read twice");
  return {};
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
    for (uint32_t i = 0; i < count(points); ++i)
      if (points->Get(i)->semaphore() >= context.body.semaphores())
        return fail("step-semaphore", "semaphore ", points->Get(i)->semaphore(), " of ", context.body.semaphores());
  }
  return {};
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
  if (step.queue() >= context.body.queues()->size())
    return fail("step-queue", "queue ", step.queue(), " of ", context.body.queues()->size());
  LLMC_TRY(verifyPoints(step));
  LLMC_TRY(verifyInfo(step));
  return verifyBody(step);
}

} // namespace

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
