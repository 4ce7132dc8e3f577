// By way of LLVM's numbers of any width.
#include "compiler/Batch/PadValue.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Error.h"

using namespace mlir;

namespace llmc {

static std::vector<uint8_t> bytesOf(const llvm::APInt &bits) {
  std::vector<uint8_t> bytes;
  for (unsigned at = 0; at < bits.getBitWidth(); at += 8)
    bytes.push_back(bits.extractBitsAsZExtValue(std::min(8u, bits.getBitWidth() - at), at));
  return bytes;
}

static std::optional<llvm::APInt> integerBits(IntegerType type, StringRef text) {
  int64_t value;
  uint64_t large;
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned() || width == 1;
  if (isUnsigned && !text.getAsInteger(10, large) && llvm::isUIntN(width, large))
    return llvm::APInt(width, large);
  if (!isUnsigned && !text.getAsInteger(10, value) && llvm::isIntN(width, value))
    return llvm::APInt(width, value, /*isSigned=*/true);
  return std::nullopt;
}

std::optional<std::vector<uint8_t>> padBytes(Type element, StringRef text) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    std::optional<llvm::APInt> bits = integerBits(integer, text);
    return bits ? std::optional(bytesOf(*bits)) : std::nullopt;
  }
  llvm::APFloat value(cast<FloatType>(element).getFloatSemantics());
  llvm::Expected<llvm::APFloat::opStatus> status = value.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return std::nullopt;
  }
  return bytesOf(value.bitcastToAPInt());
}

} // namespace llmc
