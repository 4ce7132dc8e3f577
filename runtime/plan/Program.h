//===- Program.h - One body of a plan, decoded for binding and running --------------------------------------------===//
//
// All blocks of the body in flat lists; every index is of the whole program, not of its block. Immutable once decoded.
//
// Values become known at *events*. Event 0 is loading: what depends on constants alone. Event 1 is binding: what
// depends on the dims of the inputs. Then each block has an event for its entry, and one for each step in it that gives
// symbols of the block their values: ReadScalar, and If and Loop with results. An expression, buffer or step belongs to the earliest event at which all that it depends on is known; within a
// block, events are numbered in the order in which they happen, so "known by now" is a comparison.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PLAN_PROGRAM_H
#define LLMC_RUNTIME_PLAN_PROGRAM_H

#include "runtime/base/Status.h"
#include "runtime/plan/Expr.h"
#include "runtime/plan/PlanFile.h"
#include <cstdint>
#include <span>
#include <vector>

namespace llmc::rt {

inline constexpr uint32_t kLoadEvent = 0;
inline constexpr uint32_t kBindEvent = 1;
inline constexpr uint32_t kFirstBlockEvent = 2;

inline constexpr uint32_t kHostQueue = 0; // whose device has the inputs and outputs; it decides what runs

/// A slice of one of the program's flat lists.
struct Slice {
  uint32_t first = 0;
  uint32_t size = 0;
};

struct Program {
  struct Node {
    enum class Kind : uint8_t {
      Constant,
      Symbol,   // of the run: `symbol`
      Argument, // of the frame: the value of expression `lhs` of the caller, checked against the range of `symbol`
      Operation
    };
    Kind kind;
    plan::ExprOp op;
    uint32_t lhs, rhs; // smaller than the node's own index, but for an Argument's lhs
    uint32_t symbol;
    uint32_t event;
    int64_t imm;
  };

  struct Symbol {
    plan::SymbolSource source;
    uint32_t block, input, dim;
    int64_t lo, hi;
    const plan::Symbol *spec;
    uint32_t event;
    uint32_t argument; // expression of the caller that gives a FRAME_ARGUMENT; kNone for what changes in each trip
  };

  struct Buffer {
    plan::BufKind kind;
    plan::DType dtype;
    uint32_t block;
    uint32_t size, offset; // expressions; offset may be kNone
    uint32_t arena, parent, root, index;
    uint32_t event;             // when size and place are known
    uint32_t firstUse, lastUse; // positions of steps; of a root: of all its views. Unused: firstUse > lastUse
    const plan::Buffer *spec;
    uint32_t device = 0; // of the body; where its bytes are
    /// Whether it has memory of its own, of a size known only while the run is under way.
    bool isLate() const {
      return event > kBindEvent && (kind == plan::BufKind::ARENA || kind == plan::BufKind::OUTPUT);
    }
  };

  enum class StepKind : uint8_t { Dispatch, Copy, Fill, If, Loop, ReadScalar, Check, Barrier };
  struct Step {
    StepKind kind;
    uint32_t index;    // in the list of its kind
    uint32_t info;     // in the plan's step_infos, or kNone
    uint32_t event;    // when all of its operands are known
    uint32_t position; // in program order
    uint32_t end;      // of If and Loop: the position after all steps inside; else its own
    uint32_t queue = kHostQueue;
    Slice waits = {}, signals = {}; // in points
    bool needsHost = false;         // of another queue: whether it waits for a step of the host's
    bool joins = false;             // an If or Loop with steps of other queues inside: see plan.fbs, Step
  };
  /// The moment at which a semaphore reaches a value.
  struct Point {
    uint32_t semaphore, value;
    uint32_t signaller = kNone; // of a wait: the step that it waits for
  };
  struct Dispatch {
    uint32_t executable, exportIndex;
    Slice buffers; // in bindingBuffers
    Slice scalars; // in scalarExprs
    const plan::Export *exported;
    uint32_t grid, scratch, grain; // expressions of the export
    uint32_t queue;
    uint32_t rowMarks = kNone; // its number among those that mark rows
  };
  struct Copy {
    uint32_t src, srcOffset, dst, dstOffset, length;
  };
  struct Fill {
    uint32_t dst;
    uint8_t patternSize;
    uint64_t pattern;
  };
  struct If {
    uint32_t cond;
    uint32_t blocks[2]; // else, then; kNone: nothing to do
    Slice sizes;        // in branchSizes
    Slice results;      // in branchResults
    uint32_t event;     // when symbols have their values
  };
  struct BranchSize {
    uint32_t symbol;
    uint32_t exprs[2]; // of the blocks
  };
  struct BranchResult {
    uint32_t out;
    uint32_t yields[2]; // of the blocks
  };
  struct Loop {
    uint32_t cond;                   // or kNone
    uint32_t trip, block, iteration; // iteration: symbol or kNone
    Slice carried;                   // in carriedLists
    Slice sizes;                     // in carriedSizes
    Slice collected;                 // in collectedLists
    uint64_t maxTrip;
    uint32_t event; // when symbols have their values
  };
  struct Carried {
    uint32_t init, yield, out;
    uint32_t argument; // its place during the loop; kNone: out
    uint32_t place() const { return argument == kNone ? out : argument; }
  };
  struct CarriedSize {
    uint32_t argument, start, yield, result; // symbol of the body, expressions of caller and body, symbol of the caller
  };
  struct Collected {
    uint32_t yield, out;
  };
  struct ReadScalar {
    uint32_t src, offset, symbol, event;
  };
  struct Check {
    uint32_t expr;
    plan::Cmp cmp;
    int64_t bound;
    const plan::Check *spec;
  };
  struct Block {
    Slice exprs, symbols, steps;
    uint32_t parent;
    uint32_t entryStep;  // the step that enters it; kNone for the root
    uint32_t entryEvent; // the events of its steps that give symbols their values follow
    std::vector<uint32_t> semaphores = {}; // that its steps signal
  };

  /// What becomes known at one event in one block, each list in an order that respects dependencies.
  struct Group {
    uint32_t block;
    std::vector<uint32_t> exprs, buffers, steps;
  };
  /// Where a dispatch may write a buffer over another that it is the last to read.
  struct InPlace {
    uint32_t read, written, position; // roots
    auto operator<=>(const InPlace &) const = default;
  };

  const plan::Plan *plan = nullptr;
  const plan::EntryPoint *entry = nullptr;
  const plan::Body *body = nullptr;
  std::vector<Block> blocks;
  std::vector<uint32_t> blockOrder; // parents before children
  std::vector<Node> nodes;
  std::vector<Symbol> symbols;
  std::vector<Buffer> buffers;
  std::vector<uint32_t> bufferOrder; // parents before views
  std::vector<Step> steps;
  std::vector<Dispatch> dispatches;
  std::vector<uint32_t> rowSteps; // dispatches of the host that mark rows, as steps
  std::vector<uint32_t> bindingBuffers;
  std::vector<uint32_t> scalarExprs;
  std::vector<Copy> copies;
  std::vector<Fill> fills;
  std::vector<If> ifs;
  std::vector<Loop> loops;
  std::vector<BranchSize> branchSizes;
  std::vector<BranchResult> branchResults;
  std::vector<Carried> carriedLists;
  std::vector<CarriedSize> carriedSizes;
  std::vector<Collected> collectedLists;
  std::vector<ReadScalar> reads;
  std::vector<Check> checks;
  std::vector<Point> points;
  std::vector<uint32_t> signallers; // per semaphore: the queue that signals it, or kNone
  std::vector<InPlace> inPlace; // sorted
  std::vector<std::vector<Group>> events;
  uint32_t placementEvent = kLoadEvent; // when all buffers in arenas can be placed: kLoadEvent or kBindEvent
  uint32_t maxExportNodes = 0;

  std::span<const Step> stepsOf(const Block &block) const {
    return std::span(steps).subspan(block.steps.first, block.steps.size);
  }
  std::span<const Point> pointsOf(Slice slice) const { return std::span(points).subspan(slice.first, slice.size); }
  /// The device of a queue, as an index into the devices of the body.
  uint32_t deviceOfQueue(uint32_t queue) const { return body->queues()->Get(queue)->device(); }
  std::span<const uint32_t> buffersOf(const Dispatch &dispatch) const {
    return std::span(bindingBuffers).subspan(dispatch.buffers.first, dispatch.buffers.size);
  }
  std::span<const BranchSize> sizesOf(const If &branch) const {
    return std::span(branchSizes).subspan(branch.sizes.first, branch.sizes.size);
  }
  std::span<const BranchResult> resultsOf(const If &branch) const {
    return std::span(branchResults).subspan(branch.results.first, branch.results.size);
  }
  std::span<const Carried> carriedOf(const Loop &loop) const {
    return std::span(carriedLists).subspan(loop.carried.first, loop.carried.size);
  }
  std::span<const CarriedSize> sizesOf(const Loop &loop) const {
    return std::span(carriedSizes).subspan(loop.sizes.first, loop.sizes.size);
  }
  std::span<const Collected> collectedOf(const Loop &loop) const {
    return std::span(collectedLists).subspan(loop.collected.first, loop.collected.size);
  }
  /// The event at which `step` gives symbols of its block their values; kNone if it gives none.
  uint32_t resultEvent(const Step &step) const;
};

/// The program of a verified body. `variants` names the variant in use of each executable. Refuses what verify/ could
/// not see: values used before they are known, bytes read before they are written.
Result<Program> decodeProgram(const plan::Plan &plan, const plan::EntryPoint &entry, const plan::Body &body,
                              std::span<const uint32_t> variants);

// The phases of decodeProgram, each in its file.
Program decodeLists(const plan::Plan &plan, const plan::EntryPoint &entry, const plan::Body &body,
                    std::span<const uint32_t> variants);
void assignEvents(Program &program);
void computeLifetimes(Program &program);
Status orderQueues(Program &program);
Status verifyFlow(const Program &program);
Status verifyWrites(const Program &program);

/// For messages: `step 3 'conv2d' of node 'Conv_5'`.
std::string describeStep(const Program &program, const Program::Step &step);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_PLAN_PROGRAM_H
