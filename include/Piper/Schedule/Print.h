// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule as a picture: text for terminals, SVG for documents.

#ifndef PIPER_SCHEDULE_PRINT_H
#define PIPER_SCHEDULE_PRINT_H

#include "Piper/Schedule/Schedule.h"
#include "Piper/Schedule/Simulate.h"

#include <string>

namespace piper::schedule {

struct TextOptions {
  bool color = false;       ///< ANSI colours
  size_t maxColumns = 2000; ///< of one line; a longer timetable is left out
};

/// One line per coordinate, time to the right; idle time is dots. An action is
/// its pass (F, B, I for BI, W for BW), its micro-batch and, where a coordinate
/// holds several stages, a letter for the stage: "F3b"; a pair is "F3aB1b".
/// Empty where it would be wider than `maxColumns`.
/// Requires: `simulation` is of `schedule`.
std::string printTimetable(const Schedule &schedule,
                           const Simulation &simulation,
                           const TextOptions &options = {});

/// The same as an SVG document; the shortest action is wide enough for its
/// number.
std::string toSVG(const Schedule &schedule, const Simulation &simulation);

/// The names of actions in both pictures.
class CellLabels {
public:
  explicit CellLabels(const Schedule &schedule);
  std::string of(const Action &action) const;

private:
  std::vector<std::string> letters; ///< per stage
};

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_PRINT_H
