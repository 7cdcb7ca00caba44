// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lengths no order of the same work can beat.

#ifndef PIPER_SCHEDULE_BOUNDS_H
#define PIPER_SCHEDULE_BOUNDS_H

#include "Piper/Schedule/Costs.h"
#include "Piper/Schedule/Result.h"
#include "Piper/Schedule/Schedule.h"

namespace piper::schedule {

/// Lower bounds of the makespan, for the placement, the actions and the cap of
/// a schedule, whatever their order. Zero where a bound says nothing.
struct LowerBounds {
  /// One micro-batch alone: all forwards, all backwards, and the transfers.
  double criticalPath = 0;
  /// The busiest coordinate.
  double work = 0;
  /// Time before a coordinate's first forward can start, idle time before its
  /// first backward can start (the cap bounds the forwards that fill it), its
  /// work, and what must still run elsewhere after its last backward (weight
  /// gradients, at most as many as activations fit under the cap, fill that).
  double ramp = 0;
  /// Shortest lives of all activations of a coordinate, divided by its cap.
  double residence = 0;

  double best() const;
};

/// Errors: costs that do not fit the stages, an incomplete schedule.
Result<LowerBounds> lowerBounds(const Schedule &schedule, const Costs &costs,
                                Overlap overlap = Overlap::Sum);

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_BOUNDS_H
