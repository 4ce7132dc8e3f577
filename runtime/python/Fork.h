//===- Fork.h - A process made by fork has no threads of its parent's ---------------------------------------------===//
#ifndef LLMC_RUNTIME_PYTHON_FORK_H
#define LLMC_RUNTIME_PYTHON_FORK_H

namespace llmc::python {

/// Remembers the process that made it.
class ForkGuard {
public:
  ForkGuard();
  /// Whether this is a child of that process: then its threads are not there, and waiting for them would never end.
  bool forked() const;
  /// Throws in a child. `what` is the subject of the message, as in "the model".
  void check(const char *what) const;

private:
  int generation;
};

} // namespace llmc::python

#endif // LLMC_RUNTIME_PYTHON_FORK_H
