//===- Tensor.cpp - A result that owns its memory -----------------------------------------------------------------===//

#include "Tensor.h"
#include "Types.h"
#include <nanobind/stl/string.h>
#include <new>

namespace nb = nanobind;

namespace llmc::python {

Block allocate(size_t size) {
  constexpr size_t alignment = 64;
  size_t rounded = (size + alignment) / alignment * alignment; // never 0
  auto *memory = static_cast<std::byte *>(std::aligned_alloc(alignment, rounded));
  if (!memory)
    throw std::bad_alloc();
  return Block(memory);
}

Tensor::Tensor(llmc_type type, std::vector<int64_t> shape, size_t size, Block block)
    : type(type), dims(shape.begin(), shape.end()), strides(dims.size()), size(size), block(std::move(block)) {
  Py_ssize_t stride = Py_ssize_t(llmc_type_size(type));
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
}

nb::object Tensor::shape() const {
  nb::list result;
  for (Py_ssize_t dim : dims)
    result.append(dim);
  return nb::tuple(result);
}

std::string Tensor::describe() const {
  std::string result = "llmc.Tensor(" + dtypeOf(type).name + ", [";
  for (size_t d = 0; d < dims.size(); ++d)
    result += (d ? ", " : "") + std::to_string(dims[d]);
  return result + "])";
}

nb::object Tensor::exported(nb::handle self) const {
  std::vector<size_t> shape(dims.begin(), dims.end());
  nb::ndarray<nb::array_api> array(block.get(), shape.size(), shape.data(), self, nullptr, dtypeOf(type).dlpack);
  return nb::cast(array);
}

int Tensor::getBuffer(PyObject *self, Py_buffer *view, int flags) {
  const Tensor &tensor = *nb::inst_ptr<Tensor>(self);
  const char *format = dtypeOf(tensor.type).format;
  if (!format) {
    PyErr_Format(PyExc_BufferError, "the buffer protocol has no %s; take DLPack, or the bytes in 'data'",
                 dtypeOf(tensor.type).name.c_str());
    view->obj = nullptr;
    return -1;
  }
  view->buf = tensor.block.get();
  view->obj = Py_NewRef(self);
  view->len = Py_ssize_t(tensor.size);
  view->itemsize = Py_ssize_t(llmc_type_size(tensor.type));
  view->readonly = 0;
  view->ndim = int(tensor.dims.size());
  view->format = flags & PyBUF_FORMAT ? const_cast<char *>(format) : nullptr;
  view->shape = flags & PyBUF_ND ? const_cast<Py_ssize_t *>(tensor.dims.data()) : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? const_cast<Py_ssize_t *>(tensor.strides.data()) : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

void Tensor::define(nb::module_ &module) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void *>(&Tensor::getBuffer)}, {0, nullptr}};
  nb::class_<Tensor>(
      module, "Tensor", nb::type_slots(slots),
      "A result: row-major elements in memory of its own.\n\n"
      "It is what a model returns where numpy is not there, or has no type for the elements. The buffer protocol "
      "(memoryview) and DLPack (from_dlpack of any library) read it without a copy.")
      .def_prop_ro("shape", &Tensor::shape, nb::sig("def shape(self) -> tuple[int, ...]"), "The sizes.")
      .def_prop_ro(
          "dtype", [](const Tensor &self) { return dtypeOf(self.type).name; },
          "Type of the elements, as numpy calls it: 'float32'.")
      .def_prop_ro(
          "nbytes", [](const Tensor &self) { return self.size; }, "Bytes of all elements.")
      .def_prop_ro(
          "data",
          [](nb::handle_t<Tensor> self) {
            const Tensor &tensor = nb::cast<const Tensor &>(self);
            return nb::cast(nb::ndarray<nb::memview, uint8_t>(tensor.block.get(), {tensor.size}, self));
          },
          nb::sig("def data(self) -> memoryview"), "The bytes, which share the tensor's memory.")
      .def(
          "__dlpack__",
          [](nb::handle_t<Tensor> self, nb::kwargs options) {
            return nb::cast<const Tensor &>(self).exported(self).attr("__dlpack__")(**options);
          },
          nb::sig("def __dlpack__(self, **options: object) -> object"),
          "A capsule that shares the tensor's memory: what from_dlpack of other libraries calls.")
      .def(
          "__dlpack_device__", [](nb::handle) { return nb::make_tuple(int(nb::device::cpu::value), 0); },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"), "The CPU.")
      .def("__repr__", &Tensor::describe);
}

} // namespace llmc::python
