//===- VerifierTest.cpp - One spoiled plan for each rule of the verifier ------------------------------------------===//

#include "test/runtime/LoadHelper.h"
#include <functional>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

using plan::BodyT;
using plan::ExprNode;
using plan::ExprOp;
using plan::PlanT;

struct Case {
  const char *rule;
  std::function<void(PlanT &)> spoil;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.rule; }

// Short names for what the cases reach into. Buffers, steps and expressions are numbered as TestPlans.cpp builds them.
plan::EntryPointT &entry(PlanT &p) { return *p.entries[0]; }
BodyT &body(PlanT &p) { return *entry(p).bodies[0]; }
plan::BlockT &block(PlanT &p, size_t b = 0) { return *body(p).blocks[b]; }
plan::BufferT &buffer(PlanT &p, size_t i) { return *body(p).buffers[i]; }
plan::StepT &step(PlanT &p, size_t s, size_t b = 0) { return *block(p, b).steps[s]; }
plan::ExecutableT &code(PlanT &p) { return *p.executables[0]; }
plan::ExportT &exported(PlanT &p, size_t i = 0) { return *code(p).exports[i]; }
plan::VariantT &variant(PlanT &p) { return *code(p).variants[0]; }
ExprNode constant(int64_t value) { return {value, 0, 0, ExprOp::CONST, 0, 0, 0}; }
uint32_t append(std::vector<ExprNode> &list, ExprNode node) {
  list.push_back(node);
  return uint32_t(list.size()) - 1;
}
/// And a queue of it, number 1.
void addDevice(PlanT &p, plan::DeviceKind kind) {
  p.devices.push_back(std::make_unique<plan::DeviceT>());
  p.devices.back()->name = "other";
  p.devices.back()->kind = kind;
  body(p).devices.push_back(1);
  body(p).queues.push_back(std::make_unique<plan::QueueT>());
  body(p).queues.back()->device = 1;
}
void addSegment(PlanT &p, plan::SegKind kind, uint64_t offset, uint64_t length) {
  auto segment = std::make_unique<plan::SegmentT>();
  segment->kind = kind;
  segment->range = std::make_unique<plan::Range>(offset, length);
  segment->hash = std::make_unique<plan::Hash256>();
  p.segments.push_back(std::move(segment));
}

/// Each case spoils a copy of `make()`, which loads, and expects the rule that refuses it.
void expectRule(PlanBuilder (*make)(), const Case &spoiled) {
  ASSERT_TRUE(loadStatus(make().file()).ok());
  PlanBuilder builder = make();
  spoiled.spoil(builder.parts.plan);
  rt::Status status = loadStatus(builder.file());
  EXPECT_STREQ(status.rule(), spoiled.rule) << status.message();
}

class Everything : public testing::TestWithParam<Case> {};
TEST_P(Everything, is_refused) { expectRule(everythingPlan, GetParam()); }

const Case kFile[] = {
    {"plan-version", [](PlanT &p) { p.compat->plan_major = 9; }},
    {"kernel-abi", [](PlanT &p) { p.compat->kernel_abi = 9; }},
    {"capability", [](PlanT &p) { p.compat->required_caps.push_back("time-travel"); }},
    {"device-name", [](PlanT &p) { p.devices[0]->name = ""; }},
    {"device-kind", [](PlanT &p) { p.devices[0]->kind = plan::DeviceKind(9); }},
    {"device-ordinal", [](PlanT &p) { addDevice(p, plan::DeviceKind::CPU); }},
    {"segment-kind", [](PlanT &p) { p.segments[0]->kind = plan::SegKind::INVALID; }},
    {"segment-range", [](PlanT &p) { addSegment(p, plan::SegKind::DEBUG, UINT64_MAX - 10, 11); }},
    {"segment-range", [](PlanT &p) { addSegment(p, plan::SegKind::DEBUG, 64, 1); }},
    {"segment-alignment", [](PlanT &p) { addSegment(p, plan::SegKind::CONSTANTS, 65537, 0); }},
    {"segment-overlap", [](PlanT &p) { addSegment(p, plan::SegKind::DEBUG, 65536, 1); }},
    {"constant-type", [](PlanT &p) { p.constants[0]->dtype = plan::DType(77); }},
    {"constant-rank", [](PlanT &p) { p.constants[0]->dims.assign(9, 1); }},
    {"constant-size", [](PlanT &p) { p.constants[0]->dims = {33}; }},
    {"constant-size", [](PlanT &p) { p.constants[0]->dims = {uint64_t(1) << 62, uint64_t(1) << 62}; }},
    {"range-segment", [](PlanT &p) { p.constants[0]->data->segment = 7; }},
    {"range-kind", [](PlanT &p) { p.constants[0]->data->segment = 0; }},
    {"range-bounds", [](PlanT &p) { *p.constants[0]->data->range = plan::Range(UINT64_MAX, 128); }},
};
INSTANTIATE_TEST_SUITE_P(File, Everything, testing::ValuesIn(kFile));

const Case kCode[] = {
    {"executable-device", [](PlanT &p) { code(p).device_kind = plan::DeviceKind::INVALID; }},
    {"executable-variants", [](PlanT &p) { code(p).variants.clear(); }},
    {"binding-access", [](PlanT &p) { exported(p).bindings[0]->access = plan::Access(8); }},
    {"binding-extent", [](PlanT &p) { exported(p).bindings[0]->extent = 99; }},
    {"binding-alignment", [](PlanT &p) { exported(p).bindings[0]->alignment = 3; }},
    {"binding-in-place", [](PlanT &p) { exported(p).bindings[2]->in_place_with = 2; }},
    {"expr-op", [](PlanT &p) { append(exported(p).exprs, {0, 0, 0, ExprOp(99), 0, 0, 0}); }},
    {"expr-symbol", [](PlanT &p) { append(exported(p).exprs, {1, 0, 0, ExprOp::SYM, 0, 0, 0}); }},
    {"expr-operand", [](PlanT &p) { append(exported(p).exprs, {0, 99, 0, ExprOp::ADD, 0, 0, 0}); }},
    {"expr-divisor",
     [](PlanT &p) {
       uint32_t zero = append(exported(p).exprs, constant(0));
       append(exported(p).exprs, {0, 0, zero, ExprOp::MOD, 0, 0, 0});
     }},
    {"export-rows", [](PlanT &p) { exported(p).row_wise = true; }},
    {"export-rows", [](PlanT &p) { exported(p).row_wise = true, exported(p).rows = 99; }},
    {"export-rows", [](PlanT &p) { exported(p).rows = 0; }},
    {"variant-format", [](PlanT &p) { variant(p).format = plan::CodeFormat::INVALID; }},
    {"variant-format", [](PlanT &p) { variant(p).format = plan::CodeFormat::PTX; }},
    {"variant-alignment", [](PlanT &p) { *variant(p).code->range = plan::Range(4096, 1); }},
    {"variant-entries", [](PlanT &p) { variant(p).entries.pop_back(); }},
    {"variant-exprs", [](PlanT &p) { variant(p).entries[0]->grid = 99; }},
    {"entry-address", [](PlanT &p) { variant(p).entries[0]->entry = 0; }},
    {"entry-address", [](PlanT &p) { variant(p).entries[0]->entry = UINT64_MAX; }},
    {"cpu-level", [](PlanT &p) { variant(p).features.push_back("quantum"); }},
    {"devices",
     [](PlanT &p) {
       p.devices[0]->kind = plan::DeviceKind::CPU;
       addDevice(p, plan::DeviceKind::CUDA);
     }},
};
INSTANTIATE_TEST_SUITE_P(Code, Everything, testing::ValuesIn(kCode));

const Case kEntry[] = {
    {"entries", [](PlanT &p) { p.entries.clear(); }},
    {"entry-name", [](PlanT &p) { entry(p).name = ""; }},
    {"entry-states",
     [](PlanT &p) { entry(p).states.push_back(std::make_unique<plan::TensorSpecT>(*entry(p).inputs[0])); }},
    {"entry-bodies", [](PlanT &p) { entry(p).bodies.clear(); }},
    {"spec-type", [](PlanT &p) { entry(p).inputs[0]->dtype = plan::DType::INVALID; }},
    {"spec-rank", [](PlanT &p) { entry(p).inputs[0]->dims.assign(9, 0); }},
    {"spec-dim-names", [](PlanT &p) { entry(p).outputs[0]->dim_names = {"a", "b"}; }},
    {"spec-name", [](PlanT &p) { entry(p).inputs[1]->name = entry(p).inputs[0]->name; }},
    {"spec-dims", [](PlanT &p) { entry(p).outputs[0]->dims = {99}; }},
    {"spec-buffer", [](PlanT &p) { buffer(p, 0).kind = plan::BufKind::ARENA; }},
    {"buffer-boundary", [](PlanT &p) { entry(p).inputs[0]->buffer = 99; }},
    {"body-resources", [](PlanT &p) { body(p).queues.clear(); }},
    {"body-device", [](PlanT &p) { body(p).devices = {1}; }},
    {"queue-device", [](PlanT &p) { body(p).queues[0]->device = 1; }},
    {"queue-host", [](PlanT &p) { p.devices[0]->kind = plan::DeviceKind::SIM; }},
    {"body-resources", [](PlanT &p) { body(p).semaphores = 1u << 17; }},
    {"arena-device", [](PlanT &p) { body(p).arenas[0]->device = 1; }},
    {"arena-space", [](PlanT &p) { body(p).arenas[0]->space = plan::MemSpace::INVALID; }},
    {"arena-space", [](PlanT &p) { body(p).arenas[0]->space = plan::MemSpace::DEVICE; }},
    {"arena-alignment", [](PlanT &p) { body(p).arenas[0]->alignment = 65536; }},
    {"blocks", [](PlanT &p) { body(p).blocks.clear(); }},
    {"guard-expr", [](PlanT &p) { body(p).guards.emplace_back(99, plan::Cmp::EQ, 0, 0, 1); }},
    {"guard-expr", [](PlanT &p) { body(p).guards.emplace_back(6, plan::Cmp::EQ, 0, 0, 1); }}, // depends on data
    {"guard-comparison", [](PlanT &p) { body(p).guards.emplace_back(0, plan::Cmp::DIVISIBLE, 0, 0, 0); }},
    {"symbol-source", [](PlanT &p) { block(p).symbols[0]->source = plan::SymbolSource::FRAME_ARGUMENT; }},
    {"symbol-input",
     [](PlanT &p) {
       block(p).symbols[0]->source = plan::SymbolSource::INPUT_DIM;
       block(p).symbols[0]->dim = 1;
     }},
    {"symbol-range", [](PlanT &p) { block(p).symbols[0]->lo = 5, block(p).symbols[0]->hi = 4; }},
    {"block-index", [](PlanT &p) { step(p, 4).body.AsIf()->then_block = 0; }},
    {"block-tree", [](PlanT &p) { step(p, 4).body.AsIf()->then_block = 3; }},
    {"block-tree", [](PlanT &p) { body(p).blocks.push_back(std::make_unique<plan::BlockT>()); }},
    {"input-dims", [](PlanT &p) { entry(p).inputs[0]->dims = {6}; }},
};
INSTANTIATE_TEST_SUITE_P(Entry, Everything, testing::ValuesIn(kEntry));

const Case kBuffers[] = {
    {"buffer-kind", [](PlanT &p) { buffer(p, 3).kind = plan::BufKind::STATE; }},
    {"buffer-type", [](PlanT &p) { buffer(p, 3).dtype = plan::DType::INVALID; }},
    {"buffer-block", [](PlanT &p) { buffer(p, 3).block = 9; }},
    {"buffer-size", [](PlanT &p) { buffer(p, 3).size = 99; }},
    {"buffer-size", [](PlanT &p) { buffer(p, 3).size = append(block(p).exprs, constant(-1)); }},
    {"buffer-size", [](PlanT &p) { buffer(p, 3).size = append(block(p).exprs, constant(INT64_MAX)); }},
    {"buffer-dims", [](PlanT &p) { buffer(p, 3).dims = {99}; }},
    {"buffer-offset", [](PlanT &p) { buffer(p, 3).offset = 99; }},
    {"buffer-arena", [](PlanT &p) { buffer(p, 3).arena = 1; }},
    {"buffer-boundary", [](PlanT &p) { buffer(p, 0).index = 1; }},
    {"buffer-boundary", [](PlanT &p) { buffer(p, 0).dtype = plan::DType::U64; }},
    {"boundary-size", [](PlanT &p) { buffer(p, 0).size = 3; }},
    {"buffer-constant", [](PlanT &p) { buffer(p, 2).index = 1; }},
    {"buffer-device", [](PlanT &p) { buffer(p, 2).device = 1; }},
    {"constant-bounds", [](PlanT &p) { buffer(p, 2).size = append(block(p).exprs, constant(129)); }},
    {"buffer-parent", [](PlanT &p) { buffer(p, 6).parent = 99; }},
    {"buffer-parent", [](PlanT &p) { buffer(p, 9).parent = 8; }}, // of a block beside
    {"view-cycle", [](PlanT &p) { buffer(p, 6).parent = 6; }},
    {"late-buffer", [](PlanT &p) { buffer(p, 3).offset = 6; }},
    {"arena-offset", [](PlanT &p) { buffer(p, 3).offset = append(block(p).exprs, constant(-64)); }},
    {"arena-overlap", [](PlanT &p) { buffer(p, 3).offset = buffer(p, 4).offset = 4; }},
};
INSTANTIATE_TEST_SUITE_P(Buffers, Everything, testing::ValuesIn(kBuffers));

const Case kSteps[] = {
    {"step-queue", [](PlanT &p) { step(p, 0).queue = 1; }},
    {"step-info", [](PlanT &p) { step(p, 0).info = 99; }},
    {"step-semaphore", [](PlanT &p) { step(p, 0).wait.emplace_back(0, 0, 1); }},
    {"step-buffer", [](PlanT &p) { step(p, 0).body.AsFill()->dst = 99; }},
    {"step-block", [](PlanT &p) { step(p, 0).body.AsFill()->dst = 8; }},
    {"step-expr", [](PlanT &p) { step(p, 0, 1).body.AsDispatch()->scalars = {99}; }},
    {"step-type", [](PlanT &p) { step(p, 4).body.AsIf()->cond = 0; }},
    {"write-access", [](PlanT &p) { step(p, 0).body.AsFill()->dst = 0; }},
    {"write-access", [](PlanT &p) { step(p, 0, 1).body.AsDispatch()->buffers[2] = 7; }}, // a view of a constant
    {"fill-pattern", [](PlanT &p) { step(p, 0).body.AsFill()->pattern_size = 3; }},
    {"fill-size", [](PlanT &p) { buffer(p, 3).size = append(block(p).exprs, constant(18)); }},
    {"dispatch-executable", [](PlanT &p) { step(p, 0, 1).body.AsDispatch()->executable = 1; }},
    {"dispatch-export", [](PlanT &p) { step(p, 0, 1).body.AsDispatch()->export_index = 99; }},
    {"dispatch-buffers", [](PlanT &p) { step(p, 0, 1).body.AsDispatch()->buffers.pop_back(); }},
    {"dispatch-scalars", [](PlanT &p) { step(p, 0, 1).body.AsDispatch()->scalars.clear(); }},
    {"dispatch-device",
     [](PlanT &p) {
       addDevice(p, plan::DeviceKind::CUDA);
       auto launch = std::make_unique<plan::StepT>(step(p, 0, 1));
       launch->queue = 1;
       block(p).steps.push_back(std::move(launch));
     }},
    {"residency",
     [](PlanT &p) {
       addDevice(p, plan::DeviceKind::SIM);
       step(p, 0, 1).queue = 1; // computes on what is in memory of the host
     }},
    {"wait-unsignalled",
     [](PlanT &p) {
       body(p).semaphores = 1;
       step(p, 0, 1).signal.emplace_back(0, 0, 1);
       step(p, 4).wait.emplace_back(0, 0, 1); // in another block
     }},
    {"signal-block",
     [](PlanT &p) {
       body(p).semaphores = 1;
       step(p, 0, 1).signal.emplace_back(0, 0, 1);
       step(p, 4).signal.emplace_back(0, 0, 2);
     }},
    {"host-step",
     [](PlanT &p) {
       addDevice(p, plan::DeviceKind::SIM);
       step(p, 1).queue = 1;
     }},
    {"residency",
     [](PlanT &p) {
       addDevice(p, plan::DeviceKind::SIM);
       step(p, 0).queue = 1; // fills what is in memory of the host
     }},
    {"residency",
     [](PlanT &p) {
       addDevice(p, plan::DeviceKind::SIM);
       body(p).arenas[0]->device = 1;
       body(p).arenas[0]->space = plan::MemSpace::DEVICE;
     }},
    {"point-value",
     [](PlanT &p) {
       body(p).semaphores = 1;
       step(p, 0).signal.emplace_back(0, 0, 0);
     }},
    {"signal-value",
     [](PlanT &p) {
       body(p).semaphores = 1;
       step(p, 0).signal.emplace_back(0, 0, 2);
       step(p, 1).signal.emplace_back(0, 0, 2);
     }},
    {"wait-unsignalled",
     [](PlanT &p) {
       body(p).semaphores = 1;
       step(p, 0).wait.emplace_back(0, 0, 1);
       step(p, 1).signal.emplace_back(0, 0, 1);
     }},
    {"frame-arguments", [](PlanT &p) { step(p, 3).body.AsLoop()->arguments.push_back(0); }},
    {"frame-arguments", [](PlanT &p) { step(p, 4).body.AsIf()->then_arguments = {0}; }},
    {"loop-carried", [](PlanT &p) { step(p, 3).body.AsLoop()->carried_init.clear(); }},
    {"loop-carried",
     [](PlanT &p) {
       plan::LoopT &loop = *step(p, 3).body.AsLoop();
       loop.carried_init = {3, 3}, loop.carried_out = {4, 4}, loop.carried_yield = {8, 8};
     }},
    {"loop-iteration", [](PlanT &p) { step(p, 3).body.AsLoop()->iteration = 5; }},
    {"loop-carried", [](PlanT &p) { step(p, 3).body.AsLoop()->carried_argument = {kNone, kNone}; }},
    {"loop-carried", [](PlanT &p) { step(p, 3).body.AsLoop()->carried_argument = {6}; }}, // a view
    {"loop-collected", [](PlanT &p) { step(p, 3).body.AsLoop()->collected_out = {4}; }},
    {"loop-sizes", [](PlanT &p) { step(p, 3).body.AsLoop()->size_starts = {0}; }},
    {"loop-sizes",
     [](PlanT &p) { // the symbol that counts the trips
       plan::LoopT &loop = *step(p, 3).body.AsLoop();
       loop.size_arguments = loop.size_starts = loop.size_yields = loop.size_results = {0};
     }},
    {"read-symbol",
     [](PlanT &p) { // the symbol that a step before has read
       plan::LoopT &loop = *step(p, 3).body.AsLoop();
       loop.size_arguments = {1}, loop.size_starts = loop.size_yields = loop.size_results = {0};
     }},
    {"branch-results", [](PlanT &p) { step(p, 4).body.AsIf()->symbols = {0}; }},
    {"branch-results", [](PlanT &p) { step(p, 4).body.AsIf()->results = {5}; }},
    {"read-symbol", [](PlanT &p) { step(p, 1).body.AsReadScalar()->symbol = 9; }},
    {"read-symbol", [](PlanT &p) { block(p).steps.erase(block(p).steps.begin() + 1); }},
    {"check-guard", [](PlanT &p) { step(p, 2).body.AsCheck()->guard.reset(); }},
    {"guard-expr", [](PlanT &p) { *step(p, 2).body.AsCheck()->guard = plan::Guard(99, plan::Cmp::GE, 0, 0, 0); }},
    {"step-bounds", [](PlanT &p) { step(p, 1).body.AsReadScalar()->offset = 0; }},
    {"used-before-read", [](PlanT &p) { std::swap(block(p).steps[1], block(p).steps[2]); }},
    {"read-before-write", [](PlanT &p) { step(p, 0).body.Set(plan::BarrierT()); }},
    {"output-unwritten",
     [](PlanT &p) {
       step(p, 0, 2).body.AsDispatch()->buffers[2] = 9;
       step(p, 0, 3).body.Set(plan::BarrierT());
     }},
};
INSTANTIATE_TEST_SUITE_P(Steps, Everything, testing::ValuesIn(kSteps));

/// addReluPlan for 2 rows only, so that all numbers are known when it is loaded.
PlanBuilder fixedPlan() {
  PlanBuilder builder = addReluPlan();
  builder.body().blocks[0]->symbols[0]->lo = builder.body().blocks[0]->symbols[0]->hi = 2;
  return builder;
}

class Sizes : public testing::TestWithParam<Case> {};
TEST_P(Sizes, are_refused_at_load) { expectRule(fixedPlan, GetParam()); }

const Case kSizes[] = {
    {"extent", [](PlanT &p) { step(p, 0).body.AsDispatch()->scalars = {append(block(p).exprs, constant(9))}; }},
    {"extent", [](PlanT &p) { step(p, 0).body.AsDispatch()->scalars = {append(block(p).exprs, constant(-9))}; }},
    {"export-value",
     [](PlanT &p) { step(p, 0).body.AsDispatch()->scalars = {append(block(p).exprs, constant(INT64_MAX))}; }},
    {"alignment", [](PlanT &p) { exported(p, 0).bindings[0]->alignment = 8; }},
    {"alignment", [](PlanT &p) { buffer(p, 2).offset = append(block(p).exprs, constant(2)); }},
    {"aliasing",
     [](PlanT &p) {
       auto again = std::make_unique<plan::StepT>(step(p, 1));
       again->body.AsDispatch()->buffers = {2, 2};
       block(p).steps.insert(block(p).steps.begin() + 1, std::move(again));
       exported(p, 1).bindings[1]->in_place_with = kNone;
     }},
    {"grid", [](PlanT &p) { variant(p).entries[0]->grid = append(exported(p).exprs, constant(int64_t(1) << 50)); }},
    {"grid", [](PlanT &p) { variant(p).entries[0]->grid = append(exported(p).exprs, constant(-1)); }},
    {"scratch", [](PlanT &p) { variant(p).entries[0]->scratch = append(exported(p).exprs, constant(INT64_MAX)); }},
    {"expr-value",
     [](PlanT &p) {
       uint32_t big = append(block(p).exprs, constant(INT64_MAX));
       append(block(p).exprs, {0, big, big, ExprOp::MUL, 0, 0, 0});
     }},
    {"view-bounds",
     [](PlanT &p) {
       plan::BufferT &sum = buffer(p, 2);
       sum.kind = plan::BufKind::VIEW;
       sum.parent = 3;
       sum.offset = append(block(p).exprs, constant(1));
     }},
};
INSTANTIATE_TEST_SUITE_P(Fixed, Sizes, testing::ValuesIn(kSizes));

plan::BatchingT &batching(PlanT &p) { return *entry(p).batching; }
plan::BucketDimT &bucket(PlanT &p) { return *batching(p).buckets[0]; }

class Batched : public testing::TestWithParam<Case> {};
TEST_P(Batched, is_refused) { expectRule(batchedPlan, GetParam()); }

const Case kBatched[] = {
    {"batching-axes", [](PlanT &p) { batching(p).dim = ""; }},
    {"batching-axes", [](PlanT &p) { batching(p).dim = "length"; }},
    {"batching-axes", [](PlanT &p) { batching(p).input_axes.pop_back(); }},
    {"batching-axes", [](PlanT &p) { batching(p).output_axes = {0, 0}; }},
    {"batching-axes", [](PlanT &p) { batching(p).input_axes[1] = 2; }},
    {"batching-axes", [](PlanT &p) { batching(p).output_axes[0] = 1; }},
    {"batching-axes", [](PlanT &p) { batching(p).input_axes = {kNone, kNone}; }},
    {"batching-axes", [](PlanT &p) { entry(p).inputs[0]->dim_names.clear(); }},
    {"batching-axes", [](PlanT &p) { bucket(p).input_axes = {kNone, kNone}; }},
    {"batching-axes", [](PlanT &p) { bucket(p).output_axes = {7}; }},
    {"batching-sizes", [](PlanT &p) { batching(p).sizes.clear(); }},
    {"batching-sizes", [](PlanT &p) { batching(p).sizes = {0, 4, 8}; }},
    {"batching-sizes", [](PlanT &p) { batching(p).sizes = {1, 4, 4}; }},
    {"batching-sizes", [](PlanT &p) { batching(p).sizes[2] = UINT64_MAX; }},
    {"bucket-name", [](PlanT &p) { bucket(p).name = "batch"; }},
    {"bucket-name", [](PlanT &p) { batching(p).buckets.push_back(std::make_unique<plan::BucketDimT>(bucket(p))); }},
    {"bucket-edges", [](PlanT &p) { bucket(p).edges.clear(); }},
    {"bucket-edges", [](PlanT &p) { bucket(p).edges = {4, 2}; }},
    {"batching-pads", [](PlanT &p) { batching(p).pads.clear(); }},
    {"batching-pads", [](PlanT &p) { batching(p).pads[0]->input = 0; }},
    {"batching-pads", [](PlanT &p) { batching(p).pads[0]->input = 99; }},
    {"batching-pads", [](PlanT &p) { batching(p).pads[0]->value.push_back(0); }},
    {"batching-pads", [](PlanT &p) { batching(p).pads.push_back(std::make_unique<plan::PadT>(*batching(p).pads[0])); }},
    {"batching-costs", [](PlanT &p) { batching(p).costs.pop_back(); }},
    {"batching-costs", [](PlanT &p) { batching(p).costs[0] = 0; }},
    {"batching-costs", [](PlanT &p) { batching(p).cost_level = ""; }},
    {"batching-costs", [](PlanT &p) { batching(p).cost_threads = 0; }},
};
INSTANTIATE_TEST_SUITE_P(Entry, Batched, testing::ValuesIn(kBatched));

class Packed : public testing::TestWithParam<Case> {};
TEST_P(Packed, is_refused) { expectRule(packedPlan, GetParam()); }

const Case kPacked[] = {
    {"batching-generated", [](PlanT &p) { batching(p).generated.clear(); }},
    {"batching-generated", [](PlanT &p) { batching(p).generated[0]->input = 9; }},
    {"batching-generated", [](PlanT &p) { entry(p).inputs[1]->dim_names.clear(); }},
    {"batching-generated", [](PlanT &p) { batching(p).generated[0]->input = 0; }},
    {"batching-generated", [](PlanT &p) { batching(p).generated[0]->kind = plan::GeneratedKind(9); }},
    {"batching-generated", [](PlanT &p) { batching(p).generated[0]->kind = plan::GeneratedKind::INDEX; }},
    {"batching-generated",
     [](PlanT &p) { batching(p).generated.push_back(std::make_unique<plan::GeneratedT>(*batching(p).generated[0])); }},
    {"batching-generated", [](PlanT &p) { batching(p).request_input_axes[1] = 0; }},
    {"batching-generated", [](PlanT &p) { batching(p).request_output_axes[1] = kNone; }},
    {"batching-axes", [](PlanT &p) { batching(p).request_input_axes.clear(); }},
    {"batching-axes", [](PlanT &p) { batching(p).request_output_axes = {kNone}; }},
    {"batching-axes", [](PlanT &p) { batching(p).request_output_axes[1] = 1; }},
    {"batching-axes", [](PlanT &p) { batching(p).request_output_axes[0] = 0; }},
    {"batching-generated",
     [](PlanT &p) { // nothing else has rows
       batching(p).generated[0]->input = 0;
       batching(p).generated[0]->kind = plan::GeneratedKind::INDEX;
     }},
    {"batching-generated",
     [](PlanT &p) {
       batching(p).buckets.push_back(std::make_unique<plan::BucketDimT>());
       bucket(p).name = "N";
       bucket(p).edges = {2, 4};
       bucket(p).input_axes = {kNone, 0};
       bucket(p).output_axes = {kNone, 0};
       bucket(p).proof = "by test";
     }},
};
INSTANTIATE_TEST_SUITE_P(Entry, Packed, testing::ValuesIn(kPacked));

TEST(Verifier, in_place_buffers_may_share_bytes) {
  // x is last read where y is first written, and the kernel allows it: the same place is good, one element on is not.
  for (bool allowed : {true, false}) {
    PlanBuilder b;
    uint32_t bytes = b.constant(64), n = b.constant(16), place = b.constant(0), other = b.constant(allowed ? 0 : 4);
    uint32_t x = b.arena(plan::DType::F32, bytes, place), y = b.arena(plan::DType::F32, bytes, other);
    uint32_t out = b.output("y", plan::DType::F32, {n}, bytes);
    b.fill(x, 0, 4);
    b.dispatch("relu", {x, y}, {n});
    b.dispatch("relu", {y, out}, {n});
    EXPECT_STREQ(loadStatus(b.file()).rule(), allowed ? "" : "arena-overlap");
  }
}

TEST(Verifier, a_branch_that_is_not_taken_may_be_impossible) {
  // With n = 2 the then-branch would view 4 - 8 bytes. Loading and running past it is good; entering it is an error.
  PlanBuilder b;
  uint32_t n = b.inputDim("n", 0, 0, 0, 8), one = b.constant(1), four = b.constant(4);
  b.input("x", plan::DType::U8, {n}, n);
  uint32_t flag = b.input("flag", plan::DType::BOOL, {}, one);
  uint32_t y = b.output("y", plan::DType::F32, {one}, four);
  b.fill(y, 0, 4);
  uint32_t block = b.newBlock();
  b.branch(flag, block, kNone, {n});
  b.inBlock(block);
  uint32_t here = b.argument("n"), size = b.op(plan::ExprOp::SUB, here, b.constant(4));
  uint32_t view = b.view(plan::DType::F32, y, b.constant(0), size);
  b.fill(view, 0, 1);
  EXPECT_TRUE(loadStatus(b.file()).ok());
}

} // namespace
} // namespace llmc::test
