// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the programs of a plan fit together. Trusts nothing of the passes
// that made it: used by the pass piper-verify-plan and by the loader.

#ifndef PIPER_RUNTIME_CHECKPLAN_H
#define PIPER_RUNTIME_CHECKPLAN_H

#include "Piper/Runtime/Program.h"

#include <optional>
#include <string>
#include <vector>

namespace piper::rt {

/// What is wrong and where: indices into Plan::programs, Program::entries and
/// EntryPoint::instructions, -1 where it is of the whole plan, program or
/// entry point.
struct PlanProblem {
  int program = -1;
  int entry = -1;
  int instruction = -1;
  std::string message;
};

/// The first problem of the plan, if there is one. Requires: checkProgram
/// accepts each program. Checks, for each entry point over all programs:
/// the entry points, inputs and buffering are those of the first program;
/// coordinates are 0, 1, ..; every id from 0 to numOps - 1 is there, and is one
/// task on each of the coordinates that it names, or one send and one receive
/// of one type between two coordinates, or one reduction with equal terms,
/// members, type at each member; messages of a channel are sent in the order
/// in which they are received; waits point to earlier instructions of other
/// streams; streams, waits, messages and reductions have no cycle; reads come
/// after writes, and overwrites after all accesses, by streams and waits;
/// each parameter of `train` is in at most one update on each coordinate.
/// Near-linear in the number of instructions.
std::optional<PlanProblem> findPlanProblem(const Plan &plan);

} // namespace piper::rt

#endif // PIPER_RUNTIME_CHECKPLAN_H
