// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A simulated step for people: its timetable, idle time and memory.

#ifndef PIPER_RUNTIME_PLANTIMETABLE_H
#define PIPER_RUNTIME_PLANTIMETABLE_H

#include "Piper/Runtime/SimulatePlan.h"
#include "Piper/Schedule/Schedule.h"
#include "Piper/Schedule/Simulate.h"

#include <string>

namespace piper::rt {

/// What a plan does as a schedule. An action is all tasks of one stage, pass
/// and micro-batch of a rank, those of pass R with the backward that they
/// serve; two that alternate, a forward and a backward, are a pair. Stages of
/// the second copy are numbered after all others. The simulation has the times
/// of the plan: `makespan` is the end of the last instruction of any rank, and
/// `busy` counts all tasks, those of no stage too.
struct PlanTimetable {
  schedule::Schedule schedule;
  schedule::Simulation simulation;
};

/// Requires: `times` is of this entry point.
PlanTimetable makeTimetable(const Plan &plan, const std::string &entry,
                            const DeviceTimes &times);

/// The length of the step and the share of it that is idle; the timetable,
/// where there are stages; for each rank its idle share, most micro-batches in
/// flight, and peak of memory. A timetable that is wider than a screen is drawn
/// in unit costs, and left out where that does not help.
std::string timetableReport(const Plan &plan, const std::string &entry,
                            const DeviceTimes &times);

/// --simulate: entry point `entry` with the durations of a cost file or trace
/// (the default costs where `path` is empty). Errors: those of readDurations
/// and simulatePlan.
Result<DeviceTimes> simulateStep(const Plan &plan, const std::string &entry,
                                 const std::string &path);

} // namespace piper::rt

#endif // PIPER_RUNTIME_PLANTIMETABLE_H
