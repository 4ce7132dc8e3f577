//===- VerifyConstants.cpp - Types, sizes and bytes of constants --------------------------------------------------===//

#include "runtime/base/CheckedMath.h"
#include "runtime/plan/verify/Verify.h"

namespace llmc::rt {

/// Bytes of a dense tensor; nothing if they do not fit uint64.
static std::optional<uint64_t> denseBytes(const plan::Constant &constant) {
  std::optional<uint64_t> bytes = uint64_t(elementSize(constant.dtype()));
  for (uint32_t i = 0; bytes && i < count(constant.dims()); ++i)
    bytes = checkedMul(*bytes, constant.dims()->Get(i));
  return bytes;
}

static Status verifyConstant(const VerifyContext &context, const plan::Constant &constant) {
  if (!isKnown(constant.dtype()))
    return fail("constant-type", "unknown element type ", int(constant.dtype()));
  LLMC_TRY(verifyAligned(constant.dims(), "dims"));
  if (count(constant.dims()) > kMaxRank)
    return fail("constant-rank", "rank ", count(constant.dims()), " is above ", kMaxRank);
  LLMC_TRY(verifyRange(context, *constant.data(), plan::SegKind::CONSTANTS));
  // Other encodings are the kernels' business: what counts is how many bytes they may read.
  if (text(constant.encoding()) == "dense") {
    std::optional<uint64_t> bytes = denseBytes(constant);
    uint64_t length = constant.data()->range()->length();
    if (bytes != length)
      return fail("constant-size", "dims and type ask for ", bytes ? std::to_string(*bytes) : "too many",
                  " bytes, the data has ", length);
  }
  return {};
}

Status verifyConstants(const VerifyContext &context) {
  for (uint32_t i = 0; i < count(context.plan.constants()); ++i) {
    const plan::Constant *constant = context.plan.constants()->Get(i);
    if (Status status = verifyConstant(context, *constant); !status.ok())
      return std::move(status).in(concat("constant ", i, " '", text(constant->name()), "'"));
  }
  return {};
}

} // namespace llmc::rt
