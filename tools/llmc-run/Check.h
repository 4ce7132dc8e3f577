//===- Check.h - Runs an artifact on an ONNX test folder ----------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_RUN_CHECK_H
#define LLMC_TOOLS_LLMC_RUN_CHECK_H

#include "llmc/llmc.hpp"
#include "tools/common/Tensor.h"

namespace llmc::tools {

/// An element agrees if |found - expected| <= atol + rtol * |expected|.
struct Tolerance {
  double rtol = 1e-3, atol = 1e-5;
};

/// Runs each test_data_set_* of `folder` (input_N.pb, output_N.pb) and prints a line for each output. Whether all
/// agree.
bool checkFolder(const Plan &plan, int entry, const std::string &folder, const Tolerance &tolerance);

/// Prints how an output compares; whether it agrees.
bool compare(const std::string &name, const TensorView &found, const Tensor &expected, const Tolerance &tolerance);

} // namespace llmc::tools

#endif // LLMC_TOOLS_LLMC_RUN_CHECK_H
