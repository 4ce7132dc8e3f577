//===- PlanBuilder.h - Small plans for the tests of the runtime ---------------------------------------------------===//
//
// A plan is built as flatbuffers objects, which a test may then spoil as it likes, and assembled with all hashes right.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_TEST_RUNTIME_PLANBUILDER_H
#define LLMC_TEST_RUNTIME_PLANBUILDER_H

#include "runtime/plan/Expr.h"
#include "runtime/schema/Container.h"
#include <string>
#include <vector>

namespace llmc::test {

using Bytes = std::vector<std::byte>;
using rt::kNone;

/// A plan and what lies behind it.
struct PlanParts {
  plan::PlanT plan;
  std::vector<Bytes> segments; // parallel to plan.segments
};

/// The file: ranges and hashes of segments filled in, header made.
Bytes assemble(const PlanParts &parts);
/// Makes the hash of the plan and the header's checksum right again after bytes of the plan were changed.
void rehash(std::span<std::byte> file);
/// The page-aligned copy that PlanFile wants, so that a test's own bytes are read and not a copy of them.
class PageAligned {
public:
  explicit PageAligned(const Bytes &bytes);
  ~PageAligned();
  PageAligned(const PageAligned &) = delete;
  std::span<const std::byte> bytes() const { return {data, size}; }

private:
  std::byte *data;
  size_t size;
};

/// Builds the one body of the one entry "main" of a plan for one CPU. Buffers, expressions and symbols are numbered in
/// the order of the calls; steps and expressions go to the block chosen last.
class PlanBuilder {
public:
  /// `levels`: images to include, as in {2, 3}.
  explicit PlanBuilder(std::vector<int> levels = {2});

  // Expressions of the current block.
  uint32_t constant(int64_t value);
  uint32_t inputDim(const char *name, uint32_t input, uint32_t dim, int64_t lo, int64_t hi);
  uint32_t argument(const char *name, int64_t lo = 0, int64_t hi = INT64_MAX);
  uint32_t readSymbol(const char *name, int64_t lo = 0, int64_t hi = INT64_MAX);
  uint32_t op(plan::ExprOp op, uint32_t lhs, uint32_t rhs);
  uint32_t mul(uint32_t lhs, uint32_t rhs) { return op(plan::ExprOp::MUL, lhs, rhs); }

  // Buffers of the current block; sizes are expressions in bytes.
  uint32_t input(const char *name, plan::DType type, std::vector<uint32_t> dims, uint32_t size,
                 std::vector<std::string> dimNames = {});
  uint32_t output(const char *name, plan::DType type, std::vector<uint32_t> dims, uint32_t size);
  uint32_t arena(plan::DType type, uint32_t size, uint32_t offset = kNone, const char *name = "");
  /// In the memory of a device that addDevice numbered.
  uint32_t arenaOn(uint32_t device, plan::DType type, uint32_t size) {
    uint32_t result = arena(type, size);
    body().buffers[result]->arena = device;
    return result;
  }
  uint32_t view(plan::DType type, uint32_t parent, uint32_t offset, uint32_t size);
  template <typename T> uint32_t weights(const char *name, plan::DType type, const std::vector<T> &values) {
    return weightBytes(name, type, values.size(),
                       {std::as_bytes(std::span(values)).begin(), std::as_bytes(std::span(values)).end()});
  }

  // Steps. `node` is the source op of the step's info.
  plan::StepT &dispatch(const char *kernel, std::vector<uint32_t> buffers, std::vector<uint32_t> scalars,
                        const char *node = nullptr);
  plan::StepT &copy(uint32_t src, uint32_t srcOffset, uint32_t dst, uint32_t dstOffset, uint32_t length);
  plan::StepT &fill(uint32_t dst, uint64_t pattern, uint8_t size);
  plan::StepT &readScalar(uint32_t src, uint32_t offset, uint32_t symbol);
  plan::StepT &check(uint32_t expr, plan::Cmp cmp, int64_t bound, const char *message);
  plan::StepT &barrier();
  plan::StepT &branch(uint32_t cond, uint32_t thenBlock, uint32_t elseBlock, std::vector<uint32_t> thenArguments = {},
                      std::vector<uint32_t> elseArguments = {});
  plan::StepT &loop(plan::LoopT loop);

  /// A device of the body, with a queue and an arena. Its number, which is that of the queue and of the arena, too.
  uint32_t addDevice(const char *name, plan::DeviceKind kind, uint32_t ordinal);

  uint32_t newBlock();
  void inBlock(uint32_t block) { current = block; }
  plan::BodyT &body() { return *parts.plan.entries[0]->bodies[0]; }
  Bytes file() const { return assemble(parts); }

  PlanParts parts;

private:
  uint32_t symbol(plan::SymbolT symbol);
  uint32_t expr(plan::ExprNode node);
  uint32_t buffer(plan::BufferT buffer);
  uint32_t weightBytes(const char *name, plan::DType type, size_t count, Bytes bytes);
  plan::StepT &step(plan::StepBodyUnion body, const char *node = nullptr);
  plan::BlockT &block() { return *body().blocks[current]; }

  uint32_t current = 0;
};

// Models that several tests use.

/// y = relu(a + b), a and b of type f32[N, 4] with N in 1..64. With `openPlacement` the runtime places the sum.
PlanBuilder addReluPlan(std::vector<int> levels = {2}, bool openPlacement = false);
/// The same with f32[N, length], which says how requests share runs: "batch" is axis 0, and b is padded with 1 in "length".
PlanBuilder batchedPlan();
/// y = x, f32[T], of packed requests, and n = counts, i64[N], which the batcher makes: the places of each.
PlanBuilder packedPlan();
/// y[count] = the positive elements of x[N]: sizes that depend on data.
PlanBuilder compressPlan();
/// y = relu(a + b) of 4 elements: the sum on "left", sim:0, relu on "right", sim:1.
PlanBuilder twoDevicesPlan();
/// y from x, both f32[4], by a loop whose body runs on three devices; the comment at its definition says how.
PlanBuilder deviceLoopPlan();
/// All kinds of steps; the comment at its definition says what it computes.
PlanBuilder everythingPlan();

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_PLANBUILDER_H
