// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// V blocks.

#include "Kinds.h"

#include "../ListScheduler.h"
#include "Piper/Schedule/Costs.h"

#include <algorithm>

namespace piper::schedule {

void fillFromBlock(Schedule &s, const VBlock &block) {
  Schedule problem = s;
  problem.cap.assign(s.P, std::max(2, block.limit));
  StageCosts unit;
  unit.forward = unit.backwardInput = unit.backwardWeight = unit.backward =
      unit.update = std::vector<double>(s.numStages(), 1);
  ListKeys keys;
  keys.forward.resize(s.numStages());
  keys.backward = keys.forward;
  keys.weight.assign(s.numStages(), 1e18);
  for (int r = 0; r < s.P; ++r) {
    int up = 2 * s.P - 1 - r;
    keys.forward[r] = block.down(r);
    keys.forward[up] = block.up(r);
    keys.backward[up] = block.upBackward(r);
    keys.backward[r] = block.downBackward(r);
  }
  ListScheduler scheduler(problem, unit);
  scheduler.run(keys);
  s.ranks = scheduler.ranks();
}

} // namespace piper::schedule
