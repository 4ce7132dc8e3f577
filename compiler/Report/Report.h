// What became of a model: the facts of the report, and its two forms.
#ifndef LLMC_COMPILER_REPORT_REPORT_H
#define LLMC_COMPILER_REPORT_REPORT_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace llmc {

struct CompileOptions;
struct CompileResult;

struct StepReport {
  std::string kind;   // "dispatch", "copy", "loop" ...: the op of the plan dialect
  std::string kernel; // of a dispatch
  std::string device;
  std::string layout; // of weights and images, where it is not the model's
  std::vector<std::string> nodes; // ONNX nodes that the step computes
  uint32_t time;                  // as in BufferReport
  bool inPlace;                   // writes a result over an input
};

/// What happened to a node of the model.
struct NodeReport {
  std::string name, op;
  std::string fate;          // see fateOf in NodeFates.cpp
  std::string pass;          // the one that took it out of the graph; empty if it is in a step
  std::vector<size_t> steps; // that compute it
};

/// A buffer of an arena. Times count steps, with one for the end of each Loop or If.
struct BufferReport {
  std::vector<std::string> nodes; // that make it
  std::string size;               // in bytes: a number, or an expression over the model's dims
  std::optional<int64_t> bytes, offset;
  uint32_t first, last; // times of its first and last use
};

/// Steps in a row on one queue.
struct SegmentReport {
  std::string device;
  std::vector<std::string> nodes;
};

/// A tensor that is copied from one device to another.
struct CrossingReport {
  std::string tensor, from, to;   // tensor: its type
  std::vector<std::string> nodes; // that make it; of an input its name
  std::string size;               // as in BufferReport
};

/// What a pass did, or did not do and why.
struct RemarkReport {
  bool isMissed;
  std::string pass, name;
  std::vector<std::string> nodes;
  std::string text;
};

/// Steps and buffers of the first body of a module in plan form.
void describePlan(mlir::ModuleOp module, std::vector<StepReport> &steps, std::vector<BufferReport> &buffers);

/// Segments and crossings of the same body.
void describeDevices(mlir::ModuleOp module, std::vector<SegmentReport> &segments, std::vector<CrossingReport> &crossings);

/// The report of a compilation as JSON text, and as a page that needs nothing else.
std::string reportJson(const CompileOptions &options, const CompileResult &result);
std::string reportHtml(const CompileOptions &options, const CompileResult &result);

} // namespace llmc

#endif // LLMC_COMPILER_REPORT_REPORT_H
