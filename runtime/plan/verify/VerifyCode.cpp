//===- VerifyCode.cpp - Executables, their exports and variants ---------------------------------------------------===//
//
// The image itself is checked where it is mapped, by device/ElfImage.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/base/CheckedMath.h"
#include "runtime/plan/verify/Verify.h"

namespace llmc::rt {

static Status verifyBinding(const plan::Export &exported, uint32_t i) {
  const plan::Binding *binding = exported.bindings()->Get(i);
  uint32_t numBindings = exported.bindings()->size(), numExprs = count(exported.exprs());
  if (!isKnown(binding->access()))
    return fail("binding-access", "binding ", i, " has unknown access ", int(binding->access()));
  if (binding->extent() >= numExprs)
    return fail("binding-extent", "binding ", i, " names expression ", binding->extent(), " of ", numExprs);
  if (!isPowerOfTwo(binding->alignment()) || binding->alignment() > kMaxAlignment)
    return fail("binding-alignment", "binding ", i, " asks for alignment ", binding->alignment());
  uint32_t with = binding->in_place_with();
  if (with == kNone)
    return {};
  if (with >= numBindings || exported.bindings()->Get(with)->access() != plan::Access::READ ||
      binding->access() == plan::Access::READ)
    return fail("binding-in-place", "binding ", i, " can not be in place with binding ", with, " of ", numBindings,
                ": one is written, the other read");
  return {};
}

static Status verifyExport(const plan::Export &exported) {
  LLMC_TRY(verifyAligned(exported.exprs(), "exprs"));
  std::span<const plan::ExprNode> nodes = exprNodes(exported.exprs());
  LLMC_TRY(verifyExprNodes(nodes, exported.scalars()));
  for (uint32_t i = 0; i < exported.bindings()->size(); ++i)
    LLMC_TRY(verifyBinding(exported, i));
  if (exported.row_wise() ? exported.rows() >= nodes.size() : exported.rows() != kNone)
    return fail("export-rows", "the number of rows is expression ", exported.rows(), " of ", nodes.size(), " of a kernel that is ",
                exported.row_wise() ? "" : "not ", "row-wise");
  return {};
}

static Status verifyVariant(const VerifyContext &context, const plan::Executable &executable,
                            const plan::Variant &variant) {
  if (!isKnown(variant.format()))
    return fail("variant-format", "unknown code format ", int(variant.format()));
  bool isElf = variant.format() == plan::CodeFormat::ELF_IMAGE;
  if (isElf != (executable.device_kind() != plan::DeviceKind::CUDA))
    return fail("variant-format", plan::EnumNameCodeFormat(variant.format()), " code can not run on a ",
                plan::EnumNameDeviceKind(executable.device_kind()));
  LLMC_TRY(verifyRange(context, *variant.code(), plan::SegKind::CODE));
  if (isElf && variant.code()->range()->offset() % kSegmentAlignment != 0)
    return fail("variant-alignment", "the image starts at ", variant.code()->range()->offset(),
                " of its segment, not a multiple of ", kSegmentAlignment);
  if (variant.entries()->size() != executable.exports()->size())
    return fail("variant-entries", variant.entries()->size(), " entries for ", executable.exports()->size(),
                " exports");
  for (uint32_t i = 0; i < variant.entries()->size(); ++i) {
    const plan::VariantEntry *entry = variant.entries()->Get(i);
    uint32_t numExprs = count(executable.exports()->Get(i)->exprs());
    if (entry->grid() >= numExprs || entry->scratch() >= numExprs || entry->grain() >= numExprs)
      return fail("variant-exprs", "entry ", i, " names expressions ", entry->grid(), ", ", entry->scratch(), ", ",
                  entry->grain(), " of ", numExprs);
  }
  return {};
}

static Status verifyExecutable(const VerifyContext &context, const plan::Executable &executable) {
  if (!isKnown(executable.device_kind()))
    return fail("executable-device", "unknown device kind ", int(executable.device_kind()));
  for (const plan::Export *exported : *executable.exports())
    if (Status status = verifyExport(*exported); !status.ok())
      return std::move(status).in(concat("export '", text(exported->name()), "'"));
  if (executable.variants()->size() == 0)
    return fail("executable-variants", "no variant");
  for (const plan::Variant *variant : *executable.variants())
    if (Status status = verifyVariant(context, executable, *variant); !status.ok())
      return std::move(status).in(concat("variant '", text(variant->level()), "'"));
  return {};
}

Status verifyCode(const VerifyContext &context) {
  for (uint32_t i = 0; i < count(context.plan.executables()); ++i) {
    const plan::Executable *executable = context.plan.executables()->Get(i);
    if (Status status = verifyExecutable(context, *executable); !status.ok())
      return std::move(status).in(concat("executable ", i, " '", text(executable->name()), "'"));
  }
  return {};
}

} // namespace llmc::rt
