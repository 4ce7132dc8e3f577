//===- PlanBuilder.cpp - Small plans for the tests of the runtime -------------------------------------------------===//

#include "test/runtime/PlanBuilder.h"
#include "kernels/abi/kernel_abi.h"
#include "test/runtime/TestKernels.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace llmc::test {

using plan::ExprOp;

static Bytes packPlan(const plan::PlanT &plan) {
  flatbuffers::FlatBufferBuilder builder;
  plan::FinishPlanBuffer(builder, plan::Plan::Pack(builder, &plan));
  auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

Bytes assemble(const PlanParts &parts) {
  plan::PlanT plan = parts.plan;
  uint64_t segments = alignUp(sizeof(ContainerHeader) + packPlan(plan).size(), kSegmentAlignment);
  uint64_t at = segments;
  for (size_t i = 0; i < parts.segments.size(); ++i) {
    *plan.segments[i]->range = plan::Range(at, parts.segments[i].size());
    *plan.segments[i]->hash = hashOf(parts.segments[i]);
    at = alignUp(at + parts.segments[i].size(), kSegmentAlignment);
  }
  Bytes packed = packPlan(plan); // of the same size: only the values of structs have changed
  Bytes file(at);
  ContainerHeader header = makeContainerHeader(sizeof header, packed, segments, at);
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, packed.data(), packed.size());
  for (size_t i = 0; i < parts.segments.size(); ++i)
    std::memcpy(file.data() + plan.segments[i]->range->offset(), parts.segments[i].data(), parts.segments[i].size());
  return file;
}

void rehash(std::span<std::byte> file) {
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  header = makeContainerHeader(header.planOffset, file.subspan(header.planOffset, header.planSize),
                               header.segmentsOffset, file.size());
  std::memcpy(file.data(), &header, sizeof header);
}

PageAligned::PageAligned(const Bytes &bytes) : size(bytes.size()) {
  data = static_cast<std::byte *>(std::aligned_alloc(4096, alignUp(size + 1, 4096)));
  std::ranges::copy(bytes, data);
}
PageAligned::~PageAligned() { std::free(data); }

PlanBuilder::PlanBuilder(std::vector<int> levels) {
  plan::PlanT &plan = parts.plan;
  plan.compat = std::make_unique<plan::CompatT>();
  plan.compat->plan_major = kPlanMajor;
  plan.compat->kernel_abi = LLMC_KERNEL_ABI;
  auto device = std::make_unique<plan::DeviceT>();
  device->name = "cpu";
  device->kind = plan::DeviceKind::CPU;
  plan.devices.push_back(std::move(device));
  for (int level : levels) {
    auto segment = std::make_unique<plan::SegmentT>();
    segment->kind = plan::SegKind::CODE;
    segment->range = std::make_unique<plan::Range>();
    segment->hash = std::make_unique<plan::Hash256>();
    plan.segments.push_back(std::move(segment));
    parts.segments.push_back(kernelImage(level));
  }
  plan.executables.push_back(kernelExecutable(levels, 0));
  auto entry = std::make_unique<plan::EntryPointT>();
  entry->name = "main";
  auto body = std::make_unique<plan::BodyT>();
  body->name = "cpu";
  body->devices = {0};
  body->queues.push_back(std::make_unique<plan::QueueT>());
  auto arena = std::make_unique<plan::ArenaT>();
  arena->space = plan::MemSpace::HOST;
  body->arenas.push_back(std::move(arena));
  body->blocks.push_back(std::make_unique<plan::BlockT>());
  entry->bodies.push_back(std::move(body));
  plan.entries.push_back(std::move(entry));
}

uint32_t PlanBuilder::expr(plan::ExprNode node) {
  block().exprs.push_back(node);
  return uint32_t(block().exprs.size()) - 1;
}

uint32_t PlanBuilder::symbol(plan::SymbolT symbol) {
  block().symbols.push_back(std::make_unique<plan::SymbolT>(std::move(symbol)));
  return expr({int64_t(block().symbols.size()) - 1, 0, 0, ExprOp::SYM, 0, 0, 0});
}

uint32_t PlanBuilder::constant(int64_t value) { return expr({value, 0, 0, ExprOp::CONST, 0, 0, 0}); }

uint32_t PlanBuilder::op(ExprOp op, uint32_t lhs, uint32_t rhs) { return expr({0, lhs, rhs, op, 0, 0, 0}); }

uint32_t PlanBuilder::inputDim(const char *name, uint32_t input, uint32_t dim, int64_t lo, int64_t hi) {
  plan::SymbolT result;
  result.name = name;
  result.source = plan::SymbolSource::INPUT_DIM;
  result.input = input;
  result.dim = dim;
  result.lo = lo;
  result.hi = hi;
  return symbol(std::move(result));
}

uint32_t PlanBuilder::argument(const char *name, int64_t lo, int64_t hi) {
  plan::SymbolT result;
  result.name = name;
  result.source = plan::SymbolSource::FRAME_ARGUMENT;
  result.lo = lo;
  result.hi = hi;
  return symbol(std::move(result));
}

uint32_t PlanBuilder::readSymbol(const char *name, int64_t lo, int64_t hi) {
  plan::SymbolT result;
  result.name = name;
  result.source = plan::SymbolSource::READ_STEP;
  result.lo = lo;
  result.hi = hi;
  return symbol(std::move(result));
}

uint32_t PlanBuilder::buffer(plan::BufferT buffer) {
  buffer.block = current;
  body().buffers.push_back(std::make_unique<plan::BufferT>(std::move(buffer)));
  return uint32_t(body().buffers.size()) - 1;
}

static std::unique_ptr<plan::TensorSpecT> makeSpec(const char *name, plan::DType type, std::vector<uint32_t> dims,
                                                   size_t buffer) {
  auto spec = std::make_unique<plan::TensorSpecT>();
  spec->name = name;
  spec->dtype = type;
  spec->dims = std::move(dims);
  spec->buffer = uint32_t(buffer);
  return spec;
}

uint32_t PlanBuilder::input(const char *name, plan::DType type, std::vector<uint32_t> dims, uint32_t size,
                            std::vector<std::string> dimNames) {
  auto &specs = parts.plan.entries[0]->inputs;
  plan::BufferT result;
  result.kind = plan::BufKind::INPUT;
  result.dtype = type;
  result.dims = dims;
  result.size = size;
  result.index = uint32_t(specs.size());
  result.name = name;
  specs.push_back(makeSpec(name, type, std::move(dims), body().buffers.size()));
  specs.back()->dim_names = std::move(dimNames);
  return buffer(std::move(result));
}

uint32_t PlanBuilder::output(const char *name, plan::DType type, std::vector<uint32_t> dims, uint32_t size) {
  auto &specs = parts.plan.entries[0]->outputs;
  plan::BufferT result;
  result.kind = plan::BufKind::OUTPUT;
  result.dtype = type;
  result.dims = dims;
  result.size = size;
  result.index = uint32_t(specs.size());
  result.name = name;
  specs.push_back(makeSpec(name, type, std::move(dims), body().buffers.size()));
  return buffer(std::move(result));
}

uint32_t PlanBuilder::arena(plan::DType type, uint32_t size, uint32_t offset, const char *name) {
  plan::BufferT result;
  result.kind = plan::BufKind::ARENA;
  result.dtype = type;
  result.size = size;
  result.offset = offset;
  result.name = name;
  return buffer(std::move(result));
}

uint32_t PlanBuilder::view(plan::DType type, uint32_t parent, uint32_t offset, uint32_t size) {
  plan::BufferT result;
  result.kind = plan::BufKind::VIEW;
  result.dtype = type;
  result.parent = parent;
  result.offset = offset;
  result.size = size;
  return buffer(std::move(result));
}

uint32_t PlanBuilder::weightBytes(const char *name, plan::DType type, size_t count, Bytes bytes) {
  auto segment = std::make_unique<plan::SegmentT>();
  segment->kind = plan::SegKind::CONSTANTS;
  segment->range = std::make_unique<plan::Range>();
  segment->hash = std::make_unique<plan::Hash256>();
  auto constant = std::make_unique<plan::ConstantT>();
  constant->name = name;
  constant->dtype = type;
  constant->dims = {count};
  constant->encoding = "dense";
  constant->data = std::make_unique<plan::SegRangeT>();
  constant->data->segment = uint32_t(parts.segments.size());
  constant->data->range = std::make_unique<plan::Range>(0, bytes.size());
  plan::BufferT result;
  result.kind = plan::BufKind::CONSTANT;
  result.dtype = type;
  result.size = this->constant(int64_t(bytes.size()));
  result.index = uint32_t(parts.plan.constants.size());
  result.name = name;
  parts.plan.segments.push_back(std::move(segment));
  parts.segments.push_back(std::move(bytes));
  parts.plan.constants.push_back(std::move(constant));
  return buffer(std::move(result));
}

plan::StepT &PlanBuilder::step(plan::StepBodyUnion body, const char *node) {
  auto result = std::make_unique<plan::StepT>();
  result->body = std::move(body);
  if (node) {
    auto info = std::make_unique<plan::StepInfoT>();
    info->op = std::string(node) + "_op";
    info->source_ops = {node};
    result->info = uint32_t(parts.plan.step_infos.size());
    parts.plan.step_infos.push_back(std::move(info));
  }
  block().steps.push_back(std::move(result));
  return *block().steps.back();
}

template <typename T> static plan::StepBodyUnion asUnion(T body) {
  plan::StepBodyUnion result;
  result.Set(std::move(body));
  return result;
}

plan::StepT &PlanBuilder::dispatch(const char *kernel, std::vector<uint32_t> buffers, std::vector<uint32_t> scalars,
                                   const char *node) {
  plan::DispatchT result;
  result.export_index = kernelIndex(kernel);
  result.buffers = std::move(buffers);
  result.scalars = std::move(scalars);
  return step(asUnion(std::move(result)), node);
}

plan::StepT &PlanBuilder::copy(uint32_t src, uint32_t srcOffset, uint32_t dst, uint32_t dstOffset, uint32_t length) {
  plan::CopyT result;
  result.src = src;
  result.src_offset = srcOffset;
  result.dst = dst;
  result.dst_offset = dstOffset;
  result.length = length;
  return step(asUnion(std::move(result)));
}

plan::StepT &PlanBuilder::fill(uint32_t dst, uint64_t pattern, uint8_t size) {
  plan::FillT result;
  result.dst = dst;
  result.pattern = pattern;
  result.pattern_size = size;
  return step(asUnion(std::move(result)));
}

plan::StepT &PlanBuilder::readScalar(uint32_t src, uint32_t offset, uint32_t symbolExpr) {
  plan::ReadScalarT result;
  result.src = src;
  result.offset = offset;
  result.symbol = uint32_t(block().exprs[symbolExpr].imm());
  return step(asUnion(std::move(result)));
}

plan::StepT &PlanBuilder::check(uint32_t expr, plan::Cmp cmp, int64_t bound, const char *message) {
  plan::CheckT result;
  result.guard = std::make_unique<plan::Guard>(expr, cmp, 0, 0, bound);
  result.message = message;
  return step(asUnion(std::move(result)), "a_check");
}

plan::StepT &PlanBuilder::barrier() { return step(asUnion(plan::BarrierT())); }

plan::StepT &PlanBuilder::branch(uint32_t cond, uint32_t thenBlock, uint32_t elseBlock,
                                 std::vector<uint32_t> thenArguments, std::vector<uint32_t> elseArguments) {
  plan::IfT result;
  result.cond = cond;
  result.then_block = thenBlock;
  result.else_block = elseBlock;
  result.then_arguments = std::move(thenArguments);
  result.else_arguments = std::move(elseArguments);
  return step(asUnion(std::move(result)), "an_if");
}

plan::StepT &PlanBuilder::loop(plan::LoopT loop) { return step(asUnion(std::move(loop)), "a_loop"); }

uint32_t PlanBuilder::addDevice(const char *name, plan::DeviceKind kind, uint32_t ordinal) {
  uint32_t number = uint32_t(parts.plan.devices.size());
  auto device = std::make_unique<plan::DeviceT>();
  device->name = name;
  device->kind = kind;
  device->ordinal = ordinal;
  parts.plan.devices.push_back(std::move(device));
  body().devices.push_back(number);
  body().queues.push_back(std::make_unique<plan::QueueT>());
  body().queues.back()->device = number;
  body().arenas.push_back(std::make_unique<plan::ArenaT>());
  body().arenas.back()->device = number;
  body().arenas.back()->space = plan::MemSpace::DEVICE;
  return number;
}

uint32_t PlanBuilder::newBlock() {
  body().blocks.push_back(std::make_unique<plan::BlockT>());
  return uint32_t(body().blocks.size()) - 1;
}

} // namespace llmc::test
