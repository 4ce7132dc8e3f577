// From an object file to the image that a runtime maps.
#ifndef LLMC_COMPILER_TARGET_LINKER_H
#define LLMC_COMPILER_TARGET_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace llmc::cpu {

/// An ELF64 shared object that is complete: it imports nothing and has no dynamic relocation, so mapping its PT_LOAD segments at
/// any 64 KiB aligned address is all a loader does. No segment is both writable and executable.
struct LinkedImage {
  std::vector<char> bytes;
  llvm::StringMap<uint64_t> symbols; // exported functions -> virtual address
};

/// Links `object` with what it needs of `library`, another relocatable object with sections per function. Fails naming the undefined
/// symbols, if any are left. May be called from several threads.
llvm::Expected<LinkedImage> linkImage(llvm::ArrayRef<char> object, llvm::ArrayRef<char> library);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_TARGET_LINKER_H
