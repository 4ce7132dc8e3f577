// What operators do with packed lists: see Item.h.
#pragma once

#include "compiler/Import/Item.h"
#include "compiler/Import/NodeContext.h"

namespace llmc {

/// The number of tensors in a list of any form; null after a problem.
graph::DimExpr lengthOf(NodeContext &node, const Item &list);
/// Element number `place` of a packed list, which must be one; a problem if the rank of its elements is not known.
mlir::Value elementAt(NodeContext &node, const Item &list, graph::DimExpr place);
/// A packed list with x in front of element number `place`, or at its end.
Item inserted(NodeContext &node, const Item &list, mlir::Value x, std::optional<graph::DimExpr> place);
/// A packed list without element number `place`, which must be one.
Item erased(NodeContext &node, const Item &list, graph::DimExpr place);
/// Packed lists of these elements, in which each of `trips` trips puts one tensor. `body` makes the tensors of one.
llvm::SmallVector<Item> collected(NodeContext &node, graph::DimExpr trips, llvm::ArrayRef<mlir::Type> elements,
                                  llvm::function_ref<llvm::SmallVector<mlir::Value>(graph::DimExpr trip)> body);

} // namespace llmc
