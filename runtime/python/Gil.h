//===- Gil.h - The interpreter's lock, also while the interpreter ends --------------------------------------------===//
//
// A thread that asks for the lock of an interpreter that has ended is ended itself, by an unwinding that C++ frames do
// not survive. So the end waits until no other thread is between Python and here; those that come later, or back, sleep
// until the process is gone.
//
//===----------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_GIL_H
#define LLMC_RUNTIME_PYTHON_GIL_H

#include <nanobind/nanobind.h>

namespace llmc::python {

/// A call from Python, which may call Python itself.
class InCall {
public:
  InCall();
  ~InCall();
  InCall(const InCall &) = delete;
};

/// Within such a call: other Python threads run.
class WithoutGil {
public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil &) = delete;

private:
  PyThreadState *state;
};

/// On any thread: it may use Python.
class WithGil {
public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil &) = delete;

private:
  PyGILState_STATE state;
};

/// Learns of the interpreter's end. Once, when the module is made.
void watchInterpreter();

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_GIL_H
