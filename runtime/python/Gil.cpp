//===- Gil.cpp - The interpreter's lock, also while the interpreter ends ------------------------------------------===//

#include "Gil.h"
#include <atomic>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace llmc::python {

static std::atomic<bool> ending = false;
static std::atomic<int> inside = 0; // threads that have the lock, or may ask for it, in frames of ours
static std::thread::id lastThread;  // ends the interpreter

/// Counts the calling thread, unless it is too late.
static bool enter() {
  ++inside;
  if (!ending || std::this_thread::get_id() == lastThread)
    return true;
  --inside;
  return false;
}

[[noreturn]] static void sleepForever() {
  for (;;)
    pause();
}

InCall::InCall() {
  if (enter())
    return;
  (void)PyEval_SaveThread();
  sleepForever();
}

InCall::~InCall() { --inside; }

WithoutGil::WithoutGil() : state(PyEval_SaveThread()) { --inside; }

WithoutGil::~WithoutGil() {
  if (!enter())
    sleepForever();
  PyEval_RestoreThread(state);
}

WithGil::WithGil() {
  if (PyGILState_Check())
    ++inside; // in a call that is counted
  else if (!enter())
    sleepForever();
  state = PyGILState_Ensure();
}

WithGil::~WithGil() {
  PyGILState_Release(state);
  --inside;
}

static void onEnd() {
  lastThread = std::this_thread::get_id();
  ending = true;
  PyThreadState *state = PyEval_SaveThread();
  while (inside > 0)
    std::this_thread::yield();
  PyEval_RestoreThread(state);
}

void watchInterpreter() {
  nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(&onEnd));
  pthread_atfork(nullptr, nullptr, [] { inside = 0; }); // the other threads are not in the child
}

} // namespace llmc::python
