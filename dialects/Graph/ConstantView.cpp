// Reading and making constants.
#include "dialects/Graph/ConstantView.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>

using namespace mlir;

namespace llmc::graph {

int64_t elementBytes(Type elementType) { return (elementType.getIntOrFloatBitWidth() + 7) / 8; }

std::optional<ConstantView> ConstantView::of(Attribute attribute) {
  auto elements = dyn_cast_if_present<ElementsAttr>(attribute);
  auto type = elements ? dyn_cast<RankedTensorType>(elements.getType()) : RankedTensorType();
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  ConstantView view(type);
  int64_t size = elementBytes(type.getElementType()), count = type.getNumElements();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != size * count)
      return std::nullopt;
    view.viewed = blob->getData();
    return view;
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return std::nullopt;
  if (type.getElementType().isInteger(1)) {
    for (bool value : dense.getValues<bool>())
      view.owned.push_back(value);
  } else if (dense.isSplat()) {
    view.owned.resize(size * count);
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(view.owned.data() + i * size, dense.getRawData().data(), size);
  } else {
    view.viewed = dense.getRawData();
    return view;
  }
  view.viewed = view.owned;
  return view;
}

SmallVector<int64_t> ConstantView::integers() const {
  auto element = cast<IntegerType>(tensorType.getElementType());
  unsigned bits = element.getWidth() == 1 ? 8 : element.getWidth();
  SmallVector<int64_t> values;
  for (int64_t i = 0, size = bits / 8; i < numElements(); ++i) {
    uint64_t raw = 0;
    std::memcpy(&raw, viewed.data() + i * size, size);
    unsigned spare = 64 - bits;
    bool isUnsigned = element.isUnsigned() || element.getWidth() == 1;
    values.push_back(isUnsigned ? static_cast<int64_t>(raw) : static_cast<int64_t>(raw << spare) >> spare);
  }
  return values;
}

/// Above this a value is a resource: dense attributes are hashed and uniqued byte by byte.
constexpr size_t largestDense = 1024;

ElementsAttr makeConstant(RankedTensorType type, ArrayRef<char> bytes) {
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values = llvm::map_to_vector(bytes, [](char byte) { return byte != 0; });
    return DenseElementsAttr::get(type, values);
  }
  if (bytes.size() <= largestDense)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  return DenseResourceElementsAttr::get(type, "folded", HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
}

ElementsAttr makeViewedConstant(RankedTensorType type, ArrayRef<char> bytes, StringRef name) {
  if (bytes.size() <= largestDense || type.getElementType().isInteger(1))
    return makeConstant(type, bytes);
  return DenseResourceElementsAttr::get(type, name, UnmanagedAsmResourceBlob::allocateWithAlign(bytes, 1));
}

ElementsAttr makeIndexConstant(MLIRContext *context, ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, IntegerType::get(context, 64));
  return DenseElementsAttr::get(type, values);
}

} // namespace llmc::graph
