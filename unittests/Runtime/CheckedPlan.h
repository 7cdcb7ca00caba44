// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small plan that the tests of its checks change.

#ifndef PIPER_UNITTESTS_RUNTIME_CHECKEDPLAN_H
#define PIPER_UNITTESTS_RUNTIME_CHECKEDPLAN_H

#include "Piper/Runtime/CheckPlan.h"
#include "SchedulePlan.h"

#include <functional>

namespace piper::rt::test {

/// 1F1B of two ranks and two micro-batches. Instructions by id:
///
///   rank 0: 0 F  1 send  3 F  4 send  6 receive  7 B  10 receive  11 B
///           12 reduce  13 norm  15 reduce  16 clip  17 adamw
///   rank 1: 1 receive  2 F  4 receive  5 B  6 send  8 F  9 B  10 send
///           12 reduce  14 norm  15 reduce  16 clip  18 adamw
inline Plan makeRightPlan() { return makePlan("1f1b", 2, 1, 2); }

inline EntryPoint &entryOf(Plan &plan, int rank) {
  return plan.programs[rank].entries[0];
}
/// The instruction of a rank with an id.
inline Instruction &at(Plan &plan, int rank, int64_t id) {
  for (Instruction &call : entryOf(plan, rank).instructions)
    if (call.id == id)
      return call;
  ADD_FAILURE() << "no id " << id << " on rank " << rank;
  return entryOf(plan, rank).instructions[0];
}

/// Expects that `change` makes the problem `expected` out of a right plan.
inline void expectProblem(const std::function<void(Plan &)> &change,
                          const std::string &expected) {
  Plan plan = makeRightPlan();
  change(plan);
  auto problem = findPlanProblem(plan);
  EXPECT_EQ(problem ? describeProblem(plan, *problem) : "none", expected);
}

} // namespace piper::rt::test

#endif // PIPER_UNITTESTS_RUNTIME_CHECKEDPLAN_H
