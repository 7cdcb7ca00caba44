// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dualpipev.

#include "Kinds.h"

namespace piper::schedule {

void fillDualPipeV(Schedule &s) {
  for (int r = 0; r < s.P; ++r) {
    DualRank rank;
    rank.half = s.P;
    rank.depth = r;
    rank.microBatches = s.M;
    rank.stage[0] = r;
    rank.stage[1] = 2 * s.P - 1 - r;
    fillDualSteps(s.ranks[r], rank);
  }
}

} // namespace piper::schedule
