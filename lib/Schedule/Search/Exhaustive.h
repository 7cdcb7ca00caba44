// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shortest order of a tiny instance, by branch and bound. Internal to this
// library.

#ifndef PIPER_LIB_SCHEDULE_SEARCH_EXHAUSTIVE_H
#define PIPER_LIB_SCHEDULE_SEARCH_EXHAUSTIVE_H

#include "Piper/Schedule/Costs.h"
#include "Piper/Schedule/Schedule.h"

#include <vector>

namespace piper::schedule {

/// Whether exhaustive search ends soon: at most 16 stages times micro-batches,
/// and forwards and input gradients that take time.
bool isTiny(const Schedule &problem, const StageCosts &costs);

/// An order with split backward shorter than `bound`, the shortest there is;
/// empty where none is shorter. Requires: one chain with stages in order,
/// isTiny.
std::vector<std::vector<Action>>
exhaustive(const Schedule &problem, const StageCosts &costs, double bound);

} // namespace piper::schedule

#endif // PIPER_LIB_SCHEDULE_SEARCH_EXHAUSTIVE_H
