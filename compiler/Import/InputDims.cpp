// Dims of inputs: from the file, then --shape, then --dim.
#include "compiler/Import/InputDims.h"

using namespace mlir;

namespace llmc {

using graph::DimExpr;
using graph::DimRange;
using graph::Dims;

DimExpr InputDims::dimOf(const onnx::TensorShapeProto::Dimension &dim, const std::string &input, int index) {
  // Exporters write 0 or -1 for sizes they do not know.
  if (dim.has_dim_value() && dim.dim_value() > 0)
    return DimExpr::constant(context, dim.dim_value());
  if (!dim.has_dim_param() || dim.dim_param().empty())
    return DimExpr::symbol(context, input + "_dim" + std::to_string(index));
  std::string ignored;
  DimExpr parsed = graph::parseDimExpr(context, dim.dim_param(), ignored);
  return parsed ? parsed : DimExpr::symbol(context, dim.dim_param());
}

bool InputDims::bind(DimExpr dim, int64_t size, std::string &error) {
  auto [known, isNew] = bound.emplace(dim.symbolName().str(), size);
  if (isNew || known->second == size)
    return true;
  error = "dim '" + known->first + "' is " + std::to_string(known->second) + " and " + std::to_string(size);
  return false;
}

bool InputDims::add(const onnx::ValueInfoProto &input, std::string &error) {
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
  if (auto given = options.shapes.find(input.name()); given != options.shapes.end()) {
    if (given->second.size() != dims.size()) {
      error = "the shape given has " + std::to_string(given->second.size()) + " dims, the model says " +
              std::to_string(dims.size());
      return false;
    }
    for (auto [i, size] : llvm::enumerate(given->second)) {
      if (size < 0)
        continue;
      if (dims[i].kind() != DimExpr::Kind::Symbol)
        claims.push_back({input.name(), i, size});
      else if (!bind(dims[i], size, error))
        return false;
    }
  }
  for (DimExpr dim : dims)
    dim.forEachSymbol([&](StringRef symbol) { symbols.emplace(symbol.str(), DimRange{}); });
  inputs[input.name()] = std::move(dims);
  return true;
}

bool InputDims::resolve(std::string &error) {
  for (const auto &[name, shape] : options.shapes)
    if (!inputs.contains(name)) {
      error = "the model has no input '" + name + "' to give a shape to";
      return false;
    }
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
  for (auto &[name, dims] : inputs)
    for (DimExpr &dim : dims)
      dim = dim.substitute([&](StringRef symbol) {
        auto size = bound.find(symbol);
        return size == bound.end() ? DimExpr() : DimExpr::constant(context, size->second);
      });
  for (const auto &[symbol, size] : bound)
    symbols.erase(symbol);
  for (const Claim &claim : claims)
    if (DimExpr dim = inputs[claim.input][claim.index]; !dim.isConstant(claim.size)) {
      error = "dim " + std::to_string(claim.index) + " of input '" + claim.input + "' is " + dim.str() + ", not " +
              std::to_string(claim.size);
      return false;
    }
  for (const auto &[symbol, range] : symbols)
    dimRanges.set(symbol, range);
  return true;
}

DictionaryAttr InputDims::symbolsAttr() const {
  SmallVector<NamedAttribute> entries;
  for (const auto &[symbol, range] : symbols)
    entries.emplace_back(StringAttr::get(context, symbol), DenseI64ArrayAttr::get(context, {range.lo, range.hi}));
  return DictionaryAttr::get(context, entries);
}

} // namespace llmc
