// What a name of the model stands for: a tensor, or what is made of tensors, such as a list.
//
// A list of which all is known at compile time is its elements, one by one. Where its length depends on the run it is packed: the
// elements of all its tensors one after the other (`values`), and a row of `shapes` for each: its dims, filled up with -1.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>
#include <vector>

namespace llmc {

class NodeContext;

struct Form {
  enum class Kind {
    Tensor,
    List,     // its elements
    Packed,   // values: T[?], shapes: i64[?, packedRank]
    Optional, // bool, and what it holds, if it may hold something
    Strings   // a tensor of strings: bytes: ui8[?], ends: i64[...], where each ends in them
  };
  Kind kind = Kind::Tensor;
  mlir::Type element;          // of a tensor, or of the tensors of a list
  std::optional<int64_t> rank; // of a tensor, or of strings; of a packed list: of its tensors, if all have the same one
  std::vector<Form> parts;     // of a list: its elements. Of an optional: what it holds

  bool isList() const { return kind == Kind::List || kind == Kind::Packed; }
  size_t numTensors() const;
  /// "a tensor" and so on.
  llvm::StringRef describe() const;
};

/// Dims of the greatest tensor, the width of `shapes`.
inline constexpr int64_t packedRank = 8;

struct Item {
  Form form;
  llvm::SmallVector<mlir::Value, 2> tensors; // in the order of the form

  Item() = default;
  Item(mlir::Value tensor);
  Item(Form form, llvm::SmallVector<mlir::Value, 2> tensors) : form(std::move(form)), tensors(std::move(tensors)) {}
  /// One of these tensors, the first of which are taken away.
  static Item takeFrom(llvm::ArrayRef<mlir::Value> &tensors, const Form &form);

  explicit operator bool() const { return form.kind != Form::Kind::Tensor || (!tensors.empty() && tensors[0]); }
  bool isTensor() const { return form.kind == Form::Kind::Tensor; }
  bool isList() const { return form.isList(); }
  /// Null unless it is one.
  mlir::Value tensor() const { return isTensor() && !tensors.empty() ? tensors[0] : mlir::Value(); }
  /// Element i of a list that is known; what an optional holds.
  Item part(size_t i) const;
};

/// Whether items of both forms have the same tensors, whatever the ranks of those outside of lists.
bool isSame(const Form &lhs, const Form &rhs);
/// The form that items of both can take; a problem of the node if there is none.
Form join(NodeContext &node, const Form &lhs, const Form &rhs);
/// The item in a form that is joined of its own and others, made at the builder's place.
Item convert(NodeContext &node, const Item &item, const Form &form);
/// An item of that form that nobody reads.
Item placeholder(NodeContext &node, const Form &form);
/// The list in a form that has any number of elements.
Item packed(NodeContext &node, const Item &list);
Item listOf(mlir::Type element, llvm::ArrayRef<Item> elements);
/// What an optional holds; each run fails in which it holds nothing. Other items are what they are.
Item held(NodeContext &node, const Item &item);

} // namespace llmc
