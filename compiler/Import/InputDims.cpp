// Dims of inputs: from the file, then --shape, then --dim.
#include "compiler/Import/InputDims.h"

using namespace mlir;

namespace llmc {

using graph::DimExpr;
using graph::DimRange;
using graph::Dims;

DimExpr InputDims::dimOf(const onnx::TensorShapeProto::Dimension &dim, const std::string &input, size_t index) {
  // Exporters write 0 or -1 for sizes they do not know.
  if (dim.has_dim_value() && dim.dim_value() > 0)
    return DimExpr::constant(context, dim.dim_value());
  bool isNamed = !dim.dim_param().empty() && dim.dim_param() != "?"; // some exporters' name of a dim that they know nothing of
  std::string name = isNamed ? dim.dim_param() : input + "_dim" + std::to_string(index);
  std::string ignored;
  DimExpr parsed = isNamed ? graph::parseDimExpr(context, name, ignored) : DimExpr();
  if (parsed && parsed.kind() != DimExpr::Kind::Symbol) {
    expressions.push_back({{input, index}, name});
    return parsed;
  }
  symbols.emplace(name, DimRange{});
  return DimExpr::symbol(context, name);
}

bool InputDims::add(const onnx::ValueInfoProto &input, std::string &error) {
  if (input.name().empty()) {
    error = "the input has no name";
    return false;
  }
  if (!input.type().has_tensor_type()) {
    error = "the input is no tensor, which is not supported";
    return false;
  }
  if (!input.type().tensor_type().has_shape()) {
    error = "the input has no shape, and its rank must be known";
    return false;
  }
  Dims dims;
  for (const auto &dim : input.type().tensor_type().shape().dim())
    dims.push_back(dimOf(dim, input.name(), dims.size()));
  inputs[input.name()] = std::move(dims);
  return true;
}

void InputDims::settleExpressions() {
  auto plain = symbols;
  for (const auto &[place, text] : expressions) {
    DimExpr &dim = inputs[place.input][place.index];
    bool follows = true;
    dim.forEachSymbol([&](StringRef symbol) { follows &= plain.contains(symbol); });
    if (follows)
      continue;
    dim = DimExpr::symbol(context, text);
    symbols.emplace(text, DimRange{});
  }
}

bool InputDims::applyShapes(std::string &error) {
  for (const auto &[name, shape] : options.shapes) {
    auto input = inputs.find(name);
    if (input == inputs.end()) {
      error = "the model has no input '" + name + "' to give a shape to";
      return false;
    }
    if (shape.size() != input->second.size()) {
      error = "the shape given for input '" + name + "' has " + std::to_string(shape.size()) + " dims, the model says " +
              std::to_string(input->second.size());
      return false;
    }
    for (auto [i, size] : llvm::enumerate(shape)) {
      DimExpr dim = input->second[i];
      if (size < 0)
        continue;
      if (dim.kind() != DimExpr::Kind::Symbol) {
        claims.push_back({{name, i}, size});
        continue;
      }
      auto [known, isNew] = bound.emplace(dim.symbolName().str(), size);
      if (!isNew && known->second != size) {
        error = "dim " + std::to_string(i) + " of input '" + name + "' is '" + known->first + "', which can not be " +
                std::to_string(known->second) + " and " + std::to_string(size);
        return false;
      }
    }
  }
  return true;
}

/// A name replaces the symbol that a dim is, wherever that stands.
bool InputDims::applyNames(std::string &error) {
  for (const auto &[input, names] : options.dimNames)
    for (auto [i, name] : llvm::enumerate(names)) {
      DimExpr dim = inputs.find(input)->second[i];
      if (name.empty() || (dim.kind() == DimExpr::Kind::Symbol && dim.symbolName() == name))
        continue;
      if (dim.kind() != DimExpr::Kind::Symbol || bound.contains(dim.symbolName())) {
        error = "dim " + std::to_string(i) + " of input '" + input + "' is " + dim.str() + ", which can not be called '" + name + "'";
        return false;
      }
      std::string old = dim.symbolName().str();
      symbols.erase(old);
      symbols.emplace(name, DimRange{});
      for (auto &[other, dims] : inputs)
        for (DimExpr &each : dims)
          each = each.substitute([&](StringRef symbol) { return symbol == old ? DimExpr::symbol(context, name) : DimExpr(); });
    }
  return true;
}

bool InputDims::applyRanges(std::string &error) {
  for (const auto &[name, range] : options.dims) {
    auto symbol = symbols.find(name);
    if (symbol == symbols.end()) {
      error = "the model has no symbolic dim '" + name + "'";
      return false;
    }
    if (auto size = bound.find(name); size != bound.end() && (size->second < range.lo || size->second > range.hi)) {
      error = "dim '" + name + "' is " + std::to_string(size->second) + ", outside of " + std::to_string(range.lo) + ".." +
              std::to_string(range.hi);
      return false;
    }
    symbol->second = range;
    if (range.lo == range.hi)
      bound.emplace(name, range.lo);
  }
  return true;
}

bool InputDims::checkClaims(std::string &error) const {
  for (const auto &[place, size] : claims)
    if (DimExpr dim = inputs.find(place.input)->second[place.index]; !dim.isConstant(size)) {
      error = "dim " + std::to_string(place.index) + " of input '" + place.input + "' is " + dim.str() + ", not " +
              std::to_string(size);
      return false;
    }
  return true;
}

bool InputDims::resolve(std::string &error) {
  settleExpressions();
  if (!applyShapes(error) || !applyNames(error) || !applyRanges(error))
    return false;
  for (auto &[name, dims] : inputs)
    for (DimExpr &dim : dims)
      dim = dim.substitute([&](StringRef symbol) {
        auto size = bound.find(symbol);
        return size == bound.end() ? DimExpr() : DimExpr::constant(context, size->second);
      });
  for (const auto &[symbol, size] : bound)
    symbols.erase(symbol);
  for (const auto &[symbol, range] : symbols)
    dimRanges.set(symbol, range);
  return checkClaims(error);
}

DictionaryAttr InputDims::symbolsAttr() const {
  SmallVector<NamedAttribute> entries;
  for (const auto &[symbol, range] : symbols)
    entries.emplace_back(StringAttr::get(context, symbol), DenseI64ArrayAttr::get(context, {range.lo, range.hi}));
  return DictionaryAttr::get(context, entries);
}

} // namespace llmc
