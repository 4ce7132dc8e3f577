//===- DecodeProgram.cpp - Flatbuffer tables of a body -> flat lists ----------------------------------------------===//

#include "runtime/plan/Program.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::rt {
namespace {

using Node = Program::Node;
using StepKind = Program::StepKind;

class Decoder {
public:
  Decoder(const plan::Plan &plan, const plan::EntryPoint &entry, const plan::Body &body,
          std::span<const uint32_t> variants)
      : body(body), variants(variants) {
    program.plan = &plan;
    program.entry = &entry;
    program.body = &body;
  }
  Program decode();

private:
  void layOutBlocks();
  void decodeSymbols(uint32_t block);
  void decodeNodes(uint32_t block);
  void decodeSteps(uint32_t block);
  void decodeStep(uint32_t block, const plan::Step &step);
  Slice decodePoints(const flatbuffers::Vector<const plan::Point *> *points);
  void decodeDispatch(const plan::Dispatch &dispatch, uint32_t queue);
  void decodeIf(const plan::If &branch);
  void decodeLoop(const plan::Loop &loop);
  void decodeReadScalar(const plan::ReadScalar &read);
  void passArguments(const flatbuffers::Vector<uint32_t> *arguments, uint32_t callee, const plan::Loop *loop);
  void decodeBuffers();
  void orderBuffers();
  void orderBlocks();
  uint32_t exprOf(uint32_t block, uint32_t index) const {
    return index == kNone ? kNone : program.blocks[block].exprs.first + index;
  }

  const plan::Body &body;
  std::span<const uint32_t> variants;
  Program program;
  uint32_t current = 0; // block whose steps are decoded
};

void Decoder::layOutBlocks() {
  uint32_t exprs = 0, symbols = 0;
  for (const plan::Block *block : *body.blocks()) {
    Program::Block result = {};
    result.exprs = {exprs, count(block->exprs())};
    result.symbols = {symbols, count(block->symbols())};
    result.parent = result.entryStep = kNone;
    exprs += result.exprs.size;
    symbols += result.symbols.size;
    program.blocks.push_back(result);
  }
  program.nodes.reserve(exprs);
  program.symbols.reserve(symbols);
}

void Decoder::decodeSymbols(uint32_t block) {
  const plan::Block *source = body.blocks()->Get(block);
  for (uint32_t i = 0; i < count(source->symbols()); ++i) {
    const plan::Symbol *symbol = source->symbols()->Get(i);
    program.symbols.push_back({symbol->source(), block, symbol->input(), symbol->dim(), symbol->lo(), symbol->hi(),
                               symbol, kLoadEvent, kNone});
  }
}

void Decoder::decodeNodes(uint32_t block) {
  const Program::Block &target = program.blocks[block];
  for (const plan::ExprNode &node : exprNodes(body.blocks()->Get(block)->exprs())) {
    Node result = {Node::Kind::Operation, node.op(), 0, 0, kNone, kLoadEvent, node.imm()};
    if (node.op() == plan::ExprOp::CONST) {
      result.kind = Node::Kind::Constant;
    } else if (node.op() == plan::ExprOp::SYM) {
      result.kind = Node::Kind::Symbol; // passArguments turns those of a frame's arguments into Argument
      result.symbol = target.symbols.first + uint32_t(node.imm());
    } else {
      result.lhs = target.exprs.first + node.lhs();
      result.rhs = target.exprs.first + node.rhs();
    }
    program.nodes.push_back(result);
  }
}

/// `loop` is null for an If.
void Decoder::passArguments(const flatbuffers::Vector<uint32_t> *arguments, uint32_t callee, const plan::Loop *loop) {
  Program::Block &block = program.blocks[callee];
  block.parent = current;
  block.entryStep = uint32_t(program.steps.size());
  uint32_t next = 0;
  for (uint32_t i = 0; i < block.symbols.size; ++i) {
    Program::Symbol &symbol = program.symbols[block.symbols.first + i];
    if (symbol.source == plan::SymbolSource::FRAME_ARGUMENT && !(loop && changesInTrips(*loop, i)))
      symbol.argument = exprOf(current, arguments->Get(next++));
  }
  for (uint32_t i = 0; i < block.exprs.size; ++i) {
    Node &node = program.nodes[block.exprs.first + i];
    if (node.kind == Node::Kind::Symbol && program.symbols[node.symbol].argument != kNone) {
      node.kind = Node::Kind::Argument;
      node.lhs = program.symbols[node.symbol].argument;
    }
  }
}

void Decoder::decodeDispatch(const plan::Dispatch &dispatch, uint32_t queue) {
  const plan::Executable *executable = program.plan->executables()->Get(dispatch.executable());
  const plan::Export *exported = executable->exports()->Get(dispatch.export_index());
  uint32_t variant = variants[dispatch.executable()];
  const plan::VariantEntry *entry = executable->variants()->Get(variant)->entries()->Get(dispatch.export_index());
  Slice buffers = {uint32_t(program.bindingBuffers.size()), count(dispatch.buffers())};
  Slice scalars = {uint32_t(program.scalarExprs.size()), count(dispatch.scalars())};
  for (uint32_t i = 0; i < buffers.size; ++i)
    program.bindingBuffers.push_back(dispatch.buffers()->Get(i));
  for (uint32_t i = 0; i < scalars.size; ++i)
    program.scalarExprs.push_back(exprOf(current, dispatch.scalars()->Get(i)));
  program.maxExportNodes = std::max(program.maxExportNodes, count(exported->exprs()));
  program.dispatches.push_back({dispatch.executable(), dispatch.export_index(), buffers, scalars, exported,
                                entry->grid(), entry->scratch(), entry->grain(), queue});
  if (!exported->row_wise())
    return;
  program.dispatches.back().rowMarks = uint32_t(program.rowSteps.size());
  program.rowSteps.push_back(uint32_t(program.steps.size())); // the step that is being decoded
}

void Decoder::decodeIf(const plan::If &branch) {
  passArguments(branch.then_arguments(), branch.then_block(), nullptr);
  if (branch.else_block() != kNone)
    passArguments(branch.else_arguments(), branch.else_block(), nullptr);
  Slice sizes = {uint32_t(program.branchSizes.size()), count(branch.symbols())};
  uint32_t symbols = program.blocks[current].symbols.first;
  for (uint32_t j = 0; j < sizes.size; ++j)
    program.branchSizes.push_back({symbols + branch.symbols()->Get(j),
                                   {exprOf(branch.else_block(), branch.else_sizes()->Get(j)),
                                    exprOf(branch.then_block(), branch.then_sizes()->Get(j))}});
  Slice results = {uint32_t(program.branchResults.size()), count(branch.results())};
  for (uint32_t k = 0; k < results.size; ++k)
    program.branchResults.push_back(
        {branch.results()->Get(k), {branch.else_results()->Get(k), branch.then_results()->Get(k)}});
  program.ifs.push_back({branch.cond(), {branch.else_block(), branch.then_block()}, sizes, results, kNone});
}

void Decoder::decodeLoop(const plan::Loop &loop) {
  passArguments(loop.arguments(), loop.body_block(), &loop);
  uint32_t inner = program.blocks[loop.body_block()].symbols.first, outer = program.blocks[current].symbols.first;
  Slice carried = {uint32_t(program.carriedLists.size()), count(loop.carried_out())};
  for (uint32_t k = 0; k < carried.size; ++k)
    program.carriedLists.push_back({loop.carried_init()->Get(k), loop.carried_yield()->Get(k),
                                    loop.carried_out()->Get(k),
                                    count(loop.carried_argument()) ? loop.carried_argument()->Get(k) : kNone});
  Slice sizes = {uint32_t(program.carriedSizes.size()), count(loop.size_arguments())};
  for (uint32_t j = 0; j < sizes.size; ++j)
    program.carriedSizes.push_back(
        {inner + loop.size_arguments()->Get(j), exprOf(current, loop.size_starts()->Get(j)),
         exprOf(loop.body_block(), loop.size_yields()->Get(j)), outer + loop.size_results()->Get(j)});
  Slice collected = {uint32_t(program.collectedLists.size()), count(loop.collected_out())};
  for (uint32_t k = 0; k < collected.size; ++k)
    program.collectedLists.push_back({loop.collected_yield()->Get(k), loop.collected_out()->Get(k)});
  program.loops.push_back({loop.cond(), exprOf(current, loop.trip()), loop.body_block(),
                           loop.iteration() == kNone ? kNone : inner + loop.iteration(), carried, sizes, collected,
                           loop.max_trip(), kNone});
}

void Decoder::decodeReadScalar(const plan::ReadScalar &read) {
  uint32_t symbols = program.blocks[current].symbols.first;
  program.reads.push_back({read.src(), exprOf(current, read.offset()), symbols + read.symbol(), 0});
}

Slice Decoder::decodePoints(const flatbuffers::Vector<const plan::Point *> *points) {
  Slice slice = {uint32_t(program.points.size()), count(points)};
  for (uint32_t i = 0; i < slice.size; ++i)
    program.points.push_back({points->Get(i)->semaphore(), uint32_t(points->Get(i)->value()), kNone});
  return slice;
}

void Decoder::decodeStep(uint32_t block, const plan::Step &step) {
  auto index = [](const auto &list) { return uint32_t(list.size()) - 1; };
  Program::Step result = {StepKind::Barrier, 0, step.info(), kLoadEvent, 0, 0};
  result.queue = step.queue();
  result.waits = decodePoints(step.wait());
  result.signals = decodePoints(step.signal());
  auto is = [&](StepKind kind, uint32_t at) {
    result.kind = kind;
    result.index = at;
  };
  switch (step.body_type()) {
  case plan::StepBody::Dispatch:
    decodeDispatch(*step.body_as_Dispatch(), step.queue());
    is(StepKind::Dispatch, index(program.dispatches));
    break;
  case plan::StepBody::Copy: {
    const plan::Copy *copy = step.body_as_Copy();
    program.copies.push_back({copy->src(), exprOf(block, copy->src_offset()), copy->dst(),
                              exprOf(block, copy->dst_offset()), exprOf(block, copy->length())});
    is(StepKind::Copy, index(program.copies));
    break;
  }
  case plan::StepBody::Fill: {
    const plan::Fill *fill = step.body_as_Fill();
    program.fills.push_back({fill->dst(), fill->pattern_size(), fill->pattern()});
    is(StepKind::Fill, index(program.fills));
    break;
  }
  case plan::StepBody::If:
    decodeIf(*step.body_as_If());
    is(StepKind::If, index(program.ifs));
    break;
  case plan::StepBody::Loop:
    decodeLoop(*step.body_as_Loop());
    is(StepKind::Loop, index(program.loops));
    break;
  case plan::StepBody::ReadScalar:
    decodeReadScalar(*step.body_as_ReadScalar());
    is(StepKind::ReadScalar, index(program.reads));
    break;
  case plan::StepBody::Check: {
    const plan::Check *check = step.body_as_Check();
    const plan::Guard *guard = check->guard();
    program.checks.push_back({exprOf(block, guard->expr()), guard->cmp(), guard->bound(), check});
    is(StepKind::Check, index(program.checks));
    break;
  }
  default:
    break;
  }
  program.steps.push_back(result);
}

void Decoder::decodeSteps(uint32_t block) {
  current = block;
  uint32_t first = uint32_t(program.steps.size());
  for (const plan::Step *step : *body.blocks()->Get(block)->steps())
    decodeStep(block, *step);
  program.blocks[block].steps = {first, uint32_t(program.steps.size()) - first};
}

void Decoder::decodeBuffers() {
  for (const plan::Buffer *buffer : *body.buffers()) {
    uint32_t block = buffer->block(), root = uint32_t(program.buffers.size());
    // What the kind does not use is not verified either.
    bool isView = buffer->kind() == plan::BufKind::VIEW;
    bool isPlaced = isView || buffer->kind() == plan::BufKind::ARENA;
    program.buffers.push_back({buffer->kind(), buffer->dtype(), block, exprOf(block, buffer->size()),
                               isPlaced ? exprOf(block, buffer->offset()) : kNone, buffer->arena(),
                               isView ? buffer->parent() : kNone, root,
                               buffer->index(), kLoadEvent, kNone, 0, buffer});
  }
  orderBuffers();
}

/// Depth-first from each buffer to its parent; chains of views were proven to end.
void Decoder::orderBuffers() {
  std::vector<bool> done(program.buffers.size(), false);
  std::vector<uint32_t> chain;
  for (uint32_t i = 0; i < program.buffers.size(); ++i) {
    for (uint32_t at = i; !done[at]; at = program.buffers[at].parent) {
      chain.push_back(at);
      done[at] = true;
      if (program.buffers[at].kind != plan::BufKind::VIEW)
        break;
    }
    for (; !chain.empty(); chain.pop_back()) {
      Program::Buffer &buffer = program.buffers[chain.back()];
      if (buffer.kind == plan::BufKind::VIEW)
        buffer.root = program.buffers[buffer.parent].root;
      buffer.device = buffer.kind == plan::BufKind::VIEW       ? program.buffers[buffer.root].device
                      : buffer.kind == plan::BufKind::ARENA    ? body.arenas()->Get(buffer.arena)->device()
                      : buffer.kind == plan::BufKind::CONSTANT ? buffer.spec->device()
                                                               : program.deviceOfQueue(kHostQueue);
      program.bufferOrder.push_back(chain.back());
    }
  }
}

void Decoder::orderBlocks() {
  program.blockOrder.push_back(0);
  for (uint32_t at = 0; at < program.blockOrder.size(); ++at)
    for (const Program::Step &step : program.stepsOf(program.blocks[program.blockOrder[at]])) {
      if (step.kind == StepKind::Loop)
        program.blockOrder.push_back(program.loops[step.index].block);
      if (step.kind == StepKind::If)
        for (uint32_t block : program.ifs[step.index].blocks)
          if (block != kNone)
            program.blockOrder.push_back(block);
    }
}

Program Decoder::decode() {
  layOutBlocks();
  uint32_t numBlocks = uint32_t(program.blocks.size());
  for (uint32_t b = 0; b < numBlocks; ++b) {
    decodeSymbols(b);
    decodeNodes(b);
  }
  for (uint32_t b = 0; b < numBlocks; ++b)
    decodeSteps(b);
  decodeBuffers();
  orderBlocks();
  return std::move(program);
}

} // namespace

Program decodeLists(const plan::Plan &plan, const plan::EntryPoint &entry, const plan::Body &body,
                    std::span<const uint32_t> variants) {
  return Decoder(plan, entry, body, variants).decode();
}

Result<Program> decodeProgram(const plan::Plan &plan, const plan::EntryPoint &entry, const plan::Body &body,
                              std::span<const uint32_t> variants) {
  Program program = decodeLists(plan, entry, body, variants);
  assignEvents(program);
  computeLifetimes(program);
  LLMC_TRY(verifyFlow(program));
  LLMC_TRY(verifyWrites(program));
  LLMC_TRY(orderQueues(program));
  return program;
}

uint32_t Program::resultEvent(const Step &step) const {
  switch (step.kind) {
  case StepKind::If:
    return ifs[step.index].event;
  case StepKind::Loop:
    return loops[step.index].event;
  case StepKind::ReadScalar:
    return reads[step.index].event;
  default:
    return kNone;
  }
}

std::string describeStep(const Program &program, const Program::Step &step) {
  std::string result = concat("step ", step.position);
  if (step.info == kNone)
    return result;
  const plan::StepInfo *info = program.plan->step_infos()->Get(step.info);
  result += concat(" '", text(info->op()), "'");
  for (uint32_t i = 0; i < count(info->source_ops()); ++i)
    result += concat(i == 0 ? " of node '" : "', '", text(info->source_ops()->Get(i)));
  return count(info->source_ops()) ? result + "'" : result;
}

} // namespace llmc::rt
