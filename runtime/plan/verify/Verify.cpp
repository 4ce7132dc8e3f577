//===- Verify.cpp - Whether a plan means something ----------------------------------------------------------------===//

#include "runtime/plan/verify/Verify.h"

namespace llmc::rt {

int64_t elementSize(plan::DType type) {
  using plan::DType;
  switch (type) {
  case DType::I8:
  case DType::U8:
  case DType::BOOL:
    return 1;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
  case DType::U16:
    return 2;
  case DType::F32:
  case DType::I32:
  case DType::U32:
    return 4;
  case DType::F64:
  case DType::I64:
  case DType::U64:
    return 8;
  default:
    return 0;
  }
}

static Status verifyBody(BodyContext context) {
  LLMC_TRY(verifyFrames(context));
  LLMC_TRY(verifyBlockTree(context));
  LLMC_TRY(verifyBuffers(context));
  return verifySteps(context);
}

Status verifyPlan(const VerifyContext &context) {
  LLMC_TRY(verifyFile(context));
  LLMC_TRY(verifyConstants(context));
  LLMC_TRY(verifyCode(context));
  LLMC_TRY(verifyEntries(context));
  for (const plan::EntryPoint *entry : *context.plan.entries())
    for (const plan::Body *body : *entry->bodies()) {
      std::string name = concat("entry '", text(entry->name()), "', body '", text(body->name()), "'");
      if (Status status = verifyBody({context, *entry, *body, name, {}, {}}); !status.ok())
        return std::move(status).in(name);
    }
  return {};
}

} // namespace llmc::rt
