// What each kernel may touch, as expressions over its scalars.
#include "compiler/Emit/ExportWriter.h"
#include "compiler/Codegen/Cpu/Packing.h"
#include "compiler/Emit/ConstantTable.h"
#include "compiler/Emit/FrameWriter.h"
#include "kernels/abi/kernel_abi.h"

using namespace mlir;

namespace llmc {

using graph::DimExpr;

/// Bytes that a kernel may touch of a binding. Sizes: static, or -1 - the number of a scalar.
static DimExpr bytesOfBinding(Type type, ArrayRef<int64_t> sizes, StringAttr encoding) {
  MLIRContext *context = type.getContext();
  if (encoding)
    return DimExpr::constant(context, cpu::packedBytes(*cpu::Encoding::parse(encoding), sizes));
  DimExpr bytes = DimExpr::constant(context, graph::elementBytes(getElementTypeOrSelf(type)));
  for (int64_t size : sizes)
    bytes = bytes * (size >= 0 ? DimExpr::constant(context, size) : DimExpr::symbol(context, "s" + std::to_string(-size - 1)));
  return bytes;
}

static std::unique_ptr<plan::ExportT> writeExport(func::FuncOp dispatch, FrameWriter &scalars) {
  auto exported = std::make_unique<plan::ExportT>();
  exported->name = dispatch.getName().str();
  size_t tensors = llvm::count_if(dispatch.getArgumentTypes(), llvm::IsaPred<TensorType>);
  exported->scalars = dispatch.getNumArguments() - tensors;
  for (uint32_t i = 0; i < exported->scalars; ++i)
    scalars.addSymbol("s" + std::to_string(i));
  auto bind = [&](Type type, DenseI64ArrayAttr sizes, StringAttr encoding, plan::Access access) {
    auto binding = std::make_unique<plan::BindingT>();
    binding->access = access;
    binding->extent = scalars.index(bytesOfBinding(type, sizes, encoding));
    binding->alignment = encoding ? ConstantTable::alignment : graph::elementBytes(getElementTypeOrSelf(type));
    exported->bindings.push_back(std::move(binding));
  };
  for (size_t i = 0; i < tensors; ++i)
    bind(dispatch.getArgumentTypes()[i], dispatch.getArgAttrOfType<DenseI64ArrayAttr>(i, "graph.sizes"),
         dispatch.getArgAttrOfType<StringAttr>(i, "graph.encoding"), plan::Access::READ);
  for (auto [i, type] : llvm::enumerate(dispatch.getResultTypes())) {
    bind(type, cast<DenseI64ArrayAttr>(dispatch.getResultAttr(i, "graph.sizes")), {}, plan::Access::WRITE);
    if (auto replaced = dispatch.getResultAttrOfType<IntegerAttr>(i, "graph.replaces"))
      exported->bindings.back()->in_place_with = replaced.getInt();
  }
  return exported;
}

static std::unique_ptr<plan::VariantT> writeVariant(const CompiledImage &image, uint32_t segment) {
  auto variant = std::make_unique<plan::VariantT>();
  variant->format = plan::CodeFormat::ELF_IMAGE;
  variant->level = image.level;
  variant->features = image.features;
  variant->kernel_abi = LLMC_KERNEL_ABI;
  variant->priority = cantFail(findCpuLevel(image.level))->priority;
  variant->code = std::make_unique<plan::SegRangeT>();
  variant->code->segment = segment;
  variant->code->range = std::make_unique<plan::Range>(0, image.bytes.size());
  return variant;
}

static std::unique_ptr<plan::VariantEntryT> writeVariantEntry(const CompiledKernel &kernel, FrameWriter &scalars) {
  auto entry = std::make_unique<plan::VariantEntryT>();
  entry->entry = kernel.entry;
  entry->grid = scalars.index(kernel.grid);
  entry->scratch = scalars.index(kernel.scratch);
  entry->grain = scalars.index(kernel.grain);
  return entry;
}

std::unique_ptr<plan::ExecutableT> writeExecutable(ModuleOp module, ArrayRef<CompiledImage> images) {
  auto executable = std::make_unique<plan::ExecutableT>();
  executable->name = "kernels";
  executable->device_kind = plan::DeviceKind::CPU;
  for (auto [i, image] : llvm::enumerate(images))
    executable->variants.push_back(writeVariant(image, 1 + i));
  for (auto dispatch : module.getOps<func::FuncOp>()) {
    if (!dispatch->hasAttr("graph.dispatch"))
      continue;
    FrameWriter scalars;
    std::unique_ptr<plan::ExportT> exported = writeExport(dispatch, scalars);
    for (auto [image, variant] : llvm::zip_equal(images, executable->variants))
      variant->entries.push_back(writeVariantEntry(image.kernels[executable->exports.size()], scalars));
    if (graph::DimExpr rows = images.front().kernels[executable->exports.size()].rows) {
      exported->row_wise = true;
      exported->rows = scalars.index(rows);
    }
    exported->exprs = scalars.take();
    executable->exports.push_back(std::move(exported));
  }
  return executable;
}

} // namespace llmc
