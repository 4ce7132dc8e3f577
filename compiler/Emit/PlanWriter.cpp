// Layout of the file: header, plan, constants, one code image per level. The plan names offsets and hashes of the segments behind it,
// so it is built twice: its size does not depend on their values.
#include "compiler/Emit/PlanWriter.h"
#include "compiler/Emit/ArtifactFile.h"
#include "compiler/Emit/BodyWriter.h"
#include "compiler/Emit/ExportWriter.h"
#include "kernels/abi/kernel_abi.h"
#include "runtime/schema/Container.h"

using namespace mlir;

namespace llmc {
namespace {

template <typename T> llvm::ArrayRef<char> asBytes(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof(T)};
}

std::span<const std::byte> asSpan(ArrayRef<char> bytes) {
  return {reinterpret_cast<const std::byte *>(bytes.data()), bytes.size()};
}

class PlanWriter {
public:
  PlanWriter(ModuleOp module, ArrayRef<CompiledImage> images, const ArtifactOrigin &origin, const plan::BatchingT *batching)
      : module(module), images(images), origin(origin), batching(batching) {}

  FailureOr<ArtifactInfo> write(const std::string &path);

private:
  LogicalResult collect();
  LogicalResult addEntry(plan::EntryOp op);
  void addExecutable();
  void addDevices();
  void addProvenance();
  void addSegments();
  void placeSegments(uint64_t planSize);
  llvm::Error writeSegments(ArtifactFile &file);
  llvm::Error writeFile(const std::string &path);
  std::vector<char> build();

  ModuleOp module;
  ArrayRef<CompiledImage> images;
  const ArtifactOrigin &origin;
  const plan::BatchingT *batching; // may be null
  PlanTables tables;
  plan::PlanT &result = tables.plan;
  uint64_t fileEnd = 0;
  ArtifactInfo info;
};

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

/// Without code there is no executable: plans of copies and the like need none.
void PlanWriter::addExecutable() {
  if (images.empty())
    return;
  result.executables.push_back(writeExecutable(module, images));
  for (auto [i, exported] : llvm::enumerate(result.executables.back()->exports))
    tables.exports[exported->name] = i;
}

LogicalResult PlanWriter::addEntry(plan::EntryOp op) {
  auto entry = std::make_unique<plan::EntryPointT>();
  entry->name = op.getSymName().str();
  for (auto bodyOp : op.getBodies().front().getOps<plan::BodyOp>()) {
    FailureOr<std::unique_ptr<plan::BodyT>> body = BodyWriter(tables, *entry, bodyOp).write();
    if (failed(body))
      return failure();
    for (auto &block : (*body)->blocks)
      info.steps += block->steps.size();
    entry->bodies.push_back(std::move(*body));
  }
  if (batching)
    entry->batching = std::make_unique<plan::BatchingT>(*batching);
  result.entries.push_back(std::move(entry));
  return success();
}

/// The devices that the bodies name, with as many queues as the body that uses most.
void PlanWriter::addDevices() {
  for (plan::DeviceAttr source : tables.devices) {
    auto device = std::make_unique<plan::DeviceT>();
    device->name = source.getName().str();
    device->kind = static_cast<plan::DeviceKind>(source.getKind());
    device->ordinal = source.getOrdinal();
    device->min_memory = source.getMinMemory();
    result.devices.push_back(std::move(device));
  }
  for (auto &entry : result.entries)
    for (auto &body : entry->bodies)
      for (auto [i, number] : llvm::enumerate(body->devices)) {
        uint32_t queues = llvm::count_if(body->queues, [&, i = i](auto &queue) { return queue->device == i; });
        result.devices[number]->queues = std::max(result.devices[number]->queues, queues);
      }
}

LogicalResult PlanWriter::collect() {
  addProvenance();
  addExecutable();
  for (auto entry : module.getOps<plan::EntryOp>())
    if (failed(addEntry(entry)))
      return failure();
  addDevices();
  result.constants = tables.constants.describe();
  addSegments();
  return success();
}

/// The constants, then the images.
void PlanWriter::addSegments() {
  for (size_t i = 0; i <= images.size(); ++i) {
    auto segment = std::make_unique<plan::SegmentT>();
    segment->kind = i == 0 ? plan::SegKind::CONSTANTS : plan::SegKind::CODE;
    segment->range = std::make_unique<plan::Range>(0, 0);
    segment->hash = std::make_unique<plan::Hash256>(i == 0 ? plan::Hash256() : hashOf(asSpan(images[i - 1].bytes)));
    result.segments.push_back(std::move(segment));
  }
}

void PlanWriter::placeSegments(uint64_t planSize) {
  uint64_t offset = alignUp(sizeof(ContainerHeader) + planSize, kSegmentAlignment);
  auto place = [&](plan::SegmentT &segment, uint64_t size) {
    segment.range = std::make_unique<plan::Range>(offset, size);
    offset = alignUp(offset + size, kSegmentAlignment);
    fileEnd = segment.range->offset() + size;
  };
  place(*result.segments[0], tables.constants.end());
  for (auto [i, image] : llvm::enumerate(images))
    place(*result.segments[1 + i], image.bytes.size());
}

std::vector<char> PlanWriter::build() {
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  builder.Finish(plan::Plan::Pack(builder, &result), plan::PlanIdentifier());
  auto *data = reinterpret_cast<const char *>(builder.GetBufferPointer());
  return {data, data + builder.GetSize()};
}

llvm::Error PlanWriter::writeSegments(ArtifactFile &file) {
  StreamHash hash;
  uint64_t position = result.segments[0]->range->offset();
  llvm::Error error = tables.constants.write([&](ArrayRef<char> bytes) {
    hash.update(asSpan(bytes));
    position += bytes.size();
    return file.writeAt(position - bytes.size(), bytes);
  });
  if (error)
    return error;
  result.segments[0]->hash = std::make_unique<plan::Hash256>(hash.finish());
  for (auto [i, image] : llvm::enumerate(images))
    if (llvm::Error failed = file.writeAt(result.segments[1 + i]->range->offset(), image.bytes))
      return failed;
  return llvm::Error::success();
}

llvm::Error PlanWriter::writeFile(const std::string &path) {
  llvm::Expected<std::unique_ptr<ArtifactFile>> file = ArtifactFile::create(path);
  if (!file)
    return file.takeError();
  if (llvm::Error error = writeSegments(**file))
    return error;
  std::vector<char> planBytes = build();
  uint64_t segments = result.segments[0]->range->offset();
  info.planBytes = planBytes.size();
  ContainerHeader header = makeContainerHeader(sizeof(ContainerHeader), asSpan(planBytes), segments, fileEnd);
  if (llvm::Error error = (*file)->writeAt(0, asBytes(header)))
    return error;
  if (llvm::Error error = (*file)->writeAt(sizeof(ContainerHeader), planBytes))
    return error;
  return (*file)->commit(fileEnd);
}

FailureOr<ArtifactInfo> PlanWriter::write(const std::string &path) {
  if (failed(collect()))
    return failure();
  placeSegments(build().size());
  if (llvm::Error error = writeFile(path))
    return emitError(UnknownLoc::get(module.getContext())) << llvm::toString(std::move(error));
  info.fileBytes = fileEnd;
  info.constantBytes = tables.constants.end();
  for (const CompiledImage &image : images)
    info.codeBytes += image.bytes.size();
  return info;
}

} // namespace

FailureOr<ArtifactInfo> writeArtifact(ModuleOp module, ArrayRef<CompiledImage> images, const ArtifactOrigin &origin,
                                      const std::string &path, const plan::BatchingT *batching) {
  return PlanWriter(module, images, origin, batching).write(path);
}

} // namespace llmc
