//===- CheckPlan.cpp - Everything that loading checks, on any machine ---------------------------------------------===//

#include "runtime/device/ElfImage.h"
#include "runtime/plan/ShapeState.h"
#include "runtime/plan/verify/Verify.h"
#include "tools/llmc-plan/PlanTool.h"
#include <algorithm>

namespace llmc::tools {

using namespace rt;

static Status checkVariant(const PlanFile &file, const plan::Variant &variant) {
  if (variant.format() != plan::CodeFormat::ELF_IMAGE)
    return {};
  LLMC_TRY_ASSIGN(std::vector<ElfSegment> segments, checkElfImage(file.bytesOf(*variant.code())));
  for (const plan::VariantEntry *entry : *variant.entries()) {
    bool isCode = std::any_of(segments.begin(), segments.end(), [&](const ElfSegment &segment) {
      return segment.executable && entry->entry() >= segment.address &&
             entry->entry() - segment.address < segment.fileSize;
    });
    if (!isCode)
      return fail("entry-address", "address ", entry->entry(), " is not in executable code");
  }
  return {};
}

/// With the code of variant `variant` of each executable, or its last one if it has fewer.
static Status checkBody(const plan::Plan &plan, const plan::EntryPoint &entry, const plan::Body &body,
                        uint32_t variant) {
  std::vector<uint32_t> variants;
  for (uint32_t i = 0; i < count(plan.executables()); ++i)
    variants.push_back(std::min(variant, plan.executables()->Get(i)->variants()->size() - 1));
  LLMC_TRY_ASSIGN(Program program, decodeProgram(plan, entry, body, variants));
  ShapeState state(program);
  std::vector<BlockError> blockErrors;
  LLMC_TRY(resolveEvent(program, kLoadEvent, state, &blockErrors));
  return program.placementEvent == kLoadEvent ? placeBuffers(program, state, blockErrors) : Status();
}

Status checkPlan(const PlanFile &file) {
  LLMC_TRY(file.verifyConstants());
  uint32_t numVariants = 1;
  for (uint32_t i = 0; i < count(file.plan().executables()); ++i)
    for (const plan::Variant *variant : *file.plan().executables()->Get(i)->variants()) {
      numVariants = std::max(numVariants, file.plan().executables()->Get(i)->variants()->size());
      if (Status status = checkVariant(file, *variant); !status.ok())
        return std::move(status).in(concat("executable ", i, ", '", text(variant->level()), "'"));
    }
  for (const plan::EntryPoint *entry : *file.plan().entries())
    for (const plan::Body *body : *entry->bodies())
      for (uint32_t variant = 0; variant < numVariants; ++variant)
        if (Status status = checkBody(file.plan(), *entry, *body, variant); !status.ok())
          return std::move(status).in(concat("entry '", text(entry->name()), "', body '", text(body->name()), "'"));
  return {};
}

} // namespace llmc::tools
