// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The length, the idle time and the memory of a schedule under given costs.

#ifndef PIPER_SCHEDULE_SIMULATE_H
#define PIPER_SCHEDULE_SIMULATE_H

#include "Piper/Schedule/Costs.h"
#include "Piper/Schedule/Result.h"
#include "Piper/Schedule/Schedule.h"

#include <vector>

namespace piper::schedule {

/// Eager: a value arrives `comm` after its producer ends, any number at once.
/// Rendezvous: a transfer is an operation of length `comm` on the outgoing
/// stream of one coordinate and the incoming stream of the other, each in
/// program order (see OpOrder.h for where it stands).
enum class Transfers { Eager, Rendezvous };

struct SimulateOptions {
  Transfers transfers = Transfers::Eager;
  int prefetch = 1; ///< rendezvous: actions of the receiver it may run ahead
  Overlap overlap = Overlap::Sum;
};

/// Times are in the unit of the costs. Per-coordinate lists have P entries,
/// `start` and `end` one per action in the order of `Schedule::ranks`.
struct Simulation {
  double makespan = 0; ///< from 0 to the end of the last action or update
  std::vector<double> busy;
  std::vector<double> idle; ///< makespan - busy
  /// The bubble as the papers count it: a coordinate's own first start to its
  /// own last end, less its work. Never above `idle`.
  std::vector<double> spanIdle;
  /// Most activations in flight, released when B or BW ends.
  std::vector<int> peak;
  /// The same released when B or BI ends.
  std::vector<int> peakAtInput;
  std::vector<std::vector<double>> start, end;

  double maxIdle() const;
  double maxSpanIdle() const;
  int maxPeak() const;
  /// Share of P * makespan that is idle, 0..1.
  double bubbleRatio() const;
};

/// Runs the schedule. Errors: costs that do not fit the stages, a prefetch
/// below 0, an incomplete or circular schedule.
Result<Simulation> simulate(const Schedule &schedule, const Costs &costs,
                            const SimulateOptions &options = {});

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_SIMULATE_H
