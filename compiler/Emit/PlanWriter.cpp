// Layout of the file: header, plan, constants, one code image per level. The plan names offsets and hashes of the segments behind it,
// so it is built twice: its size does not depend on their values.
#include "compiler/Emit/PlanWriter.h"
#include "compiler/Codegen/Cpu/Packing.h"
#include "compiler/Emit/ArtifactFile.h"
#include "compiler/Emit/FrameWriter.h"
#include "kernels/abi/kernel_abi.h"
#include "runtime/schema/Container.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace llmc {
namespace {

using graph::DimExpr;

constexpr uint64_t constantAlignment = 64;

template <typename T> llvm::ArrayRef<char> asBytes(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof(T)};
}

std::span<const std::byte> asSpan(ArrayRef<char> bytes) {
  return {reinterpret_cast<const std::byte *>(bytes.data()), bytes.size()};
}

/// Names of the ONNX nodes that a location stands for, in order.
void collectNames(Location loc, llvm::StringSet<> &seen, std::vector<std::string> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    if (seen.insert(name.getName()).second)
      names.push_back(name.getName().str());
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location inner : fused.getLocations())
      collectNames(inner, seen, names);
  }
}

/// A constant as stored: several ops may share it.
struct StoredConstant {
  ElementsAttr value;
  std::string encoding, name;
  uint64_t offset = 0, size = 0;
};

class PlanWriter {
public:
  PlanWriter(ModuleOp module, ArrayRef<CompiledImage> images, const ArtifactOrigin &origin)
      : module(module), context(module.getContext()), images(images), origin(origin) {}

  FailureOr<ArtifactInfo> write(const std::string &path);

private:
  LogicalResult collect();
  LogicalResult addSymbols();
  void addSymbol(StringRef name, uint32_t input, uint32_t dim, ArrayRef<int64_t> range);
  void addBuffer(Operation &op);
  void addBoundary(Operation &op, plan::BufferT &buffer, ArrayAttr dims, StringRef name, Type element, bool isInput);
  void addConstant(plan::ConstantOp op, plan::BufferT &buffer);
  void addStep(Operation &op);
  void addStep(plan::StepBodyUnion body, Operation &op, StringRef name);
  void addExports();
  void addExport(func::FuncOp dispatch, size_t index);
  DimExpr bytesOfBinding(Type type, ArrayRef<int64_t> sizes, StringRef encoding);
  std::vector<uint32_t> dimIndices(ArrayAttr dims);
  void addProvenance();
  void placeSegments(uint64_t planSize);
  llvm::Error writeConstants(ArtifactFile &file);
  std::vector<char> build();

  ModuleOp module;
  MLIRContext *context;
  ArrayRef<CompiledImage> images;
  const ArtifactOrigin &origin;

  plan::PlanT result;
  plan::EntryPointT *entry = nullptr;
  plan::BodyT *body = nullptr;
  plan::BlockT *block = nullptr;
  FrameWriter frame;
  llvm::DenseMap<Value, uint32_t> bufferIndex;
  llvm::StringMap<uint32_t> exportIndex;
  std::vector<StoredConstant> constants;
  llvm::StringMap<uint32_t> constantByContent;
  uint64_t constantsEnd = 0, fileEnd = 0;
};

std::vector<uint32_t> PlanWriter::dimIndices(ArrayAttr dims) {
  std::vector<uint32_t> indices;
  for (DimExpr dim : graph::dimsOf(dims))
    indices.push_back(frame.index(dim));
  return indices;
}

void PlanWriter::addSymbol(StringRef name, uint32_t input, uint32_t dim, ArrayRef<int64_t> range) {
  auto symbol = std::make_unique<plan::SymbolT>();
  symbol->name = name.str();
  symbol->source = plan::SymbolSource::INPUT_DIM;
  symbol->input = input;
  symbol->dim = dim;
  if (range.size() == 2) {
    symbol->lo = range[0];
    symbol->hi = range[1];
  }
  frame.addSymbol(name);
  block->symbols.push_back(std::move(symbol));
}

/// Each symbol's value comes from the first input dim that is just this symbol.
LogicalResult PlanWriter::addSymbols() {
  auto op = *module.getOps<plan::EntryOp>().begin();
  Block &steps = op.getBody().front();
  for (auto input : steps.getOps<plan::InputOp>())
    for (auto [i, dim] : llvm::enumerate(graph::dimsOf(input.getDims())))
      if (!dim.asConstant() && dim.kind() == DimExpr::Kind::Symbol && !frame.hasSymbol(dim.symbolName())) {
        auto range = op.getSymbols().getAs<DenseI64ArrayAttr>(dim.symbolName());
        addSymbol(dim.symbolName(), input.getIndex(), i, range ? range.asArrayRef() : ArrayRef<int64_t>());
      }
  std::string missing;
  auto check = [&](Attribute attribute) {
    attribute.walk([&](graph::ExprAttr expr) {
      DimExpr(expr).forEachSymbol([&](StringRef name) {
        if (!frame.hasSymbol(name))
          missing = name.str();
      });
      return WalkResult::skip();
    });
  };
  for (Operation &step : steps)
    if (Attribute properties = step.getPropertiesAsAttribute()) // a copy has none
      check(properties);
  if (missing.empty())
    return success();
  return op.emitError() << "the symbolic dim " << missing << " is no dim of any input by itself, so its value can not be known";
}

void PlanWriter::addBoundary(Operation &op, plan::BufferT &buffer, ArrayAttr dims, StringRef name, Type element, bool isInput) {
  auto spec = std::make_unique<plan::TensorSpecT>();
  spec->name = name.str();
  spec->dtype = static_cast<plan::DType>(graph::dtypeOf(element));
  spec->dims = buffer.dims;
  spec->buffer = body->buffers.size();
  for (DimExpr dim : graph::dimsOf(dims))
    spec->dim_names.push_back(dim.str());
  auto &specs = isInput ? entry->inputs : entry->outputs;
  buffer.index = specs.size();
  buffer.kind = isInput ? plan::BufKind::INPUT : plan::BufKind::OUTPUT;
  buffer.name = name.str();
  specs.push_back(std::move(spec));
}

void PlanWriter::addConstant(plan::ConstantOp op, plan::BufferT &buffer) {
  buffer.kind = plan::BufKind::CONSTANT;
  std::optional<graph::ConstantView> view = graph::ConstantView::of(op.getValue());
  assert(view && "the verifier of the graph dialect checked the constant");
  plan::Hash256 hash = hashOf(asSpan(view->bytes()));
  std::string key = op.getEncoding().str();
  llvm::raw_string_ostream(key) << '|' << view->type() << '|' << hash.a() << '|' << hash.b();
  auto [place, isNew] = constantByContent.try_emplace(key, constants.size());
  buffer.index = place->second;
  if (!isNew)
    return;
  llvm::StringSet<> seen;
  std::vector<std::string> names;
  collectNames(op.getLoc(), seen, names);
  auto encoding = cpu::Encoding::parse(op.getEncoding() == "dense" ? "" : op.getEncoding());
  uint64_t size = op.getEncoding() == "dense" ? view->bytes().size() : cpu::packedBytes(*encoding, view->type().getShape());
  std::string name = names.empty() ? "constant_" + std::to_string(constants.size()) : names.front();
  constants.push_back({op.getValue(), op.getEncoding().str(), name, alignUp(constantsEnd, constantAlignment), size});
  constantsEnd = constants.back().offset + size;
}

void PlanWriter::addBuffer(Operation &op) {
  auto buffer = std::make_unique<plan::BufferT>();
  auto describe = [&](Type element, ArrayAttr dims) {
    buffer->dtype = static_cast<plan::DType>(graph::dtypeOf(element));
    buffer->dims = dimIndices(dims);
    buffer->size = frame.index(plan::byteSize(element, dims));
  };
  if (auto input = dyn_cast<plan::InputOp>(op)) {
    describe(input.getElement(), input.getDims());
    addBoundary(op, *buffer, input.getDims(), input.getTensor(), input.getElement(), true);
  } else if (auto output = dyn_cast<plan::OutputOp>(op)) {
    describe(output.getElement(), output.getDims());
    addBoundary(op, *buffer, output.getDims(), output.getTensor(), output.getElement(), false);
  } else if (auto constant = dyn_cast<plan::ConstantOp>(op)) {
    auto type = cast<RankedTensorType>(constant.getValue().getType());
    SmallVector<DimExpr> dims = llvm::map_to_vector(type.getShape(), [&](int64_t size) { return DimExpr::constant(context, size); });
    describe(type.getElementType(), graph::dimsAttr(context, dims));
    addConstant(constant, *buffer);
    buffer->size = frame.constant(context, constants[buffer->index].size);
  } else if (auto arena = dyn_cast<plan::ArenaOp>(op)) {
    describe(arena.getElement(), arena.getDims());
    buffer->kind = plan::BufKind::ARENA;
    if (arena.getOffset())
      buffer->offset = frame.constant(context, *arena.getOffset());
  } else if (auto view = dyn_cast<plan::ViewOp>(op)) {
    describe(view.getElement(), view.getDims());
    buffer->kind = plan::BufKind::VIEW;
    buffer->parent = bufferIndex.lookup(view.getParent());
    buffer->offset = frame.index(DimExpr(view.getOffset()));
  }
  bufferIndex[op.getResult(0)] = body->buffers.size();
  body->buffers.push_back(std::move(buffer));
}

void PlanWriter::addStep(plan::StepBodyUnion stepBody, Operation &op, StringRef name) {
  auto step = std::make_unique<plan::StepT>();
  step->body = std::move(stepBody);
  step->info = result.step_infos.size();
  auto info = std::make_unique<plan::StepInfoT>();
  info->op = name.str();
  llvm::StringSet<> seen;
  collectNames(op.getLoc(), seen, info->source_ops);
  result.step_infos.push_back(std::move(info));
  block->steps.push_back(std::move(step));
}

void PlanWriter::addStep(Operation &op) {
  plan::StepBodyUnion step;
  if (auto dispatch = dyn_cast<plan::DispatchOp>(op)) {
    plan::DispatchT launch;
    launch.executable = 0;
    launch.export_index = exportIndex.lookup(dispatch.getKernel());
    for (Value buffer : dispatch.getBuffers())
      launch.buffers.push_back(bufferIndex.lookup(buffer));
    launch.scalars = dimIndices(dispatch.getScalars());
    step.Set(std::move(launch));
    addStep(std::move(step), op, dispatch.getKernel());
  } else if (auto copy = dyn_cast<plan::CopyOp>(op)) {
    plan::CopyT move;
    move.src = bufferIndex.lookup(copy.getSource());
    move.dst = bufferIndex.lookup(copy.getTarget());
    move.src_offset = move.dst_offset = frame.constant(context, 0);
    move.length = body->buffers[move.src]->size;
    step.Set(std::move(move));
    addStep(std::move(step), op, "copy");
  } else if (auto check = dyn_cast<plan::CheckOp>(op)) {
    plan::CheckT test;
    DimExpr difference = DimExpr(check.getLhs()) - DimExpr(check.getRhs());
    test.guard = std::make_unique<plan::Guard>(frame.index(difference), plan::Cmp::EQ, 0, 0, 0);
    test.message = check.getMessage().str();
    step.Set(std::move(test));
    addStep(std::move(step), op, "check");
  }
}

/// Bytes that a kernel may touch of a binding, over its scalars.
DimExpr PlanWriter::bytesOfBinding(Type type, ArrayRef<int64_t> sizes, StringRef encoding) {
  if (!encoding.empty())
    return DimExpr::constant(context, cpu::packedBytes(*cpu::Encoding::parse(encoding), sizes));
  DimExpr bytes = DimExpr::constant(context, graph::elementBytes(getElementTypeOrSelf(type)));
  for (int64_t size : sizes)
    bytes = bytes * (size >= 0 ? DimExpr::constant(context, size) : DimExpr::symbol(context, "s" + std::to_string(-size - 1)));
  return bytes;
}

void PlanWriter::addExport(func::FuncOp dispatch, size_t index) {
  auto exported = std::make_unique<plan::ExportT>();
  exported->name = dispatch.getName().str();
  FrameWriter scalars;
  size_t tensors = llvm::count_if(dispatch.getArgumentTypes(), [](Type type) { return isa<TensorType>(type); });
  exported->scalars = dispatch.getNumArguments() - tensors;
  for (uint32_t i = 0; i < exported->scalars; ++i)
    scalars.addSymbol("s" + std::to_string(i));
  auto bind = [&](Type type, DenseI64ArrayAttr sizes, StringAttr encoding, plan::Access access) {
    auto binding = std::make_unique<plan::BindingT>();
    binding->access = access;
    binding->extent = scalars.index(bytesOfBinding(type, sizes, encoding ? encoding.getValue() : ""));
    binding->alignment = encoding ? constantAlignment : graph::elementBytes(getElementTypeOrSelf(type));
    exported->bindings.push_back(std::move(binding));
  };
  for (size_t i = 0; i < tensors; ++i)
    bind(dispatch.getArgumentTypes()[i], dispatch.getArgAttrOfType<DenseI64ArrayAttr>(i, "graph.sizes"),
         dispatch.getArgAttrOfType<StringAttr>(i, "graph.encoding"), plan::Access::READ);
  for (auto [i, type] : llvm::enumerate(dispatch.getResultTypes()))
    bind(type, cast<DenseI64ArrayAttr>(dispatch.getResultAttr(i, "graph.sizes")), {}, plan::Access::WRITE);
  for (auto [image, variant] : llvm::zip_equal(images, result.executables.front()->variants)) {
    const CompiledKernel &kernel = image.kernels[index];
    auto entryPoint = std::make_unique<plan::VariantEntryT>();
    entryPoint->entry = kernel.entry;
    entryPoint->grid = scalars.index(kernel.grid);
    entryPoint->scratch = scalars.index(kernel.scratch);
    entryPoint->grain = scalars.index(kernel.grain);
    variant->entries.push_back(std::move(entryPoint));
  }
  exported->exprs = scalars.take();
  exportIndex[exported->name] = result.executables.front()->exports.size();
  result.executables.front()->exports.push_back(std::move(exported));
}

void PlanWriter::addExports() {
  auto executable = std::make_unique<plan::ExecutableT>();
  executable->name = "kernels";
  executable->device_kind = plan::DeviceKind::CPU;
  for (auto [i, image] : llvm::enumerate(images)) {
    auto variant = std::make_unique<plan::VariantT>();
    variant->format = plan::CodeFormat::ELF_IMAGE;
    variant->level = image.level;
    variant->features = image.features;
    variant->kernel_abi = LLMC_KERNEL_ABI;
    variant->priority = cantFail(findCpuLevel(image.level))->priority;
    variant->code = std::make_unique<plan::SegRangeT>();
    variant->code->segment = 1 + i;
    variant->code->range = std::make_unique<plan::Range>(0, image.bytes.size());
    executable->variants.push_back(std::move(variant));
  }
  result.executables.push_back(std::move(executable));
  size_t index = 0;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr("graph.dispatch"))
      addExport(function, index++);
}

void PlanWriter::addProvenance() {
  result.compat = std::make_unique<plan::CompatT>();
  result.compat->plan_major = kPlanMajor;
  result.compat->plan_minor = kPlanMinor;
  result.compat->kernel_abi = LLMC_KERNEL_ABI;
  result.provenance = std::make_unique<plan::ProvenanceT>();
  result.provenance->producer = "llmc";
  result.provenance->producer_version = origin.producerVersion;
  result.provenance->llvm_version = LLVM_VERSION_STRING;
  for (auto &[key, value] : origin.options) {
    auto option = std::make_unique<plan::KVT>();
    option->key = key;
    option->value = value;
    result.provenance->options.push_back(std::move(option));
  }
}

LogicalResult PlanWriter::collect() {
  auto op = *module.getOps<plan::EntryOp>().begin();
  addProvenance();
  auto device = std::make_unique<plan::DeviceT>();
  device->name = "cpu";
  device->kind = plan::DeviceKind::CPU;
  result.devices.push_back(std::move(device));
  result.entries.push_back(std::make_unique<plan::EntryPointT>());
  entry = result.entries.front().get();
  entry->name = op.getSymName().str();
  entry->bodies.push_back(std::make_unique<plan::BodyT>());
  body = entry->bodies.front().get();
  body->name = "cpu";
  body->devices = {0};
  body->queues.push_back(std::make_unique<plan::QueueT>());
  auto arena = std::make_unique<plan::ArenaT>();
  arena->space = plan::MemSpace::HOST;
  body->arenas.push_back(std::move(arena));
  body->blocks.push_back(std::make_unique<plan::BlockT>());
  block = body->blocks.front().get();
  if (auto memory = op->getAttrOfType<DictionaryAttr>("plan.arena"))
    body->arena_bound = memory.getAs<IntegerAttr>("peak").getInt();
  if (failed(addSymbols()))
    return failure();
  addExports();
  // Step infos and buffers are numbered as they come.
  for (Operation &step : op.getBody().front()) {
    if (step.getNumResults() == 1)
      addBuffer(step);
    else
      addStep(step);
  }
  block->exprs = frame.take();
  return success();
}

void PlanWriter::placeSegments(uint64_t planSize) {
  uint64_t offset = alignUp(sizeof(ContainerHeader) + planSize, kSegmentAlignment);
  auto place = [&](plan::SegmentT &segment, uint64_t size) {
    segment.range = std::make_unique<plan::Range>(offset, size);
    offset = alignUp(offset + size, kSegmentAlignment);
    fileEnd = segment.range->offset() + size;
  };
  place(*result.segments[0], constantsEnd);
  for (auto [i, image] : llvm::enumerate(images))
    place(*result.segments[1 + i], image.bytes.size());
}

std::vector<char> PlanWriter::build() {
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  builder.Finish(plan::Plan::Pack(builder, &result), plan::PlanIdentifier());
  auto *data = reinterpret_cast<const char *>(builder.GetBufferPointer());
  return {data, data + builder.GetSize()};
}

llvm::Error PlanWriter::writeConstants(ArtifactFile &file) {
  StreamHash hash;
  uint64_t start = result.segments[0]->range->offset(), position = 0;
  llvm::Error error = llvm::Error::success();
  auto append = [&](ArrayRef<char> bytes) {
    if (error)
      return;
    hash.update(asSpan(bytes));
    error = file.writeAt(start + position, bytes);
    position += bytes.size();
  };
  for (const StoredConstant &constant : constants) {
    append(std::vector<char>(constant.offset - position));
    std::optional<graph::ConstantView> view = graph::ConstantView::of(constant.value);
    if (constant.encoding == "dense")
      append(view->bytes());
    else
      cpu::pack(*cpu::Encoding::parse(constant.encoding), view->bytes(), view->type().getShape(), append);
  }
  result.segments[0]->hash = std::make_unique<plan::Hash256>(hash.finish());
  return error;
}

FailureOr<ArtifactInfo> PlanWriter::write(const std::string &path) {
  if (failed(collect()))
    return failure();
  for (size_t i = 0; i <= images.size(); ++i) {
    auto segment = std::make_unique<plan::SegmentT>();
    segment->kind = i == 0 ? plan::SegKind::CONSTANTS : plan::SegKind::CODE;
    segment->range = std::make_unique<plan::Range>(0, 0);
    segment->hash = std::make_unique<plan::Hash256>(i == 0 ? plan::Hash256() : hashOf(asSpan(images[i - 1].bytes)));
    result.segments.push_back(std::move(segment));
  }
  for (const StoredConstant &constant : constants) {
    auto stored = std::make_unique<plan::ConstantT>();
    auto type = cast<RankedTensorType>(constant.value.getType());
    stored->name = constant.name;
    stored->dtype = static_cast<plan::DType>(graph::dtypeOf(type.getElementType()));
    stored->dims.assign(type.getShape().begin(), type.getShape().end());
    stored->encoding = constant.encoding;
    stored->data = std::make_unique<plan::SegRangeT>();
    stored->data->range = std::make_unique<plan::Range>(constant.offset, constant.size);
    result.constants.push_back(std::move(stored));
  }
  placeSegments(build().size());

  auto report = [&](llvm::Error error) {
    emitError(UnknownLoc::get(context)) << llvm::toString(std::move(error));
    return failure();
  };
  llvm::Expected<std::unique_ptr<ArtifactFile>> file = ArtifactFile::create(path);
  if (!file)
    return report(file.takeError());
  if (llvm::Error error = writeConstants(**file))
    return report(std::move(error));
  uint64_t codeBytes = 0;
  for (auto [i, image] : llvm::enumerate(images)) {
    if (llvm::Error error = (*file)->writeAt(result.segments[1 + i]->range->offset(), image.bytes))
      return report(std::move(error));
    codeBytes += image.bytes.size();
  }
  std::vector<char> planBytes = build();
  uint64_t segments = result.segments[0]->range->offset();
  ContainerHeader header = makeContainerHeader(sizeof(ContainerHeader), asSpan(planBytes), segments, fileEnd);
  if (llvm::Error error = (*file)->writeAt(0, asBytes(header)))
    return report(std::move(error));
  if (llvm::Error error = (*file)->writeAt(sizeof(ContainerHeader), planBytes))
    return report(std::move(error));
  if (llvm::Error error = (*file)->commit(fileEnd))
    return report(std::move(error));
  return ArtifactInfo{fileEnd, constantsEnd, codeBytes, block->steps.size()};
}

} // namespace

FailureOr<ArtifactInfo> writeArtifact(ModuleOp module, ArrayRef<CompiledImage> images, const ArtifactOrigin &origin,
                                      const std::string &path) {
  return PlanWriter(module, images, origin).write(path);
}

} // namespace llmc
