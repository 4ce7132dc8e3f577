//===- DescribePlan.cpp - All that is in a plan, as JSON ----------------------------------------------------------===//

#include "runtime/plan/verify/Verify.h"
#include "tools/llmc-plan/PlanTool.h"

namespace llmc::tools {
namespace {

using namespace rt;
using flatbuffers::Vector;

/// The text of each expression of a frame. One that would grow too long is referred to by its number.
std::vector<std::string> spellNodes(std::span<const plan::ExprNode> nodes, const std::vector<std::string> &symbols) {
  std::vector<std::string> texts;
  for (const plan::ExprNode &node : nodes) {
    if (node.op() == plan::ExprOp::CONST)
      texts.push_back(std::to_string(node.imm()));
    else if (node.op() == plan::ExprOp::SYM)
      texts.push_back(symbols[size_t(node.imm())]);
    else {
      auto operand = [&](uint32_t i) {
        return texts[i].size() > 60 ? concat("e", i) : isLeaf(nodes[i].op()) ? texts[i] : concat("(", texts[i], ")");
      };
      texts.push_back(concat(operand(node.lhs()), " ", spelling(node.op()), " ", operand(node.rhs())));
    }
  }
  return texts;
}

Json strings(const Vector<flatbuffers::Offset<flatbuffers::String>> *list) {
  Json result = Json::array();
  for (uint32_t i = 0; i < count(list); ++i)
    result.push_back(list->Get(i)->str());
  return result;
}

Json describeSegments(const plan::Plan &plan) {
  Json result = Json::array();
  for (const plan::Segment *segment : *plan.segments())
    result.push_back({{"kind", plan::EnumNameSegKind(segment->kind())},
                      {"offset", segment->range()->offset()},
                      {"bytes", segment->range()->length()}});
  return result;
}

Json describeExport(const plan::Export &exported) {
  std::vector<std::string> scalars;
  for (uint32_t i = 0; i < exported.scalars(); ++i)
    scalars.push_back(concat("s", i));
  std::vector<std::string> exprs = spellNodes(exprNodes(exported.exprs()), scalars);
  Json bindings = Json::array();
  for (const plan::Binding *binding : *exported.bindings()) {
    bindings.push_back({{"access", plan::EnumNameAccess(binding->access())},
                        {"extent", exprs[binding->extent()]},
                        {"alignment", binding->alignment()}});
    if (binding->in_place_with() != kNone)
      bindings.back()["in_place_with"] = binding->in_place_with();
  }
  Json result = {{"name", exported.name()->str()}, {"scalars", exported.scalars()}, {"bindings", bindings}};
  if (exported.row_wise())
    result["rows"] = exprs[exported.rows()];
  return result;
}

Json describeVariant(const plan::Executable &executable, const plan::Variant &variant) {
  Json entries = Json::array();
  for (uint32_t i = 0; i < variant.entries()->size(); ++i) {
    const plan::VariantEntry *entry = variant.entries()->Get(i);
    const plan::Export *exported = executable.exports()->Get(i);
    std::vector<std::string> scalars;
    for (uint32_t s = 0; s < exported->scalars(); ++s)
      scalars.push_back(concat("s", s));
    std::vector<std::string> exprs = spellNodes(exprNodes(exported->exprs()), scalars);
    entries.push_back({{"kernel", exported->name()->str()},
                       {"grid", exprs[entry->grid()]},
                       {"scratch", exprs[entry->scratch()]},
                       {"grain", exprs[entry->grain()]}});
  }
  return {{"level", variant.level()->str()},
          {"format", plan::EnumNameCodeFormat(variant.format())},
          {"features", strings(variant.features())},
          {"priority", variant.priority()},
          {"bytes", variant.code()->range()->length()},
          {"entries", entries}};
}

Json describeExecutables(const plan::Plan &plan) {
  Json result = Json::array();
  for (uint32_t i = 0; i < count(plan.executables()); ++i) {
    const plan::Executable *executable = plan.executables()->Get(i);
    Json exports = Json::array(), variants = Json::array();
    for (const plan::Export *exported : *executable->exports())
      exports.push_back(describeExport(*exported));
    for (const plan::Variant *variant : *executable->variants())
      variants.push_back(describeVariant(*executable, *variant));
    result.push_back({{"name", executable->name()->str()},
                      {"device", plan::EnumNameDeviceKind(executable->device_kind())},
                      {"exports", exports},
                      {"variants", variants}});
  }
  return result;
}

Json describeConstants(const plan::Plan &plan) {
  Json result = Json::array();
  for (uint32_t i = 0; i < count(plan.constants()); ++i) {
    const plan::Constant *constant = plan.constants()->Get(i);
    Json dims = Json::array();
    for (uint32_t d = 0; d < count(constant->dims()); ++d)
      dims.push_back(constant->dims()->Get(d));
    result.push_back({{"name", constant->name()->str()},
                      {"type", plan::EnumNameDType(constant->dtype())},
                      {"dims", dims},
                      {"encoding", constant->encoding()->str()},
                      {"bytes", constant->data()->range()->length()}});
  }
  return result;
}

/// One body, with the frames of all its blocks spelled out.
class BodyDescriber {
public:
  BodyDescriber(const plan::Plan &plan, const plan::Body &body) : plan(plan), body(body) {
    for (const plan::Block *block : *body.blocks()) {
      std::vector<std::string> symbols;
      for (uint32_t i = 0; i < count(block->symbols()); ++i)
        symbols.push_back(block->symbols()->Get(i)->name()->str());
      frames.push_back(spellNodes(exprNodes(block->exprs()), symbols));
    }
  }

  Json describe() const {
    Json guards = Json::array(), blocks = Json::array(), buffers = Json::array();
    for (uint32_t i = 0; i < count(body.guards()); ++i)
      guards.push_back(guard(*body.guards()->Get(i), 0));
    for (uint32_t b = 0; b < frames.size(); ++b)
      blocks.push_back(block(b));
    for (uint32_t i = 0; i < body.buffers()->size(); ++i)
      buffers.push_back(buffer(i));
    Json queues = Json::array();
    for (const plan::Queue *queue : *body.queues())
      queues.push_back(device(queue->device()));
    return {{"name", body.name()->str()},        {"priority", body.priority()},         {"guards", guards},
            {"arena_bound", body.arena_bound()}, {"in_place_steps", numInPlaceSteps()}, {"queues", queues},
            {"buffers", buffers},                {"blocks", blocks}};
  }

  Json dims(const Vector<uint32_t> *list, uint32_t block) const {
    Json result = Json::array();
    for (uint32_t d = 0; d < count(list); ++d)
      result.push_back(frames[block][list->Get(d)]);
    return result;
  }

private:
  std::string guard(const plan::Guard &guard, uint32_t block) const {
    return concat(frames[block][guard.expr()], " ", spelling(guard.cmp()), " ", guard.bound());
  }

  uint32_t rootOf(uint32_t buffer) const {
    while (body.buffers()->Get(buffer)->kind() == plan::BufKind::VIEW)
      buffer = body.buffers()->Get(buffer)->parent();
    return buffer;
  }

  /// Whether a written binding lies on the input that its kernel allows it to lie on.
  bool isInPlace(const plan::Dispatch &dispatch) const {
    const auto &bindings =
        *plan.executables()->Get(dispatch.executable())->exports()->Get(dispatch.export_index())->bindings();
    for (uint32_t i = 0; i < bindings.size(); ++i)
      if (uint32_t with = bindings.Get(i)->in_place_with();
          with != kNone && rootOf(dispatch.buffers()->Get(i)) == rootOf(dispatch.buffers()->Get(with)))
        return true;
    return false;
  }

  uint32_t numInPlaceSteps() const {
    uint32_t steps = 0;
    for (const plan::Block *block : *body.blocks())
      for (const plan::Step *step : *block->steps())
        if (const plan::Dispatch *dispatch = step->body_as_Dispatch())
          steps += isInPlace(*dispatch);
    return steps;
  }

  /// As in `%3 sum`.
  std::string name(uint32_t index) const {
    if (index == kNone)
      return "none";
    std::string_view own = text(body.buffers()->Get(index)->name());
    return own.empty() ? concat("%", index) : concat("%", index, " ", own);
  }

  Json names(const Vector<uint32_t> *list) const {
    Json result = Json::array();
    for (uint32_t i = 0; i < count(list); ++i)
      result.push_back(name(list->Get(i)));
    return result;
  }

  Json buffer(uint32_t index) const {
    const plan::Buffer *buffer = body.buffers()->Get(index);
    const std::vector<std::string> &frame = frames[buffer->block()];
    Json result = {{"name", name(index)},
                   {"kind", plan::EnumNameBufKind(buffer->kind())},
                   {"type", plan::EnumNameDType(buffer->dtype())},
                   {"dims", dims(buffer->dims(), buffer->block())},
                   {"block", buffer->block()},
                   {"bytes", frame[buffer->size()]}};
    if (buffer->kind() == plan::BufKind::ARENA && body.arenas()->Get(buffer->arena())->device() != 0)
      result["device"] = device(body.arenas()->Get(buffer->arena())->device());
    if (buffer->kind() == plan::BufKind::CONSTANT && buffer->device() != 0)
      result["device"] = device(buffer->device());
    if (buffer->kind() == plan::BufKind::ARENA)
      result["offset"] = buffer->offset() == kNone ? "planned" : frame[buffer->offset()];
    if (buffer->kind() == plan::BufKind::VIEW)
      result["of"] = concat(name(buffer->parent()), " + ", frame[buffer->offset()]);
    if (buffer->kind() == plan::BufKind::CONSTANT)
      result["of"] = plan.constants()->Get(buffer->index())->name()->str();
    return result;
  }

  Json block(uint32_t index) const {
    const plan::Block *block = body.blocks()->Get(index);
    Json symbols = Json::array(), steps = Json::array();
    for (uint32_t i = 0; i < count(block->symbols()); ++i) {
      const plan::Symbol *symbol = block->symbols()->Get(i);
      symbols.push_back({{"name", symbol->name()->str()},
                         {"source", plan::EnumNameSymbolSource(symbol->source())},
                         {"lo", symbol->lo()},
                         {"hi", symbol->hi()}});
    }
    for (const plan::Step *next : *block->steps())
      steps.push_back(step(*next, index));
    return {{"symbols", symbols}, {"steps", steps}};
  }

  Json step(const plan::Step &step, uint32_t block) const {
    Json result = {{"kind", plan::EnumNameStepBody(step.body_type())}};
    if (step.info() != kNone) {
      const plan::StepInfo *info = plan.step_infos()->Get(step.info());
      result["op"] = info->op()->str();
      result["nodes"] = strings(info->source_ops());
    }
    result.update(operands(step, frames[block], block));
    if (step.queue() != 0)
      result["queue"] = step.queue();
    if (count(step.wait()))
      result["waits"] = points(step.wait());
    if (count(step.signal()))
      result["signals"] = points(step.signal());
    return result;
  }

  /// As in `s0=3`, for value 3 of semaphore 0.
  Json points(const Vector<const plan::Point *> *list) const {
    Json result = Json::array();
    for (const plan::Point *point : *list)
      result.push_back(concat("s", point->semaphore(), "=", point->value()));
    return result;
  }

  /// The device of a queue, by its name.
  std::string device(uint32_t number) const {
    return plan.devices()->Get(body.devices()->Get(number))->name()->str();
  }

  Json operands(const plan::Step &step, const std::vector<std::string> &frame, uint32_t block) const {
    if (const plan::Dispatch *dispatch = step.body_as_Dispatch()) {
      const plan::Executable *executable = plan.executables()->Get(dispatch->executable());
      return {{"kernel", executable->exports()->Get(dispatch->export_index())->name()->str()},
              {"buffers", names(dispatch->buffers())},
              {"scalars", dims(dispatch->scalars(), block)}};
    }
    if (const plan::Copy *copy = step.body_as_Copy())
      return {{"from", concat(name(copy->src()), " + ", frame[copy->src_offset()])},
              {"to", concat(name(copy->dst()), " + ", frame[copy->dst_offset()])},
              {"bytes", frame[copy->length()]}};
    if (const plan::Fill *fill = step.body_as_Fill())
      return {{"to", name(fill->dst())}, {"pattern", fill->pattern()}, {"pattern_bytes", fill->pattern_size()}};
    if (const plan::If *branch = step.body_as_If())
      return describeIf(*branch, block);
    if (const plan::Loop *loop = step.body_as_Loop())
      return describeLoop(*loop, block);
    if (const plan::ReadScalar *read = step.body_as_ReadScalar())
      return {{"from", concat(name(read->src()), " + ", frame[read->offset()])},
              {"symbol", body.blocks()->Get(block)->symbols()->Get(read->symbol())->name()->str()}};
    if (const plan::Check *check = step.body_as_Check())
      return {{"guard", guard(*check->guard(), block)}, {"message", check->message()->str()}};
    return Json::object();
  }

  Json symbols(const Vector<uint32_t> *list, uint32_t block) const {
    Json result = Json::array();
    for (uint32_t i = 0; i < count(list); ++i)
      result.push_back(body.blocks()->Get(block)->symbols()->Get(list->Get(i))->name()->str());
    return result;
  }

  /// What few steps have is left out of the others.
  Json describeIf(const plan::If &branch, uint32_t block) const {
    Json result = {{"cond", name(branch.cond())},
                   {"then", branch.then_block()},
                   {"else", int64_t(int32_t(branch.else_block()))}};
    if (count(branch.symbols()))
      result.update({{"symbols", symbols(branch.symbols(), block)},
                     {"then_sizes", dims(branch.then_sizes(), branch.then_block())},
                     {"else_sizes", dims(branch.else_sizes(), branch.else_block())}});
    if (count(branch.results()))
      result.update({{"results", names(branch.results())},
                     {"then_results", names(branch.then_results())},
                     {"else_results", names(branch.else_results())}});
    return result;
  }

  Json describeLoop(const plan::Loop &loop, uint32_t block) const {
    const std::vector<std::string> &frame = frames[block];
    Json result = {{"cond", name(loop.cond())},          {"trips", frame[loop.trip()]},
                   {"max_trips", loop.max_trip()},       {"body", loop.body_block()},
                   {"init", names(loop.carried_init())}, {"yield", names(loop.carried_yield())},
                   {"out", names(loop.carried_out())}};
    if (count(loop.carried_argument()))
      result["argument"] = names(loop.carried_argument());
    if (count(loop.size_arguments()))
      result.update({{"sizes", symbols(loop.size_arguments(), loop.body_block())},
                     {"size_starts", dims(loop.size_starts(), block)},
                     {"size_yields", dims(loop.size_yields(), loop.body_block())},
                     {"size_results", symbols(loop.size_results(), block)}});
    if (count(loop.collected_out()))
      result.update({{"collected", names(loop.collected_out())}, {"collected_yield", names(loop.collected_yield())}});
    return result;
  }

  const plan::Plan &plan;
  const plan::Body &body;
  std::vector<std::vector<std::string>> frames; // per block: the text of each expression
};

Json describeSpecs(const Vector<flatbuffers::Offset<plan::TensorSpec>> *specs, const BodyDescriber &body) {
  Json result = Json::array();
  for (uint32_t i = 0; i < count(specs); ++i)
    result.push_back({{"name", specs->Get(i)->name()->str()},
                      {"type", plan::EnumNameDType(specs->Get(i)->dtype())},
                      {"dims", body.dims(specs->Get(i)->dims(), 0)}});
  return result;
}

Json numbers(const Vector<uint64_t> *list) {
  Json result = Json::array();
  for (uint32_t i = 0; i < count(list); ++i)
    result.push_back(list->Get(i));
  return result;
}

/// Axes by name of the tensor; those without one are left out.
Json axesOf(const Vector<flatbuffers::Offset<plan::TensorSpec>> *specs, const Vector<uint32_t> *axes) {
  Json result = Json::object();
  for (uint32_t i = 0; i < count(axes); ++i)
    if (axes->Get(i) != kNone)
      result[specs->Get(i)->name()->str()] = axes->Get(i);
  return result;
}

std::string hex(const Vector<uint8_t> &bytes) {
  std::string result;
  for (uint8_t byte : bytes)
    result += concat(std::string(1, "0123456789abcdef"[byte >> 4]), std::string(1, "0123456789abcdef"[byte & 15]));
  return result;
}

Json describeBatching(const plan::EntryPoint &entry, const plan::Batching &batching) {
  Json buckets = Json::array(), pads = Json::object();
  for (uint32_t i = 0; i < count(batching.buckets()); ++i) {
    const plan::BucketDim *bucket = batching.buckets()->Get(i);
    buckets.push_back({{"dim", bucket->name()->str()},
                       {"edges", numbers(bucket->edges())},
                       {"inputs", axesOf(entry.inputs(), bucket->input_axes())},
                       {"outputs", axesOf(entry.outputs(), bucket->output_axes())},
                       {"proof", bucket->proof()->str()}});
  }
  for (uint32_t i = 0; i < count(batching.pads()); ++i)
    pads[entry.inputs()->Get(batching.pads()->Get(i)->input())->name()->str()] = hex(*batching.pads()->Get(i)->value());
  Json generated = Json::object();
  for (uint32_t i = 0; i < count(batching.generated()); ++i) {
    const plan::Generated *input = batching.generated()->Get(i);
    generated[entry.inputs()->Get(input->input())->name()->str()] = plan::EnumNameGeneratedKind(input->kind());
  }
  return {{"dim", batching.dim()->str()},
          {"generated", generated},
          {"request_inputs", axesOf(entry.inputs(), batching.request_input_axes())},
          {"request_outputs", axesOf(entry.outputs(), batching.request_output_axes())},
          {"inputs", axesOf(entry.inputs(), batching.input_axes())},
          {"outputs", axesOf(entry.outputs(), batching.output_axes())},
          {"sizes", numbers(batching.sizes())},
          {"proof", batching.row_proof()->str()},
          {"buckets", buckets},
          {"pads", pads},
          {"costs", numbers(batching.costs())},
          {"cost_level", std::string(text(batching.cost_level()))},
          {"cost_threads", batching.cost_threads()}};
}

} // namespace

Json describePlan(const PlanFile &file) {
  const plan::Plan &plan = file.plan();
  Json entries = Json::array(), devices = Json::array();
  for (const plan::EntryPoint *entry : *plan.entries()) {
    BodyDescriber first(plan, *entry->bodies()->Get(0));
    Json bodies = Json::array();
    for (const plan::Body *body : *entry->bodies())
      bodies.push_back(BodyDescriber(plan, *body).describe());
    entries.push_back({{"name", entry->name()->str()},
                       {"inputs", describeSpecs(entry->inputs(), first)},
                       {"outputs", describeSpecs(entry->outputs(), first)},
                       {"bodies", bodies}});
    if (entry->batching())
      entries.back()["batching"] = describeBatching(*entry, *entry->batching());
  }
  for (const plan::Device *device : *plan.devices())
    devices.push_back({{"name", device->name()->str()},
                       {"kind", plan::EnumNameDeviceKind(device->kind())},
                       {"number", device->ordinal()}});
  Json provenance = Json::object();
  if (const plan::Provenance *source = plan.provenance())
    provenance = {{"producer", std::string(text(source->producer()))},
                  {"version", std::string(text(source->producer_version()))},
                  {"llvm", std::string(text(source->llvm_version()))}};
  Json options = Json::object();
  if (plan.provenance() && plan.provenance()->options())
    for (const plan::KV *option : *plan.provenance()->options())
      options[std::string(text(option->key()))] = std::string(text(option->value()));
  return {{"file_bytes", file.header().fileSize},
          {"plan_bytes", file.header().planSize},
          {"plan_version", concat(plan.compat()->plan_major(), ".", plan.compat()->plan_minor())},
          {"kernel_abi", plan.compat()->kernel_abi()},
          {"provenance", provenance},
          {"options", options},
          {"devices", devices},
          {"segments", describeSegments(plan)},
          {"executables", describeExecutables(plan)},
          {"constants", describeConstants(plan)},
          {"entries", entries}};
}

} // namespace llmc::tools
