//===- Library.cpp - C API: versions, names, the last error -------------------------------------------------------===//

#include "runtime/api/Boundary.h"
#include "runtime/device/CpuFeatures.h"
#include "runtime/plan/verify/Verify.h"

namespace llmc::rt {

static std::string &lastError() {
  static thread_local std::string message;
  return message;
}

llmc_status report(Status status) noexcept {
  llmc_status code = llmc_status(status.code());
  if (!status.ok())
    lastError() = std::move(status).takeMessage(); // a copy could throw
  return code;
}

} // namespace llmc::rt

using namespace llmc;
using rt::Code;

static_assert(int(Code::InvalidArgument) == LLMC_INVALID_ARGUMENT && int(Code::Shape) == LLMC_SHAPE &&
              int(Code::Io) == LLMC_IO && int(Code::InvalidPlan) == LLMC_INVALID_PLAN &&
              int(Code::Incompatible) == LLMC_INCOMPATIBLE && int(Code::Data) == LLMC_DATA &&
              int(Code::OutOfMemory) == LLMC_OUT_OF_MEMORY && int(Code::Cancelled) == LLMC_CANCELLED &&
              int(Code::Internal) == LLMC_INTERNAL);
static_assert(int(plan::DType::F32) == LLMC_TYPE_F32 && int(plan::DType::BOOL) == LLMC_TYPE_BOOL);

const char *llmc_version(void) { return LLMC_VERSION; }
int32_t llmc_api_version(void) { return LLMC_API_VERSION; }
const char *llmc_last_error(void) { return rt::lastError().c_str(); }
const char *llmc_host_cpu_level(void) { return rt::hostCpuLevel().data() ? rt::hostCpuLevel().data() : ""; }

const char *llmc_status_name(llmc_status status) {
  static const char *const names[] = {
      "LLMC_OK",   "LLMC_INVALID_ARGUMENT", "LLMC_SHAPE",     "LLMC_IO",       "LLMC_INVALID_PLAN", "LLMC_INCOMPATIBLE",
      "LLMC_DATA", "LLMC_OUT_OF_MEMORY",    "LLMC_CANCELLED", "LLMC_INTERNAL", "LLMC_REJECTED",     "LLMC_DEADLINE",
      "LLMC_PENDING"};
  return unsigned(status) < std::size(names) ? names[status] : "unknown status";
}

const char *llmc_type_name(llmc_type type) {
  static const char *const names[] = {"invalid", "f32", "f16", "bf16", "f64", "i8",  "u8",
                                      "i16",     "u16", "i32", "u32",  "i64", "u64", "bool"};
  return unsigned(type) < std::size(names) ? names[type] : names[0];
}

size_t llmc_type_size(llmc_type type) { return size_t(rt::elementSize(plan::DType(type))); }
