//===- KernelCall.cpp - What every device does alike --------------------------------------------------------------===//

#include "runtime/device/KernelCall.h"
#include <cstring>

namespace llmc::rt {

// The sanitizer's check of function types reads in front of what is called, where a mapped kernel may have nothing.
#ifdef __clang__
__attribute__((no_sanitize("function")))
#endif
int32_t callCode(const void *code, const llmc_args &args, int64_t begin, int64_t end, void *scratch) {
  *args.error = {LLMC_KERNEL_OK, -1, -1, 0};
  int32_t status = reinterpret_cast<llmc_kernel>(const_cast<void *>(code))(&args, begin, end, scratch);
  args.error->code = status;
  return status;
}

Status rowStatus(int32_t code) {
  switch (code) {
  case LLMC_KERNEL_INDEX_OUT_OF_RANGE:
    return {Code::Data, "index out of range"};
  case LLMC_KERNEL_BAD_SHAPE:
    return {Code::Data, "bad shape in data"};
  case LLMC_KERNEL_DIVISION_BY_ZERO:
    return {Code::Data, "integer division by zero"};
  case LLMC_KERNEL_UNSUPPORTED:
    return {Code::Internal, "the kernel has no code for its element types"};
  case LLMC_KERNEL_OUT_OF_SPACE:
    return {Code::Data, "result exceeds its declared bound"};
  default:
    return {Code::Internal, concat("the kernel returned unknown status ", code)};
  }
}

Status faultStatus(const llmc_error &error) {
  Status what = rowStatus(error.code);
  if (what.code() != Code::Data)
    return what;
  std::string message = concat(what.message(), ": value ", error.value);
  if (error.operand >= 0)
    message += concat(", operand ", error.operand);
  if (error.row >= 0)
    message += concat(", row ", error.row);
  return {Code::Data, std::move(message)};
}

void fillBytes(std::byte *at, size_t bytes, uint64_t pattern, unsigned patternBytes) {
  if (patternBytes == 1) {
    std::memset(at, int(pattern & 0xff), bytes);
    return;
  }
  for (std::byte *end = at + bytes; at < end; at += patternBytes)
    std::memcpy(at, &pattern, patternBytes);
}

} // namespace llmc::rt
