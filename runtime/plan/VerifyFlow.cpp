//===- VerifyFlow.cpp - Whether values are known before they are used ---------------------------------------------===//

#include "runtime/plan/Program.h"
#include "runtime/plan/verify/Verify.h"

namespace llmc::rt {
namespace {

class FlowVerifier {
public:
  explicit FlowVerifier(const Program &program) : program(program) {}
  Status verify();

private:
  Status verifyBoundary() const;
  Status verifySteps();
  Status verifyResults(const Program::Step &step, uint32_t before, uint32_t now) const;
  Status verifyViews() const;

  const Program &program;
  std::vector<uint32_t> known; // per step: the latest event before it
};

/// What binding needs must be known by then.
Status FlowVerifier::verifyBoundary() const {
  for (uint32_t i = 0; i < count(program.entry->inputs()); ++i)
    for (uint32_t d = 0; d < count(program.entry->inputs()->Get(i)->dims()); ++d)
      if (program.nodes[program.entry->inputs()->Get(i)->dims()->Get(d)].event > kBindEvent)
        return fail("input-dims", "dim ", d, " of input ", i, " depends on data");
  for (uint32_t i = 0; i < count(program.body->guards()); ++i)
    if (program.nodes[program.body->guards()->Get(i)->expr()].event > kBindEvent)
      return fail("guard-expr", "guard ", i, " depends on data");
  for (uint32_t i = 0; i < program.buffers.size(); ++i) {
    const Program::Buffer &buffer = program.buffers[i];
    bool early = buffer.kind == plan::BufKind::INPUT || buffer.kind == plan::BufKind::CONSTANT ||
                 (buffer.kind == plan::BufKind::ARENA && buffer.offset != kNone);
    if (early && buffer.event > kBindEvent)
      return fail("late-buffer", "buffer ", i, " (", plan::EnumNameBufKind(buffer.kind),
                  ") has a size or offset that depends on data");
  }
  return {};
}

Status FlowVerifier::verifySteps() {
  known.assign(program.steps.size(), kLoadEvent);
  for (const Program::Block &block : program.blocks) {
    uint32_t now = block.entryEvent;
    for (uint32_t s = block.steps.first; s < block.steps.first + block.steps.size; ++s) {
      const Program::Step &step = program.steps[s];
      known[s] = now;
      if (step.event > now)
        return fail("used-before-read", describeStep(program, step), " uses a value that is read after it");
      if (uint32_t result = program.resultEvent(step); result != kNone)
        now = result;
      LLMC_TRY(verifyResults(step, known[s], now));
    }
  }
  return {};
}

/// What a branch or loop writes in the end has a size that is known then, by event `now`.
Status FlowVerifier::verifyResults(const Program::Step &step, uint32_t before, uint32_t now) const {
  auto known = [&](uint32_t buffer) {
    bool late = program.buffers[buffer].event > now;
    return late ? fail("used-before-read", describeStep(program, step), " writes buffer ", buffer,
                       ", whose size is read after it")
                : Status();
  };
  if (step.kind == Program::StepKind::If)
    for (const Program::BranchResult &result : program.resultsOf(program.ifs[step.index]))
      LLMC_TRY(known(result.out));
  if (step.kind != Program::StepKind::Loop)
    return {};
  const Program::Loop &loop = program.loops[step.index];
  for (const Program::Carried &carried : program.carriedOf(loop)) {
    LLMC_TRY(known(carried.out));
    if (carried.argument != kNone && program.buffers[carried.argument].event > program.blocks[loop.block].entryEvent)
      return fail("used-before-read", describeStep(program, step), " carries a value in buffer ", carried.argument,
                  ", whose size is read after its block is entered");
  }
  for (const Program::Collected &collected : program.collectedOf(loop)) {
    LLMC_TRY(known(collected.out));
    const Program::Buffer &out = program.buffers[collected.out];
    if (out.event > before && out.kind != plan::BufKind::ARENA)
      return fail("loop-collected", "buffer ", collected.out, " can not grow and has no size before the loop");
  }
  return {};
}

/// A view of a buffer of a block around it: that buffer's place is known when the view's block is entered.
Status FlowVerifier::verifyViews() const {
  for (uint32_t i = 0; i < program.buffers.size(); ++i) {
    const Program::Buffer &view = program.buffers[i];
    if (view.kind != plan::BufKind::VIEW)
      continue;
    const Program::Buffer &parent = program.buffers[view.parent];
    uint32_t step = kNone;
    for (uint32_t block = view.block; block != parent.block; block = program.blocks[block].parent)
      step = program.blocks[block].entryStep;
    if (step != kNone && parent.event > known[step])
      return fail("used-before-read", "buffer ", i, " is a view of buffer ", view.parent,
                  ", whose size is read after the view's block is entered");
  }
  return {};
}

Status FlowVerifier::verify() {
  LLMC_TRY(verifyBoundary());
  LLMC_TRY(verifySteps());
  return verifyViews();
}

} // namespace

Status verifyFlow(const Program &program) { return FlowVerifier(program).verify(); }

} // namespace llmc::rt
