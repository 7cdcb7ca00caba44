// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// zbv

#include "../ListScheduler.h"
#include "Kinds.h"

namespace piper::schedule {

void fillZeroBubbleV(Schedule &s) {
  int stages = s.numStages();
  Schedule problem = s;
  problem.cap.assign(s.P, 2 * s.P);
  StageCosts unit;
  unit.forward = unit.backwardInput = unit.backwardWeight =
      std::vector<double>(stages, 1);

  // A micro-batch spends one slot on each stage on the way down the V and two
  // on the way up, in either direction of the data; weights only fill gaps.
  ListKeys keys;
  keys.interval = 6;
  keys.forward.resize(stages);
  keys.backward.resize(stages);
  keys.weight.assign(stages, ListKeys::kFiller);
  auto slots = [&](int stage) { return stage < s.P ? 1 : 2; };
  double time = 0;
  for (int stage = 0; stage < stages; time += slots(stage++))
    keys.forward[stage] = time;
  for (int stage = stages - 1; stage >= 0; time += slots(stage--))
    keys.backward[stage] = time;

  ListScheduler scheduler(problem, unit);
  scheduler.run(keys);
  s.ranks = scheduler.ranks();
}

} // namespace piper::schedule
