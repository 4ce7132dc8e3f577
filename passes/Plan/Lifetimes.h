// When the bytes of each buffer of a body are in use.
#ifndef LLMC_PASSES_PLAN_LIFETIMES_H
#define LLMC_PASSES_PLAN_LIFETIMES_H

#include "dialects/Plan/Plan.h"
#include "llvm/ADT/MapVector.h"

namespace llmc {

/// Positions of steps in program order, both inclusive.
struct Lifetime {
  uint32_t first, last;
};

/// Steps are numbered, and uses counted, as runtime/plan/ProgramLifetimes does: it checks what is placed by these lifetimes. A buffer
/// that a block shares with one around it is in use during the whole step that enters the block: a loop may come back to it. With several
/// queues a buffer in an arena is in use until all steps that touch the arena are known to come later.
class Lifetimes {
public:
  explicit Lifetimes(plan::BodyOp body);

  /// The buffers that own bytes and are used, views included, in the order of their first uses.
  const llvm::MapVector<mlir::Value, Lifetime> &roots() const { return used; }
  /// From `step` to the end of the blocks that it enters.
  Lifetime of(mlir::Operation *step) const { return steps.at(step); }

private:
  void number(mlir::Block &block);
  void collect(mlir::Operation *step);
  void collectLoop(plan::LoopOp loop, Lifetime time);
  void useYields(mlir::Block &block, Lifetime time);
  void use(mlir::Operation *step, mlir::Value buffer, Lifetime time);
  void extend(plan::BodyOp body, mlir::Block &block);

  mlir::Block *top;
  uint32_t next = 0;
  llvm::MapVector<mlir::Operation *, Lifetime> steps;
  llvm::MapVector<mlir::Value, Lifetime> used;
  using Users = llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::Operation *>>;
  llvm::DenseMap<mlir::Block *, Users> users; // per block: those of its steps that use a buffer, themselves or inside
};

} // namespace llmc

#endif // LLMC_PASSES_PLAN_LIFETIMES_H
