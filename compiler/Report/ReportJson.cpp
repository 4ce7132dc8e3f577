// The report as JSON; the page shows the same.
#include "compiler/Compiler.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

namespace llmc {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace {

Value toJson(const std::string &text) { return text; }
Value toJson(const PhaseTime &phase) { return Object{{"name", phase.name}, {"seconds", phase.seconds}}; }
Value toJson(const KernelInfo &kernel) {
  return Object{{"name", kernel.name}, {"template", kernel.kernelTemplate}, {"fallback_reason", kernel.fallbackReason}};
}
Value toJson(const StepReport &step) {
  return Object{{"kind", step.kind}, {"kernel", step.kernel}, {"device", step.device}, {"layout", step.layout},
                {"nodes", Array(step.nodes)}, {"time", step.time}, {"in_place", step.inPlace}};
}
Value toJson(const NodeReport &node) {
  Object object{{"name", node.name}, {"op", node.op}, {"fate", node.fate}, {"steps", Array(node.steps)}};
  if (!node.pass.empty())
    object["pass"] = node.pass;
  return object;
}
Value toJson(const BufferReport &buffer) {
  Object object{{"nodes", Array(buffer.nodes)}, {"size", buffer.size}, {"first", buffer.first}, {"last", buffer.last}};
  if (buffer.bytes)
    object["bytes"] = *buffer.bytes;
  if (buffer.offset)
    object["offset"] = *buffer.offset;
  return object;
}
Value toJson(const SegmentReport &segment) { return Object{{"device", segment.device}, {"nodes", Array(segment.nodes)}}; }
Value toJson(const CrossingReport &crossing) {
  return Object{{"tensor", crossing.tensor}, {"nodes", Array(crossing.nodes)}, {"size", crossing.size}, {"from", crossing.from}, {"to", crossing.to}};
}
Value toJson(const RemarkReport &remark) {
  return Object{{"missed", remark.isMissed}, {"pass", remark.pass}, {"name", remark.name}, {"nodes", Array(remark.nodes)}, {"text", remark.text}};
}

template <typename Items> Array listOf(const Items &items) {
  Array array;
  for (const auto &item : items)
    array.push_back(toJson(item));
  return array;
}

Object arenaOf(const CompileResult &result) {
  Object arena{{"in_place_steps", llvm::count_if(result.steps, [](const StepReport &step) { return step.inPlace; })},
               {"buffers", listOf(result.buffers)}};
  if (result.arenaPeak) {
    arena["peak_bytes"] = *result.arenaPeak;
    arena["lower_bound_bytes"] = *result.arenaBound;
  }
  return arena;
}

Array numbers(const std::vector<uint64_t> &list) {
  Array array;
  for (uint64_t number : list)
    array.push_back(static_cast<int64_t>(number));
  return array;
}

/// Axes by name of the tensor; those without one are left out.
Object axesOf(const std::vector<BatchPlan::Tensor> &tensors, const std::vector<uint32_t> &axes) {
  Object object;
  for (auto [tensor, axis] : llvm::zip_equal(tensors, axes))
    if (axis != UINT32_MAX)
      object[tensor.name] = axis;
  return object;
}

Object batchingOf(const BatchPlan &batch) {
  Array buckets;
  for (auto &bucket : batch.table.buckets)
    buckets.push_back(Object{{"dim", bucket->name}, {"edges", numbers(bucket->edges)}, {"proof", bucket->proof},
                             {"inputs", axesOf(batch.inputs, bucket->input_axes)}, {"outputs", axesOf(batch.outputs, bucket->output_axes)}});
  Object generated;
  for (auto &input : batch.table.generated)
    generated[batch.inputs[input->input].name] = nameOf(input->kind);
  return Object{{"dim", batch.table.dim}, {"generated", std::move(generated)}, {"sizes", numbers(batch.table.sizes)}, {"proof", batch.table.row_proof}, {"buckets", std::move(buckets)},
                {"inputs", axesOf(batch.inputs, batch.table.input_axes)}, {"outputs", axesOf(batch.outputs, batch.table.output_axes)}};
}

Object artifactOf(const ArtifactInfo &artifact) {
  return Object{{"file_bytes", static_cast<int64_t>(artifact.fileBytes)},
                {"plan_bytes", static_cast<int64_t>(artifact.planBytes)},
                {"constant_bytes", static_cast<int64_t>(artifact.constantBytes)},
                {"code_bytes", static_cast<int64_t>(artifact.codeBytes)},
                {"steps", static_cast<int64_t>(artifact.steps)}};
}

} // namespace

std::string reportJson(const CompileOptions &options, const CompileResult &result) {
  Object report{{"model", llvm::sys::path::filename(options.modelPath)},
                {"version", options.version},
                {"optimisation", options.optimisation},
                {"levels", listOf(result.levels)},
                {"phases", listOf(result.phases)},
                {"artifact", artifactOf(result.artifact)},
                {"arena", arenaOf(result)},
                {"fallbacks", listOf(result.fallbacks())},
                {"kernels", listOf(result.kernels)},
                {"steps", listOf(result.steps)},
                {"segments", listOf(result.segments)},
                {"crossings", listOf(result.crossings)},
                {"nodes", listOf(result.nodes)},
                {"remarks", listOf(result.remarks)}};
  if (result.batch)
    report["batching"] = batchingOf(*result.batch);
  return llvm::formatv("{0:2}\n", Value(std::move(report))).str();
}

} // namespace llmc
