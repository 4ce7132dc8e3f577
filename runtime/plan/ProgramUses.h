//===- ProgramUses.h - Which buffers a step touches, how and for how long -----------------------------------------===//
#ifndef LLMC_RUNTIME_PLAN_PROGRAMUSES_H
#define LLMC_RUNTIME_PLAN_PROGRAMUSES_H

#include "runtime/plan/Program.h"

namespace llmc::rt {

/// Calls use(buffer, access, from, to) for each buffer that `step` itself touches, `from`..`to` being positions. The
/// steps inside an If or Loop speak for themselves.
template <typename Use> void forEachUse(const Program &program, const Program::Step &step, Use use) {
  using plan::Access;
  using StepKind = Program::StepKind;
  uint32_t at = step.position, end = step.end;
  switch (step.kind) {
  case StepKind::Dispatch: {
    const Program::Dispatch &dispatch = program.dispatches[step.index];
    for (uint32_t i = 0; i < dispatch.buffers.size; ++i)
      use(program.bindingBuffers[dispatch.buffers.first + i], dispatch.exported->bindings()->Get(i)->access(), at, at);
    break;
  }
  case StepKind::Copy:
    use(program.copies[step.index].src, Access::READ, at, at);
    use(program.copies[step.index].dst, Access::WRITE, at, at);
    break;
  case StepKind::Fill:
    use(program.fills[step.index].dst, Access::WRITE, at, at);
    break;
  case StepKind::If:
    use(program.ifs[step.index].cond, Access::READ, at, at);
    for (const Program::BranchResult &result : program.resultsOf(program.ifs[step.index])) {
      for (uint32_t yield : result.yields)
        use(yield, Access::READ, end, end);
      use(result.out, Access::WRITE, end, end);
    }
    break;
  case StepKind::Loop: {
    const Program::Loop &loop = program.loops[step.index];
    for (const Program::Carried &carried : program.carriedOf(loop)) {
      use(carried.init, Access::READ, at, at);
      use(carried.place(), Access::WRITE, at, end);
      use(carried.yield, Access::READ, end, end);
      if (carried.argument != kNone)
        use(carried.out, Access::WRITE, end, end);
    }
    for (const Program::Collected &collected : program.collectedOf(loop)) {
      use(collected.yield, Access::READ, end, end);
      use(collected.out, Access::WRITE, at, end);
    }
    if (loop.cond != kNone) // after the first copies: it may be a carried value
      use(loop.cond, Access::READ, at, end);
    break;
  }
  case StepKind::ReadScalar:
    use(program.reads[step.index].src, Access::READ, at, at);
    break;
  case StepKind::Check:
  case StepKind::Barrier:
    break;
  }
}

} // namespace llmc::rt

#endif // LLMC_RUNTIME_PLAN_PROGRAMUSES_H
