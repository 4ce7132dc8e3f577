// One way to read the elements of any constant attribute: dense, splat or resource.
#ifndef LLMC_DIALECTS_GRAPH_CONSTANTVIEW_H
#define LLMC_DIALECTS_GRAPH_CONSTANTVIEW_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <vector>

namespace llmc::graph {

/// Bytes of one element in memory (bool: 1).
int64_t elementBytes(mlir::Type elementType);

/// Elements as dense row-major bytes, bools one byte each. Views the attribute where its storage is that already, else owns a
/// copy. Nothing aligns the bytes: read them with memcpy. The attribute must outlive the view.
class ConstantView {
public:
  /// Nothing if the attribute holds no tensor of numbers, or a resource without (or of the wrong size of) data.
  static std::optional<ConstantView> of(mlir::Attribute attribute);
  mlir::RankedTensorType type() const { return tensorType; }
  llvm::ArrayRef<char> bytes() const { return viewed; }
  /// Whether bytes() lie in the attribute's storage.
  bool isView() const { return owned.empty(); }
  int64_t numElements() const { return tensorType.getNumElements(); }
  /// The elements as integers; integer and bool element types only.
  llvm::SmallVector<int64_t> integers() const;

  ConstantView(ConstantView &&) = default;
  ConstantView &operator=(ConstantView &&) = default;

private:
  explicit ConstantView(mlir::RankedTensorType type) : tensorType(type) {}
  mlir::RankedTensorType tensorType;
  llvm::ArrayRef<char> viewed;
  std::vector<char> owned;
};

/// The inverse: a constant of dense row-major bytes. Up to 1 KiB a dense attribute, else a resource that owns a copy.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);
/// A constant that views bytes which outlive the context, such as a mapped file. Any alignment.
mlir::ElementsAttr makeViewedConstant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes, llvm::StringRef name);
/// A one-dimensional i64 constant.
mlir::ElementsAttr makeIndexConstant(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> values);

} // namespace llmc::graph

#endif // LLMC_DIALECTS_GRAPH_CONSTANTVIEW_H
