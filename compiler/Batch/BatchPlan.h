// How the requests of a model may share a run: what the options ask for, held against the graph.
#ifndef LLMC_COMPILER_BATCH_BATCHPLAN_H
#define LLMC_COMPILER_BATCH_BATCHPLAN_H

#include "compiler/Batch/BatchOptions.h"
#include "compiler/Import/OnnxImporter.h"
#include "dialects/Graph/Graph.h"
#include "runtime/schema/plan_generated.h"

namespace llmc {

/// `table` is what the artifact says; a proof that is empty is to come from a trial. The rest is what trials need.
struct BatchPlan {
  struct Tensor {
    std::string name;
    graph::Dims dims;
    bool isMask = false;
  };
  /// What the graph could not prove, and how far it came: the node where rows, or places of a bucket's dim, first meet.
  struct Doubt {
    std::string reason;
    bool mixes = false;
  };

  plan::BatchingT table;
  std::string dim;                     // as the model calls it
  std::vector<std::string> bucketDims; // the same, per bucket
  std::vector<Tensor> inputs, outputs;
  std::map<std::string, graph::DimRange> symbols;
  Doubt rowDoubt;                  // if table.row_proof is empty
  std::vector<Doubt> bucketDoubts; // per bucket, if its proof is empty

  /// Requests lie one after the other along the dim, and inputs say where.
  bool isPacked() const { return !table.generated.empty(); }
  /// The kind of an input that the runtime makes; null for others.
  const plan::GeneratedT *generatedOf(uint32_t input) const;
  /// The most requests that the dims of the inputs which the runtime makes allow.
  int64_t maxRequests() const;
  bool needsTrial() const;
};

/// For the module's function in graph form, after the passes of that phase. Reports what can not be, and who is at fault: the options,
/// or a model whose rows are known to influence each other.
mlir::FailureOr<BatchPlan> planBatches(mlir::ModuleOp module, const BatchOptions &options, Fault &fault);

} // namespace llmc

#endif // LLMC_COMPILER_BATCH_BATCHPLAN_H
