//===- Verify.h - Whether a plan means something ------------------------------------------------------------------===//
//
// The flatbuffer verifier proves that tables, vectors and strings lie inside the buffer; it accepts any index, enum
// value, union tag and byte range. These functions check the rest of what can be said without shapes, one topic a file,
// so that DecodeProgram and the runtime may follow every index. What depends on sizes is checked where sizes are known:
// by ShapeState and Placement, at load for constant sizes and at bind for the others.
//
// Each rule has a name, which starts its messages and labels the counts of the fuzz tests.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PLAN_VERIFY_VERIFY_H
#define LLMC_RUNTIME_PLAN_VERIFY_VERIFY_H

#include "runtime/base/Status.h"
#include "runtime/plan/Expr.h"
#include "runtime/schema/Container.h"
#include <vector>

namespace llmc::rt {

/// What is verified: a plan whose flatbuffer is sound, and the header around it.
struct VerifyContext {
  const plan::Plan &plan;
  const ContainerHeader &header;
};

Status verifyPlan(const VerifyContext &context);

// The topics, in the order in which they run; each may rely on those before it.
Status verifyFile(const VerifyContext &context);      // compatibility, devices, segments
Status verifyConstants(const VerifyContext &context); // types, sizes, bytes
Status verifyCode(const VerifyContext &context);      // executables, exports, variants
Status verifyEntries(const VerifyContext &context);   // names, inputs and outputs, what bodies run on
Status verifyBatching(const plan::EntryPoint &entry); // whose inputs and outputs are verified
// One body, in order:
struct BodyContext {
  const VerifyContext &file;
  const plan::EntryPoint &entry;
  const plan::Body &body;
  std::string name;                  // for messages: entry "main", body "cpu"
  std::vector<uint32_t> blockParent; // by verifyBlockTree; kNone for the root
  std::vector<uint32_t> bufferRoot;  // by verifyBuffers; the buffer that owns the bytes of a VIEW, itself otherwise
  /// The device of a queue, and that of a buffer's bytes, as indices into the devices of the body. After verifyBuffers.
  uint32_t deviceOfQueue(uint32_t queue) const { return body.queues()->Get(queue)->device(); }
  uint32_t deviceOfBuffer(uint32_t buffer) const;
};
Status verifyFrames(BodyContext &context);    // symbols, expressions, guards
Status verifyBlockTree(BodyContext &context); // each block but the root is entered by one step
Status verifyBuffers(BodyContext &context);   // what each kind of buffer refers to
Status verifySteps(BodyContext &context);     // operands of each step

/// Whether `range` lies in a segment of `kind`.
Status verifyRange(const VerifyContext &context, const plan::SegRange &range, plan::SegKind kind);

/// Whether the operands of all nodes come before them and all symbols are among `numSymbols`.
Status verifyExprNodes(std::span<const plan::ExprNode> nodes, uint32_t numSymbols);
Status verifyGuard(const plan::Guard &guard, uint32_t numExprs);
std::span<const plan::ExprNode> exprNodes(const flatbuffers::Vector<const plan::ExprNode *> *vector);

/// Whether symbol `symbol` of the body gets a new value in each trip, and so has no entry in the arguments of the loop.
bool changesInTrips(const plan::Loop &loop, uint32_t symbol);

/// An error of rule `rule`.
template <typename... Pieces> Status fail(const char *rule, const Pieces &...pieces) {
  return {Code::InvalidPlan, rule, concat("[", rule, "] ", pieces...)};
}

/// Vectors that are not `required` are null when empty.
template <typename T> uint32_t count(const flatbuffers::Vector<T> *vector) { return vector ? vector->size() : 0; }

/// The stock verifier looks at the place of a vector's length, not at that of elements of 8 bytes behind it.
template <typename T> Status verifyAligned(const flatbuffers::Vector<T> *vector, const char *what) {
  if (vector && reinterpret_cast<uintptr_t>(vector->Data()) % 8 != 0)
    return fail("vector-alignment", "the elements of ", what, " are not at a multiple of 8");
  return {};
}

inline std::string_view text(const flatbuffers::String *string) {
  return string ? std::string_view(string->c_str(), string->size()) : std::string_view();
}

/// Whether `value` is a known enumerator other than INVALID.
template <typename Enum> bool isKnown(Enum value) { return value > Enum::INVALID && value <= Enum::MAX; }

/// Bytes of one element; 0 if `type` is unknown.
int64_t elementSize(plan::DType type);

/// Most of what a hostile plan may ask for; far above what any model needs.
inline constexpr uint32_t kMaxRank = 8;
inline constexpr uint32_t kMaxBuffers = 1u << 20;
inline constexpr uint32_t kMaxBlockDepth = 32;
inline constexpr uint32_t kMaxQueues = 16;
inline constexpr uint32_t kMaxSemaphores = 1u << 16;
inline constexpr uint64_t kMaxPoint = uint64_t(1) << 31; // value of a semaphore
inline constexpr uint32_t kMaxAlignment = 4096;

} // namespace llmc::rt

#endif // LLMC_RUNTIME_PLAN_VERIFY_VERIFY_H
