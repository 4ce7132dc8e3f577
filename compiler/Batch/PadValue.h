// Numbers as text -> the bytes of one element.
#ifndef LLMC_COMPILER_BATCH_PADVALUE_H
#define LLMC_COMPILER_BATCH_PADVALUE_H

#include "mlir/IR/Types.h"
#include <optional>
#include <string>
#include <vector>

namespace llmc {

/// Little endian. Nothing if `text` is no number, or an integer that the type does not have.
std::optional<std::vector<uint8_t>> padBytes(mlir::Type element, llvm::StringRef text);

} // namespace llmc

#endif // LLMC_COMPILER_BATCH_PADVALUE_H
