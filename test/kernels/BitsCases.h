// Calls that make each kernel do its work, for tests that compare two builds of it: shapes and attributes per kernel,
// run over every element type on seeded data.
#ifndef LLMC_TEST_KERNELS_BITSCASES_H
#define LLMC_TEST_KERNELS_BITSCASES_H

#include "kernels/abi/kernel_abi.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

using Ints = std::vector<int64_t>;

/// Where an operand's element type comes from.
enum class Element { Swept, Truth, Index, AnyFloat, Double };

struct OperandCase {
  Ints dims;
  Element element = Element::Swept;
};

struct KernelCase {
  std::vector<OperandCase> inputs;
  OperandCase output;
  Ints ints = {};
  std::vector<double> floats = {};
  std::vector<OperandCase> furtherOutputs = {};
};

/// The cases of a kernel; empty if there is none.
const std::vector<KernelCase> &casesOf(const std::string &mnemonic);

/// What a call left behind.
struct Outcome {
  int32_t status;
  llmc_error error;
  Ints dims;
  std::vector<char> bytes;

  /// Replaces each NaN of a float output by one NaN: which of two operands gives sign and payload is the instruction's
  /// choice.
  void mergeNans(int32_t dtype);
  bool operator==(const Outcome &other) const;
};

/// Runs a case with `dtype` for swept operands. `outputDtype` is that of a swept output (it differs for casts).
Outcome runCase(llmc_reference_kernel kernel, const KernelCase &description, int32_t dtype, int32_t outputDtype,
                uint32_t seed);

} // namespace llmc::test

#endif // LLMC_TEST_KERNELS_BITSCASES_H
