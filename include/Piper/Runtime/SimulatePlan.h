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
/// time, a message or reduction the time of the link. Both ends of a message
/// and all members of a reduction have the same.
using Durations = std::vector<std::vector<double>>;

/// The durations that costs give to entry point `entry` of the plan. Empty
/// where there is no such entry point.
Durations makeDurations(const Plan &plan, const std::string &entry,
                        const TaskCosts &costs);

/// The durations of the last step that is complete in a trace (--trace) of
/// this entry point. A message takes the shorter of the times of its two ends,
/// a reduction the shortest of its members: one that waits for its peers begins
/// earlier. Errors: not a trace, no complete step, a trace of another plan.
Result<Durations> readTraceDurations(const std::string &path, const Plan &plan,
                                     const std::string &entry);

/// Of a cost file (TaskCosts.h) or of a trace, whichever `path` is.
Result<Durations> readDurations(const std::string &path, const Plan &plan,
                                const std::string &entry);

/// The rules of Program.h on a clock per stream; the device clock of the
/// executor follows them too. An instruction is *ready* at the latest of: the
/// end of the instruction before it on its stream, the ends of its waits and,
/// if it is no task, the start of the last task before it in the list.
/// - A task starts when it is ready and ends its duration d later.
/// - A reduction starts on all members when the last of them is ready, and ends
///   d later on all of them.
/// - A message of a channel without buffering starts at both ends when the
///   later of them is ready, and ends d later at both.
/// - With buffering k > 0, of the m-th message of a channel: the send starts
///   when it is ready and the receive of message m - k (if m >= k) has ended,
///   and ends d later. The receive starts when it is ready and the send has
///   started, and ends when it is ready and the send has ended.
/// Linear in the number of instructions. Errors: no such entry point, durations
/// of another plan, a plan that gets stuck (names the instructions that wait).
Result<DeviceTimes> simulatePlan(const Plan &plan, const std::string &entry,
                                 const Durations &durations);

} // namespace piper::rt

#endif // PIPER_RUNTIME_SIMULATEPLAN_H
