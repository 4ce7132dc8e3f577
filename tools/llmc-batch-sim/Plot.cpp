//===- Plot.cpp - A chart of lines as an SVG file that needs nothing else -----------------------------------------===//

#include "tools/llmc-batch-sim/Plot.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace llmc::sim {

static constexpr double kWidth = 640, kHeight = 360, kLeft = 60, kRight = 150, kTop = 36, kBottom = 46;
static constexpr const char *kColours[] = {"#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#6d597a", "#444444"};

static std::string format(const char *text, auto... values) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, text, values...);
  return buffer;
}

static std::string label(double x, double y, const char *anchor, const std::string &text) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor) + text + "</text>\n";
}

/// A round number, so that there are about five of its multiples up to `limit`.
static double tickOf(double limit) {
  double power = std::pow(10, std::floor(std::log10(limit / 5)));
  for (double factor : {1.0, 2.0, 5.0})
    if (limit / (factor * power) <= 6)
      return factor * power;
  return 10 * power;
}

std::string toSvg(const Plot &plot) {
  double xMax = 0;
  for (const Line &line : plot.lines)
    for (auto [x, y] : line.points)
      xMax = std::max(xMax, x);
  auto px = [&](double x) { return kLeft + x / xMax * (kWidth - kLeft - kRight); };
  auto py = [&](double y) { return kHeight - kBottom - std::min(y / plot.yMax, 1.0) * (kHeight - kTop - kBottom); };
  std::string out =
      format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
             "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
             kWidth, kHeight);
  out += label(kLeft, 20, "start", plot.title);
  for (double tick = tickOf(plot.yMax), y = 0; y <= plot.yMax * 1.0001; y += tick) {
    out += format("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/>\n", kLeft, py(y), kWidth - kRight);
    out += label(kLeft - 6, py(y) + 4, "end", format("%g", y));
  }
  for (double tick = tickOf(xMax), x = 0; x <= xMax * 1.0001; x += tick)
    out += label(px(x), kHeight - kBottom + 16, "middle", format("%g", x));
  out += label((kLeft + kWidth - kRight) / 2, kHeight - 10, "middle", plot.xLabel);
  out += format("<text transform=\"translate(16 %.0f) rotate(-90)\" text-anchor=\"middle\">", kHeight / 2) +
         plot.yLabel + "</text>\n";
  if (plot.mark > 0) {
    out += format("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#888\" stroke-dasharray=\"5 4\"/>\n", kLeft, py(plot.mark),
                  kWidth - kRight);
    out += label(kWidth - kRight + 6, py(plot.mark) + 4, "start", plot.markName);
  }
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    const char *colour = kColours[i % std::size(kColours)];
    std::string path;
    for (auto [x, y] : plot.lines[i].points)
      path += format("%s%.1f %.1f", path.empty() ? "M" : "L", px(x), py(y));
    out += "<path d=\"" + path + format("\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", colour);
    double y = kTop + 8 + 18 * double(i);
    out +=
        format("<rect x=\"%.0f\" y=\"%.0f\" width=\"14\" height=\"4\" fill=\"%s\"/>\n", kWidth - kRight + 6, y, colour);
    out += label(kWidth - kRight + 24, y + 6, "start", plot.lines[i].name);
  }
  return out + "</svg>\n";
}

} // namespace llmc::sim
