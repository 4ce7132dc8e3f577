// Constants and uses, for passes that match a shape of ops.
#include "passes/Graph/Matching.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace llmc {

/// f32 and f64 go without APFloat: weights are millions of them.
template <typename T> static std::vector<double> widened(ArrayRef<char> bytes) {
  std::vector<double> elements(bytes.size() / sizeof(T));
  for (size_t i = 0; i < elements.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    elements[i] = element;
  }
  return elements;
}

template <typename T> static std::vector<char> narrowed(ArrayRef<double> elements) {
  std::vector<char> bytes(elements.size() * sizeof(T));
  for (size_t i = 0; i < elements.size(); ++i) {
    T element = static_cast<T>(elements[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

/// f16 and bf16.
static double widened(const char *bytes, FloatType type) {
  uint16_t raw;
  std::memcpy(&raw, bytes, sizeof raw);
  APFloat value(type.getFloatSemantics(), APInt(16, raw));
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

static uint16_t narrowed(double element, FloatType type) {
  APFloat value(element);
  bool losesInfo;
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
}

std::optional<std::vector<double>> floatElements(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  std::optional<graph::ConstantView> view = graph::ConstantView::of(attribute);
  auto type = view ? dyn_cast<FloatType>(view->type().getElementType()) : FloatType();
  if (!type)
    return std::nullopt;
  if (type.isF32())
    return widened<float>(view->bytes());
  if (type.isF64())
    return widened<double>(view->bytes());
  std::vector<double> elements(view->numElements());
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = widened(view->bytes().data() + i * sizeof(uint16_t), type);
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
  if (element.isF32())
    return graph::makeConstant(type, narrowed<float>(values));
  if (element.isF64())
    return graph::makeConstant(type, narrowed<double>(values));
  auto raw = llvm::map_to_vector(values, [&](double value) { return narrowed(value, element); });
  return graph::makeConstant(type, ArrayRef(reinterpret_cast<const char *>(raw.data()), raw.size() * sizeof(uint16_t)));
}

bool isAbout(double value, double expected, Type elementType) {
  double tolerance = elementType.getIntOrFloatBitWidth() < 32 ? 4e-3 : 1e-5;
  return std::abs(value - expected) <= tolerance * std::abs(expected);
}

bool isScalarAbout(Value value, double expected) {
  std::optional<double> scalar = floatScalar(value);
  return scalar && isAbout(*scalar, expected, getElementTypeOrSelf(value.getType()));
}

Location locationFrom(Value x, Operation *last) {
  llvm::SetVector<Operation *> pieces;
  std::function<void(Operation *)> visit = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); operand != x && producer && !pieces.contains(producer))
        visit(producer);
    pieces.insert(op);
  };
  visit(last);
  auto isCode = [](Operation *piece) { return !isa<graph::ConstantOp>(piece); };
  return FusedLoc::get(last->getContext(), llvm::map_to_vector(llvm::make_filter_range(pieces, isCode), [](Operation *piece) { return piece->getLoc(); }));
}

bool isUsedOnlyBy(Value value, ArrayRef<Operation *> users) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) { return llvm::is_contained(users, user); });
}

} // namespace llmc
