// Choice of layouts for constant operands.
#include "compiler/EncodeConstants.h"
#include "compiler/Codegen/Cpu/Packing.h"
#include "dialects/Graph/Graph.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace llmc {

using Calls = SmallVector<graph::DispatchOp>;

/// The constant in the given layout: one op per pair.
static Value encoded(graph::ConstantOp constant, StringAttr encoding, llvm::DenseMap<std::pair<Operation *, Attribute>, Value> &made) {
  Value &value = made[{constant, encoding}];
  if (!value) {
    OpBuilder builder(constant);
    Operation *copy = builder.clone(*constant);
    copy->setAttr("graph.encoding", encoding);
    value = copy->getResult(0);
  }
  return value;
}

void encodeConstants(ModuleOp module) {
  llvm::MapVector<Operation *, Calls> callsOf;
  SymbolTable symbols(module);
  module.walk([&](graph::DispatchOp call) { callsOf[symbols.lookup(call.getCallee())].push_back(call); });
  llvm::DenseMap<std::pair<Operation *, Attribute>, Value> made;
  for (auto &[callee, calls] : callsOf) {
    auto function = cast<func::FuncOp>(callee);
    for (unsigned i = 0; i < calls.front().getInputs().size(); ++i) {
      auto constantAt = [&](graph::DispatchOp call) { return call.getInputs()[i].getDefiningOp<graph::ConstantOp>(); };
      if (!llvm::all_of(calls, constantAt))
        continue;
      cpu::Encoding wanted = cpu::chooseEncoding(function, i);
      if (wanted.kind == cpu::Encoding::Kind::Dense)
        continue;
      auto name = StringAttr::get(module.getContext(), wanted.name());
      function.setArgAttr(i, "graph.encoding", name);
      for (graph::DispatchOp call : calls) {
        graph::ConstantOp constant = constantAt(call);
        call.getInputsMutable()[i].assign(encoded(constant, name, made));
        if (constant.use_empty())
          constant.erase();
      }
    }
  }
}

} // namespace llmc
