//===- Input.cpp - Any tensor of Python's, as the runtime reads it ------------------------------------------------===//

#include "Input.h"
#include "Types.h"
#include "llmc/llmc.hpp"
#include <cstring>

namespace nb = nanobind;

namespace llmc::python {

static std::string nameOfType(nb::handle object) { return nb::str(object.type().attr("__name__")).c_str(); }

/// What the object calls its type of elements; "" if it has none.
static std::string dtypeText(nb::handle object) {
  nb::object dtype = nb::getattr(object, "dtype", nb::none());
  return dtype.is_none() ? "" : nb::str(dtype).c_str();
}

/// As in "ndarray of complex64".
static std::string describe(nb::handle object) {
  std::string dtype = dtypeText(object);
  return nameOfType(object) + (dtype.empty() ? "" : " of ") + dtype;
}

/// Neither numpy's DLPack nor its buffers know bfloat16: such arrays of ml_dtypes are read through their bits.
static bool isNumpyBfloat16(nb::handle object) {
  return dtypeText(object) == "bfloat16" && nb::hasattr(object, "view");
}

static bool isRowMajor(const nb::ndarray<nb::ro> &array) {
  int64_t stride = 1;
  for (size_t d = array.ndim(); d-- > 0;) {
    if (array.shape(d) != 1 && array.stride(d) != stride)
      return false;
    stride *= int64_t(array.shape(d));
  }
  return true;
}

/// Copies what lies under `source` from dim `d` on, and moves `target` behind it.
static void copyRows(const nb::ndarray<nb::ro> &array, size_t d, const std::byte *source, size_t width,
                     std::byte *&target) {
  if (d == array.ndim()) {
    std::memcpy(target, source, width);
    target += width;
    return;
  }
  for (size_t i = 0; i < array.shape(d); ++i)
    copyRows(array, d + 1, source + int64_t(i) * array.stride(d) * int64_t(width), width, target);
}

Input readInput(nb::handle object, const char *name) {
  auto refuse = [&](llmc_status status, const std::string &why) -> Error {
    return Error(status, std::string("input '") + name + "' " + why);
  };
  Input input;
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array)) {
    bool bits = isNumpyBfloat16(object);
    if (!bits || !nb::try_cast(object.attr("view")("uint16"), array))
      throw refuse(LLMC_INVALID_ARGUMENT,
                   "is a " + describe(object) +
                       ", which neither DLPack nor the buffer protocol can read; expected an array");
    input.type = LLMC_TYPE_BF16;
  } else {
    input.type = typeOfDlpack(array.dtype());
  }
  if (input.type == LLMC_TYPE_INVALID)
    throw refuse(LLMC_SHAPE, "is a " + describe(object) + ", a type that llmc does not have");
  if (array.device_type() != nb::device::cpu::value)
    throw refuse(LLMC_INVALID_ARGUMENT,
                 "lies on device " + std::to_string(array.device_type()) + " of DLPack; copy it to the CPU");
  size_t width = llmc_type_size(input.type);
  for (size_t d = 0; d < array.ndim(); ++d)
    input.dims.push_back(int64_t(array.shape(d)));
  input.size = array.size() * width;
  input.data = array.data();
  if (input.size == 0 || (isRowMajor(array) && reinterpret_cast<uintptr_t>(input.data) % width == 0)) {
    input.array = std::move(array);
    return input;
  }
  input.copy = allocate(input.size);
  std::byte *target = input.copy.get();
  copyRows(array, 0, static_cast<const std::byte *>(array.data()), width, target);
  input.data = input.copy.get();
  return input;
}

} // namespace llmc::python
