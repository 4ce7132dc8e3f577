// ONNX node tests as models: as given, with symbolic dims, or with their inputs as constants.
#ifndef LLMC_TEST_E2E_NODE_TESTS_NODEMODEL_H
#define LLMC_TEST_E2E_NODE_TESTS_NODEMODEL_H

#include <filesystem>
#include <optional>
#include <string>

namespace llmc::test {

enum class Mode {
  Static,   // as given
  Symbolic, // each dim of each input has a name of its own, and the outputs have no shape
  Constant, // inputs are initializers
};

std::optional<Mode> parseMode(const std::string &name);

struct NodeModel {
  std::string bytes;   // of the ONNX file; empty: `problem` says why
  std::string problem; // why the case can not be given in this mode
  bool isRandom = false; // draws numbers, so the stored outputs say nothing
};

/// The model of a folder NAME/{model.onnx, test_data_set_0/{input,output}_I.pb}.
NodeModel readNodeModel(const std::filesystem::path &folder, Mode mode);

} // namespace llmc::test

#endif // LLMC_TEST_E2E_NODE_TESTS_NODEMODEL_H
