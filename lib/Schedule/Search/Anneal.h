// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Local search on the order itself, by simulated annealing. Internal to this
// library.

#ifndef PIPER_LIB_SCHEDULE_SEARCH_ANNEAL_H
#define PIPER_LIB_SCHEDULE_SEARCH_ANNEAL_H

#include "OrderGraph.h"

#include <cstdint>

namespace piper::schedule {

struct AnnealOptions {
  uint64_t seed = 1;
  int64_t evaluations = 0; ///< heads and tails to compute, at most
  double goal = 0;         ///< stop at a makespan no longer than this
};

/// Improves the order in `graph`: afterwards it holds the shortest order met.
/// Moves one random action a few places along its coordinate, and judges the
/// result by the makespan plus 10 times the mean path through an action: the
/// makespan alone is flat almost everywhere, while the mean path tells whether
/// a move brought any part of the schedule closer to a shorter one. The same
/// options give the same result on every machine with IEEE arithmetic.
void anneal(OrderGraph &graph, const AnnealOptions &options);

} // namespace piper::schedule

#endif // PIPER_LIB_SCHEDULE_SEARCH_ANNEAL_H
