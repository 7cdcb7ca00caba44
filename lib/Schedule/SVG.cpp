// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The timetable as an SVG document.

#include "Piper/Schedule/Print.h"

#include <algorithm>
#include <cstdio>

namespace piper::schedule {

static constexpr double kRow = 26, kLeft = 40, kCharacter = 7;

static const char *fillColor(Pass pass) {
  static const char *const colors[] = {"#9ec5fe", "#a3cfbb", "#9eeaf9",
                                       "#ffe69c", "#d0bfff"};
  return colors[static_cast<int>(pass)];
}

static std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.10g", value);
  return buffer;
}

/// Pixels per unit of time, so that every label fits its action.
static double scaleOf(const Schedule &s, const Simulation &sim,
                      const CellLabels &labels) {
  double scale = 0;
  for (int rank = 0; rank < s.P; ++rank)
    for (size_t i = 0; i < s.ranks[rank].size(); ++i) {
      double length = sim.end[rank][i] - sim.start[rank][i];
      size_t characters = labels.of(s.ranks[rank][i]).size() + 1;
      if (length > 0)
        scale = std::max(scale, kCharacter * characters / length);
    }
  return scale > 0 ? scale : 1;
}

static void appendAction(std::string &svg, const std::string &label,
                         const Action &action, double x, double y,
                         double width) {
  svg += "<g><title>" + toString(action) + "</title><rect x=\"" + number(x) +
         "\" y=\"" + number(y) + "\" width=\"" + number(width) +
         "\" height=\"22\" fill=\"" + fillColor(action.pass) +
         "\" stroke=\"#495057\"/><text x=\"" + number(x + width / 2) +
         "\" y=\"" + number(y + 15) + "\" text-anchor=\"middle\">" + label +
         "</text></g>\n";
}

std::string toSVG(const Schedule &s, const Simulation &sim) {
  CellLabels labels(s);
  double scale = scaleOf(s, sim, labels);
  double width = kLeft + sim.makespan * scale + 10;
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    number(width) + "\" height=\"" + number(kRow * s.P + 10) +
                    "\" font-family=\"monospace\" font-size=\"11\">\n";
  for (int rank = 0; rank < s.P; ++rank) {
    double y = 5 + kRow * rank;
    svg += "<text x=\"5\" y=\"" + number(y + 15) + "\">" +
           std::to_string(rank) + "</text>\n";
    for (size_t i = 0; i < s.ranks[rank].size(); ++i)
      appendAction(svg, labels.of(s.ranks[rank][i]), s.ranks[rank][i],
                   kLeft + sim.start[rank][i] * scale, y,
                   (sim.end[rank][i] - sim.start[rank][i]) * scale);
  }
  return svg + "</svg>\n";
}

} // namespace piper::schedule
