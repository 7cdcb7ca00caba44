// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that findPlanProblem is made of, in the order in which they run:
// each relies on those before it.

#ifndef PIPER_LIB_RUNTIME_CHECK_CHECKPLANPARTS_H
#define PIPER_LIB_RUNTIME_CHECK_CHECKPLANPARTS_H

#include "Piper/Runtime/CheckPlan.h"

namespace piper::rt {

using Problem = std::optional<PlanProblem>;

/// Ids: each is one task, one message or one reduction.
Problem findIdProblem(const Plan &plan, int entry);
/// Channels, cycles, ascending ids.
Problem findOrderProblem(const Plan &plan, int entry);
/// Accesses of one program that nothing orders, and waits that order nothing.
Problem findMemoryProblem(const Plan &plan, int program, int entry);
/// State of one name in several programs.
Problem findStateProblem(const Plan &plan);
/// Who writes state, in one entry point.
Problem findUpdateProblem(const Plan &plan, int entry);

/// "[0, 3]".
template <typename List> std::string listText(const List &list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? ", " : "") + std::to_string(list[i]);
  return text + "]";
}

} // namespace piper::rt

#endif // PIPER_LIB_RUNTIME_CHECK_CHECKPLANPARTS_H
