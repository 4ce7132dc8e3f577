// Remarks of passes: printed, collected for the report, or both.
#ifndef LLMC_COMPILER_REPORT_REMARKS_H
#define LLMC_COMPILER_REPORT_REMARKS_H

#include "compiler/Report/Report.h"

namespace llmc {

/// From now on remarks of passes whose names match `filter`, unless it is empty, are diagnostics of `context`; all go to `collected`,
/// unless that is null. Fails if `filter` is no regular expression.
mlir::LogicalResult enableRemarks(mlir::MLIRContext &context, const std::string &filter, std::vector<RemarkReport> *collected);

} // namespace llmc

#endif // LLMC_COMPILER_REPORT_REMARKS_H
