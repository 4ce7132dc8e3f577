//===- TextFile.cpp - Files of numbers, a few on each line --------------------------------------------------------===//

#include "tools/llmc-batch-sim/TextFile.h"
#include "tools/common/Tool.h"
#include <fstream>
#include <sstream>

namespace llmc::sim {

void readLines(const std::string &path, const std::function<bool(const std::vector<double> &)> &take) {
  std::ifstream file(path);
  if (!file)
    tools::badData("can not open '" + path + "'");
  size_t number = 0, taken = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<double> numbers;
    for (double value; words >> value;)
      numbers.push_back(value);
    bool isText = !words.eof();
    if (numbers.empty() && !isText)
      continue;
    if (isText || !take(numbers))
      tools::badData(path + ":" + std::to_string(number) + ": not the numbers expected here: '" + line + "'");
    ++taken;
  }
  if (taken == 0)
    tools::badData("'" + path + "' has no numbers");
}

} // namespace llmc::sim
