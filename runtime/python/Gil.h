//===- Gil.h - Giving the interpreter's lock away, also while it ends
//-----------------------------------------------===//
//
// A thread that asks for the lock of an interpreter that has ended is ended itself, by an unwinding that C++ frames do
// not survive. So once the interpreter has begun to end, other threads no longer come back: they sleep until the
// process is gone.
//
//===----------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_GIL_H
#define LLMC_RUNTIME_PYTHON_GIL_H

#include <nanobind/nanobind.h>

namespace llmc::python {

/// For its lifetime, other Python threads run.
class WithoutGil {
public:
  WithoutGil() : state(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil &) = delete;

private:
  PyThreadState *state;
};

/// Learns of the interpreter's end. Once, when the module is made.
void watchInterpreter();

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_GIL_H
