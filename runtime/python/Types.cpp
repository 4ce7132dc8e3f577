//===- Types.cpp - Element types in Python's terms ----------------------------------------------------------------===//

#include "Types.h"

namespace nb = nanobind;

namespace llmc::python {

static Dtype make(const char *name, const char *format, nb::dlpack::dtype_code code, uint8_t bits) {
  return {name, format, {uint8_t(code), bits, 1}};
}

/// In the order of llmc_type.
static const Dtype *table() {
  using Code = nb::dlpack::dtype_code;
  static const Dtype types[] = {{"invalid", nullptr, {}},
                                make("float32", "f", Code::Float, 32),
                                make("float16", "e", Code::Float, 16),
                                make("bfloat16", nullptr, Code::Bfloat, 16),
                                make("float64", "d", Code::Float, 64),
                                make("int8", "b", Code::Int, 8),
                                make("uint8", "B", Code::UInt, 8),
                                make("int16", "h", Code::Int, 16),
                                make("uint16", "H", Code::UInt, 16),
                                make("int32", "i", Code::Int, 32),
                                make("uint32", "I", Code::UInt, 32),
                                make("int64", "q", Code::Int, 64),
                                make("uint64", "Q", Code::UInt, 64),
                                make("bool", "?", Code::Bool, 8)};
  static_assert(std::size(types) == LLMC_TYPE_BOOL + 1);
  return types;
}

const Dtype &dtypeOf(llmc_type type) { return table()[unsigned(type) <= LLMC_TYPE_BOOL ? type : LLMC_TYPE_INVALID]; }

llmc_type typeOfDlpack(nb::dlpack::dtype dtype) {
  for (int type = LLMC_TYPE_F32; type <= LLMC_TYPE_BOOL; ++type)
    if (table()[type].dlpack == dtype)
      return llmc_type(type);
  return LLMC_TYPE_INVALID;
}

} // namespace llmc::python
