// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The figures of a schedule as text.

#ifndef PIPER_TOOLS_SCHEDULE_REPORT_H
#define PIPER_TOOLS_SCHEDULE_REPORT_H

#include "Piper/Schedule/Bounds.h"
#include "Piper/Schedule/Simulate.h"

#include <string>

namespace piper::schedule {

/// A schedule with all that was computed from it.
struct Report {
  Schedule schedule;
  Simulation simulation;
  LowerBounds bounds;
};

/// Simulates and bounds a verified schedule. Errors: costs that do not fit.
Result<Report> makeReport(const Schedule &schedule, const Costs &costs,
                          const SimulateOptions &options);

/// Kind and sizes, one line per coordinate, and the lower bounds.
std::string figures(const Report &report);

/// One line of a comparison, and its head line.
std::string comparisonHead();
std::string comparisonLine(const Report &report);

} // namespace piper::schedule

#endif // PIPER_TOOLS_SCHEDULE_REPORT_H
