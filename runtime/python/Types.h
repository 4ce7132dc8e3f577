//===- Types.h - Element types in Python's terms ------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_TYPES_H
#define LLMC_RUNTIME_PYTHON_TYPES_H

#include "llmc/llmc.h"
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <string>

namespace llmc::python {

struct Dtype {
  std::string name;   // as numpy and most others call it: "float32"
  const char *format; // of the buffer protocol; null: it has none
  nanobind::dlpack::dtype dlpack;
};

const Dtype &dtypeOf(llmc_type type);
/// LLMC_TYPE_INVALID for what llmc does not have.
llmc_type typeOfDlpack(nanobind::dlpack::dtype dtype);

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_TYPES_H
