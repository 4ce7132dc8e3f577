//===- VerifyWrites.cpp - Whether bytes are written before they are read ------------------------------------------===//
//
// On every way through the blocks: what one branch of an If writes counts after it only if the other does, too. A loop counts
// as if it had a trip. Any write counts as one of all bytes of a buffer.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/plan/ProgramUses.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::rt {
namespace {

using StepKind = Program::StepKind;

class WriteVerifier {
public:
  explicit WriteVerifier(const Program &program) : program(program), isWritten(program.buffers.size()) {}
  Status verify();

private:
  Status walk(uint32_t block);
  Status step(const Program::Step &step);
  Status simple(const Program::Step &step);
  Status branch(const Program::If &branch);
  Status loop(const Program::Loop &loop);
  Status read(uint32_t buffer) const;
  void write(uint32_t buffer);
  std::vector<uint32_t> takeBack(size_t mark);
  bool needsWrite(const Program::Buffer &buffer) const;

  const Program &program;
  std::vector<bool> isWritten;   // per buffer that owns bytes
  std::vector<uint32_t> written; // those buffers, in order
  uint32_t position = 0;         // of the step
};

/// Whether it holds nothing that could be read before the run writes it.
bool WriteVerifier::needsWrite(const Program::Buffer &buffer) const {
  const Program::Node &size = program.nodes[buffer.size];
  bool isEmpty = size.kind == Program::Node::Kind::Constant && size.imm == 0;
  return !isEmpty && (buffer.kind == plan::BufKind::ARENA || buffer.kind == plan::BufKind::OUTPUT);
}

Status WriteVerifier::read(uint32_t buffer) const {
  uint32_t root = program.buffers[buffer].root;
  if (isWritten[root] || !needsWrite(program.buffers[root]))
    return {};
  return fail("read-before-write", "buffer ", root, " '", text(program.buffers[root].spec->name()), "' is read at position ",
              position, " before anything is written to it");
}

void WriteVerifier::write(uint32_t buffer) {
  uint32_t root = program.buffers[buffer].root;
  if (!isWritten[root])
    written.push_back(root);
  isWritten[root] = true;
}

/// What has been written since there were `mark` such buffers, sorted, counts no longer.
std::vector<uint32_t> WriteVerifier::takeBack(size_t mark) {
  std::vector<uint32_t> taken(written.begin() + ptrdiff_t(mark), written.end());
  written.resize(mark);
  for (uint32_t buffer : taken)
    isWritten[buffer] = false;
  std::sort(taken.begin(), taken.end());
  return taken;
}

Status WriteVerifier::branch(const Program::If &branch) {
  LLMC_TRY(read(branch.cond));
  std::vector<uint32_t> byBlock[2], byBoth;
  for (int taken : {1, 0}) {
    size_t mark = written.size();
    if (branch.blocks[taken] != kNone)
      LLMC_TRY(walk(branch.blocks[taken]));
    for (const Program::BranchResult &result : program.resultsOf(branch))
      LLMC_TRY(read(result.yields[taken]));
    byBlock[taken] = takeBack(mark);
  }
  std::set_intersection(byBlock[0].begin(), byBlock[0].end(), byBlock[1].begin(), byBlock[1].end(), std::back_inserter(byBoth));
  for (uint32_t buffer : byBoth)
    write(buffer);
  for (const Program::BranchResult &result : program.resultsOf(branch))
    write(result.out);
  return {};
}

Status WriteVerifier::loop(const Program::Loop &loop) {
  for (const Program::Carried &carried : program.carriedOf(loop)) {
    LLMC_TRY(read(carried.init));
    write(carried.place());
  }
  if (loop.cond != kNone)
    LLMC_TRY(read(loop.cond));
  LLMC_TRY(walk(loop.block));
  for (const Program::Carried &carried : program.carriedOf(loop)) {
    LLMC_TRY(read(carried.yield));
    write(carried.out);
  }
  for (const Program::Collected &collected : program.collectedOf(loop)) {
    LLMC_TRY(read(collected.yield));
    write(collected.out);
  }
  return {};
}

/// All reads come before all writes, whatever the order of a kernel's bindings.
Status WriteVerifier::simple(const Program::Step &step) {
  Status status;
  forEachUse(program, step, [&](uint32_t buffer, plan::Access access, uint32_t, uint32_t) {
    if (access == plan::Access::READ && status.ok())
      status = read(buffer);
  });
  forEachUse(program, step, [&](uint32_t buffer, plan::Access access, uint32_t, uint32_t) {
    if (access != plan::Access::READ)
      write(buffer);
  });
  return status;
}

Status WriteVerifier::step(const Program::Step &step) {
  position = step.position;
  if (step.kind == StepKind::If)
    return branch(program.ifs[step.index]);
  if (step.kind == StepKind::Loop)
    return loop(program.loops[step.index]);
  return simple(step);
}

Status WriteVerifier::walk(uint32_t block) {
  for (const Program::Step &next : program.stepsOf(program.blocks[block]))
    LLMC_TRY(step(next));
  return {};
}

Status WriteVerifier::verify() {
  LLMC_TRY(walk(0));
  for (const Program::Buffer &buffer : program.buffers)
    if (buffer.kind == plan::BufKind::OUTPUT && needsWrite(buffer) && !isWritten[buffer.root])
      return fail("output-unwritten", "no step writes output ", buffer.index, " '",
                  text(program.entry->outputs()->Get(buffer.index)->name()), "'");
  return {};
}

} // namespace

Status verifyWrites(const Program &program) { return WriteVerifier(program).verify(); }

} // namespace llmc::rt
