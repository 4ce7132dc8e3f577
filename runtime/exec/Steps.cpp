//===- Steps.cpp - What one worker does of one step ---------------------------------------------------------------===//

#include "runtime/exec/Steps.h"
#include "runtime/plan/verify/Verify.h"
#include <cstring>

namespace llmc::rt {

// The sanitizer's check of function types reads in front of what is called, where a mapped kernel may have nothing.
#ifdef __clang__
__attribute__((no_sanitize("function")))
#endif
int32_t callKernel(RunState &state, uint32_t index, WorkRange range, unsigned worker, llmc_error &error) {
  const Program::Dispatch &dispatch = state.program.dispatches[index];
  void *scratch = state.shape.launches[index].scratch > 0 ? state.scratch[worker].data() : nullptr;
  error = {LLMC_KERNEL_OK, -1, -1, 0};
  llmc_args args = {state.pointers.data() + dispatch.buffers.first, state.shape.scalars.data() + dispatch.scalars.first,
                    &error, nullptr};
  int32_t code = state.body.kernels[index](&args, range.begin, range.end, scratch);
  error.code = code;
  return code;
}

Status faultStatus(const llmc_error &error) {
  const char *what = "unknown fault";
  switch (error.code) {
  case LLMC_KERNEL_INDEX_OUT_OF_RANGE:
    what = "index out of range";
    break;
  case LLMC_KERNEL_BAD_SHAPE:
    what = "bad shape in data";
    break;
  case LLMC_KERNEL_DIVISION_BY_ZERO:
    what = "integer division by zero";
    break;
  case LLMC_KERNEL_UNSUPPORTED:
    return {Code::Internal, "the kernel has no code for its element types"};
  case LLMC_KERNEL_OUT_OF_SPACE:
    what = "result exceeds its declared bound";
    break;
  default:
    return {Code::Internal, concat("the kernel returned unknown status ", error.code)};
  }
  std::string message = concat(what, ": value ", error.value);
  if (error.operand >= 0)
    message += concat(", operand ", error.operand);
  if (error.row >= 0)
    message += concat(", row ", error.row);
  return {Code::Data, std::move(message)};
}

bool CopyRange::canSplit() const { return length >= kSplitBytes && (src + length <= dst || dst + length <= src); }

void CopyRange::run(WorkRange range) const {
  std::memmove(dst + range.begin, src + range.begin, size_t(range.end - range.begin));
}

CopyRange copyRange(const RunState &state, const Program::Copy &copy) {
  const std::vector<int64_t> &values = state.shape.values;
  return {state.addresses[copy.dst] + values[copy.dstOffset], state.addresses[copy.src] + values[copy.srcOffset],
          values[copy.length]};
}

Status copyBuffer(const RunState &state, uint32_t from, uint32_t to) {
  int64_t size = state.shape.sizes[from];
  if (size != state.shape.sizes[to])
    return {Code::Data,
            concat("a value has ", size, " bytes, its place has ", state.shape.sizes[to])};
  if (state.addresses[from] != state.addresses[to])
    std::memmove(state.addresses[to], state.addresses[from], size_t(size));
  return {};
}

void fillBuffer(const RunState &state, const Program::Fill &fill) {
  std::byte *at = state.addresses[fill.dst], *end = at + state.shape.sizes[fill.dst];
  if (fill.patternSize == 1) {
    std::memset(at, int(fill.pattern & 0xff), size_t(end - at));
    return;
  }
  for (; at < end; at += fill.patternSize)
    std::memcpy(at, &fill.pattern, fill.patternSize);
}

Status readSymbol(RunState &state, const Program::ReadScalar &read) {
  const std::byte *at = state.addresses[read.src] + state.shape.values[read.offset];
  int64_t value = 0;
  if (state.program.buffers[read.src].dtype == plan::DType::I32) {
    int32_t narrow;
    std::memcpy(&narrow, at, sizeof narrow);
    value = narrow;
  } else {
    std::memcpy(&value, at, sizeof value);
  }
  const Program::Symbol &symbol = state.program.symbols[read.symbol];
  if (value < symbol.lo || value > symbol.hi)
    return {Code::Data, concat("'", text(symbol.spec->name()), "' is ", value, " in the data, its range is ", symbol.lo,
                               "..", symbol.hi)};
  state.shape.symbols[read.symbol] = value;
  return {};
}

} // namespace llmc::rt
