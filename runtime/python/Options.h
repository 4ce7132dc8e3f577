//===- Options.h - Settings of the C API from a dict --------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_OPTIONS_H
#define LLMC_RUNTIME_PYTHON_OPTIONS_H

#include "llmc/llmc.hpp"
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace llmc::python {

/// Sets `field` to the option of that name; leaves it if there is none.
template <typename T> void readOption(const nanobind::dict &options, const char *name, T &field) {
  if (!options.contains(name))
    return;
  nanobind::object value = options[name];
  if (!nanobind::try_cast(value, field))
    throw Error(LLMC_INVALID_ARGUMENT,
                std::string("option '") + name + "' is " + nanobind::repr(value).c_str() + ", which does not fit it");
}

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_OPTIONS_H
