// The symbolic dims of a model's inputs, under the sizes and ranges that the user gives.
#pragma once

#include "compiler/Import/OnnxImporter.h"
#include "compiler/Import/onnx.pb.h"

namespace llmc {

/// A dim_param is a symbol. One that is an expression ("P + S") is read as such if every symbol in it is also a dim of its own, since
/// only then its value follows from the inputs; else ("batch-size") it is a name like any other.
class InputDims {
public:
  InputDims(mlir::MLIRContext *context, const ImportOptions &options) : context(context), options(options) {}

  /// Adds an input. False, and `error` says why, if its type has no shape.
  bool add(const onnx::ValueInfoProto &input, std::string &error);
  /// To be called once, after the last input. False, and `error` says why, if an option names nothing or contradicts the model.
  bool resolve(std::string &error);

  // After resolve():
  const graph::Dims &dims(llvm::StringRef input) const { return inputs.find(input)->second; }
  const graph::DimRanges &ranges() const { return dimRanges; }
  /// symbol -> [lo, hi], for the symbols that are left.
  mlir::DictionaryAttr symbolsAttr() const;

private:
  graph::DimExpr dimOf(const onnx::TensorShapeProto::Dimension &dim, const std::string &input, size_t index);
  void settleExpressions();
  bool applyShapes(std::string &error);
  bool applyNames(std::string &error);
  bool applyRanges(std::string &error);
  bool checkClaims(std::string &error) const;

  mlir::MLIRContext *context;
  const ImportOptions &options;
  std::map<std::string, graph::Dims, std::less<>> inputs;
  std::map<std::string, graph::DimRange, std::less<>> symbols;
  std::map<std::string, int64_t, std::less<>> bound; // symbols that are numbers
  struct Place {
    std::string input;
    size_t index;
  };
  std::vector<std::pair<Place, std::string>> expressions; // dims that may be expressions, and their text
  std::vector<std::pair<Place, int64_t>> claims;          // sizes given for dims that are no plain symbol
  graph::DimRanges dimRanges;
};

} // namespace llmc
