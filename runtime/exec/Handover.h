//===- Handover.h - What blocks of an If or Loop give to each other and to the block around them ------------------===//
//
// Called on one worker while no other runs.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_EXEC_HANDOVER_H
#define LLMC_RUNTIME_EXEC_HANDOVER_H

#include "runtime/exec/RunState.h"

namespace llmc::rt {

/// After block `taken` (0: else, 1: then) of a branch has run: its sizes and results.
Status giveBranchResults(RunState &state, const Program::If &branch, unsigned taken, std::span<OutputMemory> outputs);

/// Before trip number `trip` of a loop: takes over what the trip before gave, at first the inits. `goesOn` tells whether there is
/// such a trip; if not, the loop's results are there.
Status startTrip(RunState &state, const Program::Loop &loop, int64_t trip, std::span<OutputMemory> outputs, bool &goesOn);
/// After the loop's block has been entered: whether the values that it carries have the sizes that the block expects.
Status checkCarried(const RunState &state, const Program::Loop &loop);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXEC_HANDOVER_H
