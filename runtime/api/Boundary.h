//===- Boundary.h - What every C entry point runs in --------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_API_BOUNDARY_H
#define LLMC_RUNTIME_API_BOUNDARY_H

#include "llmc/llmc.h"
#include "runtime/base/Status.h"
#include <new>

namespace llmc::rt {

/// Keeps the message for llmc_last_error(), returns the code.
llmc_status report(Status status) noexcept;

/// Runs `body`, which returns a Status. No exception leaves.
template <typename Body> llmc_status atBoundary(Body &&body) noexcept {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return report({Code::OutOfMemory, "host allocation failed"});
  } catch (...) {
    return report({Code::Internal, "unexpected exception"});
  }
}

/// A required pointer argument.
inline Status notNull(const void *pointer, const char *what) {
  return pointer ? Status() : Status(Code::InvalidArgument, concat(what, " is null"));
}

} // namespace llmc::rt

#endif // LLMC_RUNTIME_API_BOUNDARY_H
