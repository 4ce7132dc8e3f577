//===- Gil.cpp - Giving the interpreter's lock away, also while it ends
//---------------------------------------------===//

#include "Gil.h"
#include <atomic>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace llmc::python {

static std::atomic<bool> ending = false;
static std::atomic<int> returning = 0; // threads that may be waiting for the lock
static std::thread::id lastThread;     // ends the interpreter

/// Returns if the calling thread may ask for the lock; the end waits until it has it.
static void beginReturn() {
  ++returning;
  if (!ending || std::this_thread::get_id() == lastThread)
    return;
  --returning;
  for (;;)
    pause();
}

WithoutGil::~WithoutGil() {
  beginReturn();
  PyEval_RestoreThread(state);
  --returning;
}

static void onEnd() {
  lastThread = std::this_thread::get_id();
  ending = true;
  PyThreadState *state = PyEval_SaveThread();
  while (returning > 0)
    std::this_thread::yield();
  PyEval_RestoreThread(state);
}

void watchInterpreter() {
  nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(&onEnd));
  pthread_atfork(nullptr, nullptr, [] { returning = 0; }); // the threads that were counted are not in the child
}

} // namespace llmc::python
