// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each action costs, per stage, in any one unit of time.

#ifndef PIPER_SCHEDULE_COSTS_H
#define PIPER_SCHEDULE_COSTS_H

#include "Piper/Schedule/Result.h"
#include "Piper/Schedule/Schedule.h"

#include <string>
#include <vector>

namespace piper::schedule {

/// Costs of one run. A list has one value for all stages, or one per position
/// in a chain (the two copies of a stage cost the same).
struct Costs {
  std::vector<double> forward = {1};
  std::vector<double> backward = {2};
  std::vector<double> backwardInput = {1};
  std::vector<double> backwardWeight = {1};
  std::vector<double> update = {0}; ///< optimizer, after a coordinate's last
  double comm = 0;                  ///< one transfer between two coordinates

  /// The same three costs on every stage; the full backward is their sum.
  static Costs uniform(double f, double bi, double bw, double comm = 0);
};

/// Reads "F=1,B=2,BI=1,BW=1,update=0,comm=0", any part of it, per stage as
/// "F=1:1:1:3". Where B is missing it is BI + BW; where BI or BW is missing it
/// is the rest of B (half of it each where both are). Errors: unknown key, a
/// value that is not a finite number >= 0, lists of unequal length, BI or BW
/// above B.
Result<Costs> parseCosts(const std::string &text);

/// Costs spread over the stages of one schedule: index is the stage.
struct StageCosts {
  std::vector<double> forward, backward, backwardInput, backwardWeight, update;
  double comm = 0;
};

/// Errors: a list whose length is neither 1 nor the length of a chain.
Result<StageCosts> stageCosts(const Schedule &schedule, const Costs &costs);

/// How an overlapped pair runs: as one unit that takes both costs, as one that
/// takes the larger, or not as a unit: first the forward, then the backward,
/// each when its own input is there, and its result leaves when it ends.
enum class Overlap { Sum, Max, None };

/// Work of one action.
double durationOf(const Action &action, const StageCosts &costs,
                  Overlap overlap);

/// When an action runs. Its forward and its backward half are the whole action
/// but in a pair without overlap.
struct ActionTime {
  double start = 0;
  double forwardEnd = 0;
  double backwardStart = 0;
  double end = 0;
};

/// Of an action that waits until its coordinate is `free`, and until the inputs
/// of its halves are there.
ActionTime timeAction(const Action &action, const StageCosts &costs,
                      Overlap overlap, double free, double forwardInput,
                      double backwardInput);

} // namespace piper::schedule

#endif // PIPER_SCHEDULE_COSTS_H
