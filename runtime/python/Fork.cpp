//===- Fork.cpp - A process made by fork has no threads of its parent's -------------------------------------------===//

#include "Fork.h"
#include "llmc/llmc.hpp"
#include <atomic>
#include <pthread.h>

namespace llmc::python {

/// Forks between the first process and this one.
static std::atomic<int> &generationNow() {
  static std::atomic<int> now = 0;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++now; });
  (void)registered;
  return now;
}

ForkGuard::ForkGuard() : generation(generationNow()) {}

bool ForkGuard::forked() const { return generation != generationNow(); }

void ForkGuard::check(const char *what) const {
  if (forked())
    throw Error(LLMC_INVALID_ARGUMENT,
                std::string(what) +
                    " was made before this process was forked, and its threads are not here; load it in this "
                    "process, or start processes with 'spawn'");
}

} // namespace llmc::python
