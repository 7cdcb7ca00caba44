// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search: an order close to the lower bound for given costs, placement
// and memory limit.

#ifndef PIPER_SCHEDULE_SEARCH_H
#define PIPER_SCHEDULE_SEARCH_H

#include "Piper/Schedule/Costs.h"
#include "Piper/Schedule/Result.h"
#include "Piper/Schedule/Schedule.h"

namespace piper::schedule {

/// How hard to search: how many times the start or the end of an action is
/// computed (not a time, so that a seed gives the same schedule on every
/// machine). The default takes a few seconds of one core.
struct SearchEffort {
  int64_t evaluations = 1'500'000'000;
  double goal = 0; ///< a makespan that is good enough to stop at
};

/// Fills the actions of `problem` (from `makePlacement`, with its cap) so that
/// the makespan under eager transfers is small: the shortest order of tiny
/// instances, otherwise the best of the named kinds of the same placement that
/// respect the cap and of list schedules, improved by local search. Backwards
/// are split and ascend in micro-batch. Deterministic for a seed.
/// Errors: more than one chain, a cap below V, costs that do not fit.
Result<Schedule> search(const Schedule &problem, const Costs &costs,
                        uint64_t seed = 1, const SearchEffort &effort = {});

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_SEARCH_H
