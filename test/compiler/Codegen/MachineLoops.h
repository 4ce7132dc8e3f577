// The innermost loops of compiled functions, read back from machine code.
#ifndef LLMC_TEST_COMPILER_CODEGEN_MACHINELOOPS_H
#define LLMC_TEST_COMPILER_CODEGEN_MACHINELOOPS_H

#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace llmc::test {

struct MachineLoop {
  std::string function;
  unsigned multiplyAdds = 0;             // vector ones; a multiplication where the machine has no fused form
  std::vector<std::string> stackTraffic; // instructions between vector registers and the stack
};

/// The loops without a loop inside of all functions in `elf`, an object or an image of x86-64, that hold vector
/// multiply-adds. Errors fail the test.
std::vector<MachineLoop> innermostMultiplyAdds(llvm::ArrayRef<char> elf);

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CODEGEN_MACHINELOOPS_H
