// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ZB-H1: 1F1B with split backward; coordinate r runs a weight gradient r
// backwards later, in what was the bubble (Qi et al. 2023, "Zero Bubble
// Pipeline Parallelism", section 2.2). P = 4, M = 5, F = BI = BW = 1:
//
//   0 |F0 F1 F2 F3 .  .  .  I0 W0 F4 I1 W1 I2 W2 I3 W3 I4 W4
//   1 |.  F0 F1 F2 .  .  I0 F3 I1 W0 F4 I2 W1 I3 W2 I4 W3 W4
//   2 |.  .  F0 F1 .  I0 F2 I1 F3 I2 W0 F4 I3 W1 I4 W2 W3 W4
//   3 |.  .  .  F0 I0 F1 I1 F2 I2 F3 I3 W0 F4 I4 W1 W2 W3 W4
//
// Idle time (P-1) (F+BI-BW) for BW <= BI and M >= P: here 3, length 3 M+3 = 18,
// where 1F1B has 9. In flight until BW: at most P on every coordinate, which is
// the most that 1F1B holds.

#include "Kinds.h"

namespace piper::schedule {

void fillZeroBubbleH1(Schedule &s) {
  for (int rank = 0; rank < s.P; ++rank)
    alternateOneStage(s, rank, s.P - 1 - rank, /*weightDelay=*/rank);
}

} // namespace piper::schedule
