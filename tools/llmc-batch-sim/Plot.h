//===- Plot.h - A chart of lines as an SVG file that needs nothing else -------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_PLOT_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_PLOT_H

#include <string>
#include <vector>

namespace llmc::sim {

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string title, xLabel, yLabel;
  double yMax; // what is above is cut off
  std::vector<Line> lines;
  double mark = 0; // a horizontal line, with `markName`; 0: none
  std::string markName;
};

std::string toSvg(const Plot &plot);

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_PLOT_H
