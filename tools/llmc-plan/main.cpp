//===- main.cpp - llmc-plan: shows and checks what is in an artifact ----------------------------------------------===//

#include "tools/common/Tool.h"
#include "tools/llmc-plan/PlanTool.h"
#include <iostream>

using namespace llmc;
using namespace llmc::tools;

static int showPlan(const std::string &path, bool json, bool check) {
  auto file = rt::PlanFile::open(path.c_str());
  if (!file.ok())
    badData(file.status().message());
  if (check) {
    if (rt::Status status = checkPlan(**file); !status.ok())
      badData(path + ": " + status.message());
    std::cout << path << ": good\n";
    return kGood;
  }
  Json description = describePlan(**file);
  if (json)
    std::cout << description.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
  else
    printPlan(description, std::cout);
  return kGood;
}

int main(int argc, char **argv) {
  CLI::App app("Shows what is in a compiled model: entries, steps, buffers, constants, kernels", "llmc-plan");
  std::string path;
  bool json = false, check = false;
  app.add_option("ARTIFACT", path, "The compiled model, OUT.llmc")->required();
  app.add_flag("--json", json, "Print one JSON object");
  app.add_flag("--check", check, "Only check it: all that loading checks, all hashes, the code of all levels");
  describe(app, "  llmc-plan model.llmc\n"
                "  llmc-plan model.llmc --json | jq '.entries[0].bodies[0].blocks[0].steps[].kernel'\n"
                "  llmc-plan model.llmc --check\n");
  return runTool(app, argc, argv, [&] { return showPlan(path, json, check); });
}
