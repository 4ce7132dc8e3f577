// One run of an artifact under trial: inputs drawn for given rows and sizes.
#ifndef LLMC_COMPILER_BATCH_TRIALRUN_H
#define LLMC_COMPILER_BATCH_TRIALRUN_H

#include "compiler/Batch/BatchPlan.h"
#include "runtime/exec/Session.h"

namespace llmc {

using Sizes = std::map<std::string, int64_t>; // of symbolic dims

struct TrialOutput {
  plan::DType type;
  std::vector<int64_t> dims;
  std::vector<std::byte> data;
};
using TrialOutputs = std::vector<TrialOutput>;

class TrialRun {
public:
  TrialRun(std::shared_ptr<rt::LoadedPlan> plan, const BatchPlan &batch);

  /// Finds sizes for dims that are neither the batch's nor a bucket's, and integers that the model takes. What is wrong; "" if nothing.
  std::string settle();
  /// Runs `rows`, each of which has the same data at each place and in each size. Dims of buckets have `lengths`, padded to `padded`.
  /// In a packed batch rows that follow each other are of one request if they agree in what is above the lower 32 bits.
  rt::Result<TrialOutputs> run(llvm::ArrayRef<uint64_t> rows, const Sizes &lengths, const Sizes &padded);
  rt::Result<TrialOutputs> run(llvm::ArrayRef<uint64_t> rows, const Sizes &lengths) { return run(rows, lengths, lengths); }
  /// The first edges of all buckets.
  const Sizes &firstLengths() const { return lengths; }

private:
  rt::Status fill(uint32_t input, llvm::ArrayRef<uint64_t> rows, const Sizes &lengths, const Sizes &sizes);
  std::string trySizes(int64_t free);
  bool isSet(llvm::StringRef name) const;
  void describePacking(llvm::ArrayRef<uint64_t> rows);

  std::shared_ptr<rt::LoadedPlan> plan;
  const BatchPlan &batch;
  rt::Session session;
  Sizes lengths, others;
  std::vector<uint64_t> requestNumbers; // of a packed batch
  std::vector<int64_t> requestLengths;  // parallel to it
  std::vector<int64_t> limits;               // per input: integers are drawn below it
  std::vector<std::vector<std::byte>> memory; // per input
};

} // namespace llmc

#endif // LLMC_COMPILER_BATCH_TRIALRUN_H
