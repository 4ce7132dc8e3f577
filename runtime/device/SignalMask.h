//===- SignalMask.h - Signals are the application's ---------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_SIGNALMASK_H
#define LLMC_RUNTIME_DEVICE_SIGNALMASK_H

#include <csignal>
#include <pthread.h>

namespace llmc::rt {

/// Threads that are started while it lives get no signals.
class NoSignals {
public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  NoSignals(const NoSignals &) = delete;
  NoSignals &operator=(const NoSignals &) = delete;

private:
  sigset_t before;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_SIGNALMASK_H
