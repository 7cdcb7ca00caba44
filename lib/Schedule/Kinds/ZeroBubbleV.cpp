// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ZB-V: two chunks on each coordinate, placed as a V, so that the last stage is
// on the coordinate of the first one and its backward can start at once (Qi et
// al. 2023, "Zero Bubble Pipeline Parallelism", section 6). The order comes
// from list scheduling for equal costs, as in the paper, under the paper's
// limit of 2P chunk activations. P = 2, M = 2, F = BI = BW = 1:
//
//   0 |F0a F1a .   F0b I0b F1b I1b I0a W0a I1a W1a W0b W1b
//   1 |.   F0a F0b F1a F1b I0b I0a I1b I1a W0a W1a W0b W1b
//
// No idle time but the ramp of P-1 forwards for equal costs and M >= 2P: length
// 6 M+P-1, here 13 (and 103 for P = 8, M = 16). In flight until BW: at most 2P
// chunk activations, the memory of 1F1B, on every coordinate.

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

  // A micro-batch spends one slot on each stage while it travels from
  // coordinate 0 to P-1 and two on the way back, forwards and backwards alike.
  ListKeys keys;
  keys.interval = 6;
  keys.forward.resize(stages);
  keys.backward.resize(stages);
  keys.weight.assign(stages, ListKeys::kFiller);
  double time = 0;
  for (int stage = 0; stage < stages; ++stage) {
    keys.forward[stage] = time;
    time += stage < s.P ? 1 : 2;
  }
  for (int stage = stages - 1; stage >= 0; --stage) {
    keys.backward[stage] = time;
    time += stage >= s.P ? 1 : 2;
  }

  ListScheduler scheduler(problem, unit);
  scheduler.run(keys);
  s.ranks = scheduler.ranks();
}

} // namespace piper::schedule
