// Runs an artifact on seeded data, to see what the graph could not prove: that rows do not influence each other, and that padding
// reaches nothing.
#ifndef LLMC_COMPILER_BATCH_BATCHTRIAL_H
#define LLMC_COMPILER_BATCH_BATCHTRIAL_H

#include "compiler/Batch/BatchPlan.h"

namespace llmc {

/// Fills the proofs that are missing in `batch.table`, by runs of the artifact at `path`. What is wrong; "" if nothing is.
std::string tryBatches(const std::string &path, unsigned threads, BatchPlan &batch);

} // namespace llmc

#endif // LLMC_COMPILER_BATCH_BATCHTRIAL_H
