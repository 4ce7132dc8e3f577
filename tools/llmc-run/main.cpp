//===- main.cpp - llmc-run: runs an artifact ----------------------------------------------------------------------===//

#include "tools/common/Inputs.h"
#include "tools/common/Tool.h"
#include "tools/llmc-run/Check.h"
#include "tools/llmc-run/Profile.h"
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>

using namespace llmc;
using namespace llmc::tools;

namespace {

struct RunOptions : InputOptions {
  std::string outputDir, profile, check;
  Tolerance tolerance;
  int repeat = 1;
};

double millisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// NAME with every character outside [A-Za-z0-9._-] as `_`; a second file of that name gets `.2`.
std::string fileStem(const std::string &name, std::set<std::string> &taken) {
  std::string stem = name;
  for (char &c : stem)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-')
      c = '_';
  std::string unique = stem;
  for (int n = 2; !taken.insert(unique).second; ++n)
    unique = stem + "." + std::to_string(n);
  return unique;
}

void writeOutputs(const Plan &plan, const Session &session, int entry, const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    badData("can not make the folder '" + folder + "': " + error.message());
  std::set<std::string> taken;
  for (int i = 0; i < plan.numOutputs(entry); ++i) {
    TensorView view = session.output(i);
    std::span data(static_cast<const std::byte *>(view.data), view.size);
    std::string name = plan.output(i, entry).name, path = folder + "/" + fileStem(name, taken);
    if (npyHolds(view.type))
      writeFile(path + ".npy", formatNpy(view.type, view.dims, data));
    else
      writeFile(path + ".pb", formatTensorProto(name, view.type, view.dims, data));
  }
}

/// Name, type and the first elements of each output.
void printOutputs(const Plan &plan, const Session &session, int entry) {
  for (int i = 0; i < plan.numOutputs(entry); ++i) {
    TensorView view = session.output(i);
    int64_t elements = int64_t(view.size / llmc_type_size(view.type));
    std::cout << plan.output(i, entry).name << ": " << describeType(view.type, view.dims) << " =";
    for (int64_t e = 0; e < std::min<int64_t>(elements, 8); ++e)
      std::cout << ' ' << elementAt(view.type, static_cast<const std::byte *>(view.data), e);
    std::cout << (elements > 8 ? " ...\n" : "\n");
  }
}

int runInputs(const Plan &plan, int entry, const RunOptions &options) {
  std::vector<Tensor> inputs = makeInputs(plan, entry, options);
  Session session(plan, entry);
  setInputs(session, inputs);
  bool isProfiled = !options.profile.empty();
  Profile profile;
  if (isProfiled)
    profile.attach(session);
  std::vector<double> times;
  for (int i = 0; i < options.repeat; ++i) {
    if (isProfiled)
      profile.beginRun();
    auto begin = std::chrono::steady_clock::now();
    session.run();
    if (isProfiled)
      profile.endRun();
    times.push_back(millisecondsSince(begin));
  }
  std::cerr << "first run " << times.front() << " ms";
  if (options.repeat > 1) {
    std::sort(times.begin(), times.end());
    std::cerr << ", median of " << times.size() << ' ' << times[times.size() / 2] << " ms, best " << times[0] << " ms";
  }
  std::cerr << '\n';
  if (!options.load.deviceProfile.empty())
    std::cerr << "virtual time " << double(session.virtualTime()) / 1000 << " us\n";
  printOutputs(plan, session, entry);
  if (!options.outputDir.empty())
    writeOutputs(plan, session, entry, options.outputDir);
  if (isProfiled)
    profile.write(options.profile);
  return kGood;
}

int run(const RunOptions &options) {
  auto begin = std::chrono::steady_clock::now();
  Plan plan(options.artifact, options.load);
  std::cerr << "loaded in " << millisecondsSince(begin) << " ms, cpu level " << plan.cpuLevel() << ", "
            << plan.threads() << (plan.threads() == 1 ? " thread\n" : " threads\n");
  int entry = findEntry(plan, options.entry);
  if (!options.check.empty())
    return checkFolder(plan, entry, options.check, options.tolerance) ? kGood : kBadData;
  return runInputs(plan, entry, options);
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs a compiled model and prints its outputs", "llmc-run");
  RunOptions options;
  options.addTo(app);
  app.add_option("--output-dir", options.outputDir,
                 "Write each output to DIR/NAME.npy (NAME.pb for types that npy lacks)");
  app.add_flag("--verify", options.load.verifyConstants, "Compare the weights with their hashes first");
  app.add_option("--repeat", options.repeat, "Run N times and print the times")->check(CLI::Range(1, 1000000000));
  app.add_option("--profile", options.profile,
                 "Write what each step took to FILE: a table, or for .json a Chrome trace (ui.perfetto.dev)");
  app.add_option("--check", options.check,
                 "Run an ONNX test folder (test_data_set_*/input_N.pb, output_N.pb) and compare");
  app.add_option("--rtol", options.tolerance.rtol, "Relative tolerance of --check")->capture_default_str();
  app.add_option("--atol", options.tolerance.atol, "Absolute tolerance of --check")->capture_default_str();
  describe(app, "  llmc-run model.llmc --random 1\n"
                "  llmc-run model.llmc --input pixels=cat.npy --output-dir out\n"
                "  llmc-run bert.llmc --input ids=ids.npy --input mask=1 --dim batch=4 --threads 2\n"
                "  llmc-run model.llmc --random 1 --repeat 20 --profile profile.txt\n"
                "  llmc-run model.llmc --check test_resnet50 --rtol 1e-3 --atol 1e-5\n");
  return runTool(app, argc, argv, [&] { return run(options); });
}
