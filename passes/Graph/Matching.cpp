// Constants and uses, for passes that match a shape of ops.
#include "passes/Graph/Matching.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace llmc {

std::optional<std::vector<double>> floatElements(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  std::optional<graph::ConstantView> view = graph::ConstantView::of(attribute);
  auto type = view ? dyn_cast<FloatType>(view->type().getElementType()) : FloatType();
  if (!type)
    return std::nullopt;
  unsigned bits = type.getWidth(), bytes = bits / 8;
  std::vector<double> elements(view->numElements());
  for (auto [i, element] : llvm::enumerate(elements)) {
    uint64_t raw = 0;
    std::memcpy(&raw, view->bytes().data() + i * bytes, bytes);
    APFloat wide(type.getFloatSemantics(), APInt(bits, raw));
    bool losesInfo;
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    element = wide.convertToDouble();
  }
  return elements;
}

std::optional<double> floatScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1)
    return std::nullopt;
  std::optional<std::vector<double>> elements = floatElements(value);
  return elements ? std::optional(elements->front()) : std::nullopt;
}

ElementsAttr makeFloatConstant(RankedTensorType type, ArrayRef<double> values) {
  auto element = cast<FloatType>(type.getElementType());
  unsigned bytes = element.getWidth() / 8;
  std::vector<char> raw(values.size() * bytes);
  for (auto [i, value] : llvm::enumerate(values)) {
    APFloat narrow(value);
    bool losesInfo;
    narrow.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    uint64_t bits = narrow.bitcastToAPInt().getZExtValue();
    std::memcpy(raw.data() + i * bytes, &bits, bytes);
  }
  return graph::makeConstant(type, raw);
}

bool isAbout(double value, double expected, Type elementType) {
  double tolerance = elementType.getIntOrFloatBitWidth() < 32 ? 4e-3 : 1e-5;
  return std::abs(value - expected) <= tolerance * std::abs(expected);
}

bool isScalarAbout(Value value, double expected) {
  std::optional<double> scalar = floatScalar(value);
  return scalar && isAbout(*scalar, expected, getElementTypeOrSelf(value.getType()));
}

bool isUsedOnlyBy(Value value, ArrayRef<Operation *> users) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) { return llvm::is_contained(users, user); });
}

} // namespace llmc
