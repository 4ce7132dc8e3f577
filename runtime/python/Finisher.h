//===- Finisher.h - Tells Python of the ends of requests ----------------------------------------------------------===//
//
// On a thread of its own: threads that run batches never wait for the GIL, which other Python threads may hold for
// milliseconds, and what ended meanwhile is told in one go.
//
//===----------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_FINISHER_H
#define LLMC_RUNTIME_PYTHON_FINISHER_H

#include "Tensor.h"
#include <condition_variable>
#include <mutex>
#include <thread>

namespace llmc::python {

class Request;

/// How a request ended, in memory of its own: that of the batcher's request is used again.
struct Answer {
  llmc_status status = LLMC_OK;
  std::string message, reason;
  std::vector<Tensor> outputs;
};

class Finisher {
public:
  static std::shared_ptr<Finisher> start();

  void push(std::shared_ptr<Request> request, Answer answer);
  /// Waits until all that was pushed has been told; the GIL must be free. On its own thread, does nothing.
  void flush();
  /// The same, and ends the thread. Nothing is pushed afterwards.
  void stop();

private:
  struct End {
    std::shared_ptr<Request> request;
    Answer answer;
  };
  void work();
  bool take(std::vector<End> &ends);
  bool isOwnThread() const { return std::this_thread::get_id() == thread; }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<End> waiting;
  bool busy = false, stopped = false, gone = false;
  std::thread::id thread;
};

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_FINISHER_H
