// Runs an artifact on the data of a node test.
#ifndef LLMC_TEST_E2E_NODE_TESTS_RUNARTIFACT_H
#define LLMC_TEST_E2E_NODE_TESTS_RUNARTIFACT_H

#include <filesystem>
#include <string>

namespace llmc::test {

/// Runs on `threads` threads. Gives `artifact` the inputs of the folder `dataSet`, input_0.pb ... (none if it has no inputs), and
/// compares all outputs with output_0.pb ...: shape and type must be equal, floats to 1e-3 relative or 1e-5 absolute (bf16: 1e-2),
/// all else to the bit. Returns what is wrong; empty: nothing.
std::string checkArtifact(const std::filesystem::path &artifact, const std::filesystem::path &dataSet, int threads);

} // namespace llmc::test

#endif // LLMC_TEST_E2E_NODE_TESTS_RUNARTIFACT_H
