// The constants of an artifact: which are stored, where, and their bytes.
#ifndef LLMC_COMPILER_EMIT_CONSTANTTABLE_H
#define LLMC_COMPILER_EMIT_CONSTANTTABLE_H

#include "dialects/Plan/Plan.h"
#include "runtime/schema/plan_generated.h"
#include "llvm/Support/Error.h"

namespace llmc {

/// Constants of equal content, type and encoding are stored once.
class ConstantTable {
public:
  static constexpr uint64_t alignment = 64;

  /// Number of the constant.
  uint32_t add(plan::ConstantOp op);
  /// Bytes as stored.
  uint64_t size(uint32_t number) const { return constants[number].size; }
  /// Of all, with the gaps between them.
  uint64_t end() const { return constants.empty() ? 0 : constants.back().offset + constants.back().size; }
  /// As ranges of the first segment.
  std::vector<std::unique_ptr<plan::ConstantT>> describe() const;
  /// Hands the bytes of all to `append`, piece by piece; they are packed on the way.
  llvm::Error write(llvm::function_ref<llvm::Error(llvm::ArrayRef<char>)> append) const;

private:
  struct Stored {
    mlir::ElementsAttr value;
    std::string encoding, name;
    uint64_t offset, size;
  };
  std::vector<Stored> constants;
  llvm::StringMap<uint32_t> byContent;
};

} // namespace llmc

#endif // LLMC_COMPILER_EMIT_CONSTANTTABLE_H
