// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The timetable as text: time is cut into units that all starts and ends are
// multiples of, where there is such a unit.

#include "Piper/Schedule/Print.h"

#include <algorithm>
#include <cmath>

namespace piper::schedule {

/// Which of its coordinate's stages each stage is, as a letter (a number from
/// the 27th on); nothing where there is only one.
CellLabels::CellLabels(const Schedule &s) : letters(s.stageRank.size()) {
  std::vector<int> held(s.P, 0);
  for (size_t stage = 0; stage < letters.size(); ++stage) {
    int chunk = held[s.stageRank[stage]]++;
    if (s.V > 1)
      letters[stage] = chunk < 26
                           ? std::string(1, static_cast<char>('a' + chunk))
                           : "." + std::to_string(chunk);
  }
}

std::string CellLabels::of(const Action &a) const {
  static const char *const passes[] = {"F", "B", "I", "W", "F"};
  std::string label = passes[static_cast<int>(a.pass)] +
                      std::to_string(a.microBatch) + letters[a.stage];
  if (a.pass == Pass::FB)
    label += "B" + std::to_string(a.microBatchB) + letters[a.stageB];
  return label;
}

/// The largest of a few fractions of the shortest action that all times are
/// multiples of; the shortest action itself where none is.
static double timeUnit(const Simulation &sim) {
  double shortest = 0;
  std::vector<double> times;
  for (size_t r = 0; r < sim.start.size(); ++r)
    for (size_t i = 0; i < sim.start[r].size(); ++i) {
      double start = sim.start[r][i], length = sim.end[r][i] - start;
      times.push_back(start);
      times.push_back(length);
      if (length > 0 && (shortest == 0 || length < shortest))
        shortest = length;
    }
  if (shortest == 0)
    return 1;
  for (int part : {1, 2, 3, 4, 5, 10, 20}) {
    double unit = shortest / part;
    bool fits = std::all_of(times.begin(), times.end(), [&](double time) {
      double units = time / unit;
      return std::abs(units - std::round(units)) < 1e-6 * (1 + units);
    });
    if (fits)
      return unit;
  }
  return shortest;
}

namespace {
struct Cell {
  size_t begin, end; ///< in units
  std::string label;
  Pass pass;
};
} // namespace

/// The cells of one coordinate; rounding never makes two overlap or vanish.
static std::vector<Cell> cellsOf(const Schedule &s, const Simulation &sim,
                                 int rank, double unit,
                                 const CellLabels &labels) {
  std::vector<Cell> cells;
  size_t last = 0;
  for (size_t i = 0; i < s.ranks[rank].size(); ++i) {
    const Action &a = s.ranks[rank][i];
    auto toUnits = [&](double time) {
      return static_cast<size_t>(std::llround(time / unit));
    };
    size_t begin = std::max(last, toUnits(sim.start[rank][i]));
    size_t end = std::max(begin + 1, toUnits(sim.end[rank][i]));
    cells.push_back({begin, end, labels.of(a), a.pass});
    last = end;
  }
  return cells;
}

static std::string paint(const std::string &text, Pass pass, bool color) {
  static const char *const codes[] = {"30;44", "30;42", "30;46", "30;43",
                                      "30;45"};
  if (!color)
    return text;
  return std::string("\x1b[") + codes[static_cast<int>(pass)] + "m" + text +
         "\x1b[0m";
}

std::string printTimetable(const Schedule &s, const Simulation &sim,
                           const TextOptions &options) {
  double unit = timeUnit(sim);
  if (sim.makespan / unit * 2 > static_cast<double>(options.maxColumns))
    return "";
  CellLabels labels(s);
  std::vector<std::vector<Cell>> rows;
  size_t width = 2, units = 0;
  for (int rank = 0; rank < s.P; ++rank) {
    rows.push_back(cellsOf(s, sim, rank, unit, labels));
    for (const Cell &cell : rows.back()) {
      size_t length = cell.end - cell.begin;
      width = std::max(width, (cell.label.size() + length) / length);
      units = std::max(units, cell.end);
    }
  }
  size_t name = std::to_string(s.P - 1).size();
  if (units * width + name + 2 > options.maxColumns)
    return "";

  std::string text;
  std::string idle = "." + std::string(width - 1, ' ');
  for (int rank = 0; rank < s.P; ++rank) {
    std::string number = std::to_string(rank);
    text += std::string(name - number.size(), ' ') + number + " |";
    size_t at = 0;
    for (const Cell &cell : rows[rank]) {
      for (; at < cell.begin; ++at)
        text += idle;
      size_t length = (cell.end - cell.begin) * width - 1;
      std::string body =
          cell.label + std::string(length - cell.label.size(), '-');
      text += paint(body, cell.pass, options.color) + " ";
      at = cell.end;
    }
    for (; at < units; ++at)
      text += idle;
    while (text.back() == ' ')
      text.pop_back();
    text += '\n';
  }
  return text;
}

} // namespace piper::schedule
