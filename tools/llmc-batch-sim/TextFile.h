//===- TextFile.h - Files of numbers, a few on each line ----------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_TEXTFILE_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_TEXTFILE_H

#include <functional>
#include <string>
#include <vector>

namespace llmc::sim {

/// Calls `take` for each line that has numbers; # begins a comment. A line that is refused, or a file without any, is
/// an error that names it.
void readLines(const std::string &path, const std::function<bool(const std::vector<double> &)> &take);

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_TEXTFILE_H
