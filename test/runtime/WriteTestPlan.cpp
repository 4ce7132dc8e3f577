//===- WriteTestPlan.cpp - Writes a plan of TestPlans.cpp to a file, for the tests of the tools -------------------===//

#include "test/runtime/PlanBuilder.h"
#include <cstring>
#include <fstream>

using namespace llmc::test;

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  Bytes file;
  if (!std::strcmp(argv[1], "add-relu"))
    file = addReluPlan({2, 3}).file();
  else if (!std::strcmp(argv[1], "add-relu-v4"))
    file = addReluPlan({4}).file();
  else if (!std::strcmp(argv[1], "compress"))
    file = compressPlan().file();
  else if (!std::strcmp(argv[1], "two-devices"))
    file = twoDevicesPlan().file();
  else if (!std::strcmp(argv[1], "everything"))
    file = everythingPlan().file();
  std::ofstream out(argv[2], std::ios::binary);
  out.write(reinterpret_cast<const char *>(file.data()), std::streamsize(file.size()));
  return out && !file.empty() ? 0 : 1;
}
