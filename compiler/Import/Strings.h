// Strings as tensors: `bytes`, those of all strings one after the other, and `ends`, where each ends, in the shape of the tensor.
#pragma once

#include "compiler/Import/Item.h"
#include "compiler/Import/NodeContext.h"

namespace llmc {

/// Pieces of bytes, in one list.
struct Pieces {
  mlir::Value bytes, starts, ends; // starts and ends: i64[n]
};

Item constantStrings(NodeContext &node, llvm::ArrayRef<std::string> strings, llvm::ArrayRef<int64_t> dims);
/// A tensor of the model.
Item constantStrings(NodeContext &node, const onnx::TensorProto &tensor);
/// The strings, each as a piece.
Pieces piecesOf(NodeContext &node, const Item &strings);
/// How many there are, as a scalar.
mlir::Value numberOf(NodeContext &node, const Pieces &pieces);
/// All pieces of both.
Pieces joined(NodeContext &node, const Pieces &lhs, const Pieces &rhs);
/// The pieces at these places of any shape, as strings.
Item picked(NodeContext &node, const Pieces &pieces, mlir::Value places);
/// [0, 1 ...] in the shape of the strings.
mlir::Value placesOf(NodeContext &node, const Item &strings);
/// The bytes of each piece as i32[n, width], filled up with -1, for the greatest length of a piece, or more.
mlir::Value characters(NodeContext &node, const Pieces &pieces, graph::DimExpr width);
/// The greatest length of a piece.
graph::DimExpr widthOf(NodeContext &node, const Pieces &pieces);
/// Whether string i of `lhs` is string j of `rhs`: [n, m].
mlir::Value matches(NodeContext &node, const Pieces &lhs, const Pieces &rhs);
/// The number of strings in `table` that are equal to those in `pieces`, or the size of the table where there is none: i64[n].
mlir::Value lookUp(NodeContext &node, const Pieces &pieces, const Pieces &table);

/// Equal of strings.
void equalStrings(NodeContext &node);
/// Runs the converter of an operator that only moves elements, or says where they are, on the places of strings. `convert` gives the
/// results for these inputs. Nothing if the operator is no such one.
std::optional<llvm::SmallVector<Item>> moveStrings(NodeContext &node, llvm::StringRef op, llvm::ArrayRef<Item> inputs,
                                                   llvm::function_ref<llvm::SmallVector<Item>(llvm::ArrayRef<Item>)> convert);

} // namespace llmc
