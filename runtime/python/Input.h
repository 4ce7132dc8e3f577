//===- Input.h - Any tensor of Python's, as the runtime reads it --------------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_INPUT_H
#define LLMC_RUNTIME_PYTHON_INPUT_H

#include "Tensor.h"
#include <nanobind/ndarray.h>

namespace llmc::python {

/// Row-major elements, of a Python object where they lie so already, else copied.
struct Input {
  llmc_type type;
  std::vector<int64_t> dims;
  const void *data;
  size_t size; // bytes

  nanobind::ndarray<nanobind::ro> array; // keeps the object's memory; empty after a copy
  Block copy;
};

/// Reads `object` through DLPack or the buffer protocol. Throws what names the input.
Input readInput(nanobind::handle object, const char *name);

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_INPUT_H
