// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks a plan without computing: when each instruction of each rank would
// start and end on one device per rank.

#ifndef PIPER_RUNTIME_SIMULATEPLAN_H
#define PIPER_RUNTIME_SIMULATEPLAN_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"
#include "Piper/Runtime/TaskCosts.h"

#include <vector>

namespace piper::rt {

/// Start and end of an instruction in microseconds from the start of the step.
struct DeviceTime {
  double begin = 0;
  double end = 0;
};

/// By rank and instruction.
using DeviceTimes = std::vector<std::vector<DeviceTime>>;

/// How long each instruction takes, by rank and instruction: a task its own
/// time, a message or reduction the time of the link. Both ends of a message and
/// all members of a reduction have the same.
using Durations = std::vector<std::vector<double>>;

/// The durations that a cost file gives to entry point `entry` of the plan.
Durations makeDurations(const Plan &plan, const std::string &entry,
                        const TaskCosts &costs);

/// The rules of Program.h on a clock per stream: an instruction starts at the
/// latest end of those it waits for. A transfer starts when both ends may; with
/// buffering k > 0 a send starts when the channel has room (the receive k
/// messages before it has ended), and the receive ends no earlier than the send.
/// A reduction starts when all members may. Errors: no such entry point, a
/// plan that gets stuck (names the instructions that wait).
Result<DeviceTimes> simulatePlan(const Plan &plan, const std::string &entry,
                                 const Durations &durations);

} // namespace piper::rt

#endif // PIPER_RUNTIME_SIMULATEPLAN_H
