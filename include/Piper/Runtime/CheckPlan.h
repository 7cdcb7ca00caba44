// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the programs of a plan fit together. Trusts nothing of the passes
// that made it: used by the pass piper-verify-plan and by the loader.

#ifndef PIPER_RUNTIME_CHECKPLAN_H
#define PIPER_RUNTIME_CHECKPLAN_H

#include "Piper/Runtime/Program.h"
#include "Piper/Runtime/Status.h"

#include <optional>
#include <string>

namespace piper::rt {

/// What is wrong and where: indices into Plan::programs, Program::entries and
/// EntryPoint::instructions, -1 where it is of the whole plan, program or
/// entry point. The message does not repeat the place.
struct PlanProblem {
  int program = -1;
  int entry = -1;
  int instruction = -1;
  std::string message;
};

/// The first problem of the plan, if there is one. Requires: checkProgram
/// accepts each program. Checks that coordinates are 0, 1, ..; that state of
/// one name is the same everywhere; and for each entry point over all programs:
/// - the entry points are those of the first program, and an input is the same
///   on all coordinates that have it;
/// - every id from 0 to numOps - 1 is there, and is one task on each of the
///   coordinates that it names, or one send and one receive of one type between
///   two coordinates, or one reduction with equal terms, members, type at each
///   member; ids ascend in each program (one program may do without ids);
/// - messages of a channel are sent in the order in which they are received;
/// - streams, waits, messages and reductions have no cycle;
/// - reads come after writes, and overwrites after all accesses, by streams,
///   waits and rule (c) of Program.h;
/// - each wait is needed for that: the two instructions touch common bytes, and
///   nothing else orders them;
/// - each parameter is in at most one update (pass U) on each coordinate, and
///   state is written by the same ops wherever it is held.
/// Near-linear in the number of instructions.
std::optional<PlanProblem> findPlanProblem(const Plan &plan);

/// Place and message in one line.
std::string describeProblem(const Plan &plan, const PlanProblem &problem);

/// checkProgram of each program, then findPlanProblem.
Status checkPlan(const Plan &plan);

} // namespace piper::rt

#endif // PIPER_RUNTIME_CHECKPLAN_H
