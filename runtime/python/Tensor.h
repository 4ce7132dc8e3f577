//===- Tensor.h - A result that owns its memory -------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_TENSOR_H
#define LLMC_RUNTIME_PYTHON_TENSOR_H

#include "llmc/llmc.h"
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace llmc::python {

struct Free {
  void operator()(std::byte *memory) const { std::free(memory); }
};
using Block = std::unique_ptr<std::byte[], Free>;

/// Uninitialised memory at a multiple of 64 bytes. Throws std::bad_alloc.
Block allocate(size_t size);

/// Row-major elements. What reads them through the buffer protocol or DLPack keeps the Python object, and so the
/// memory.
class Tensor {
public:
  Tensor(llmc_type type, std::vector<int64_t> dims, size_t size, Block block);

  /// Adds the class to the module.
  static void define(nanobind::module_ &module);

private:
  static int getBuffer(PyObject *self, Py_buffer *view, int flags);
  std::string describe() const;
  nanobind::object shape() const;
  /// As an array of nanobind, which shares the memory and keeps `self`.
  nanobind::object exported(nanobind::handle self) const;

  llmc_type type;
  std::vector<Py_ssize_t> dims, strides; // strides in bytes
  size_t size;                           // in bytes
  Block block;
};

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_TENSOR_H
