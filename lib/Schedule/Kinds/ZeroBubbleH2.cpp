// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ZB-H2: ZB-H1 with enough forwards ahead that no coordinate ever waits once it
// has started (Qi et al. 2023, "Zero Bubble Pipeline Parallelism",
// section 2.3). P = 3, M = 6, F = BI = BW = 1:
//
//   0 |F0 F1 F2 F3 F4 I0 W0 F5 I1 W1 I2 W2 I3 W3 I4 W4 I5 W5 .  .
//   1 |.  F0 F1 F2 I0 F3 I1 F4 I2 W0 F5 I3 W1 I4 W2 I5 W3 W4 W5 .
//   2 |.  .  F0 I0 F1 I1 F2 I2 F3 I3 F4 I4 W0 F5 I5 W1 W2 W3 W4 W5
//
// No idle time between a coordinate's first and last action for equal costs and
// M >= 2P-1; by makespan, which counts the P-1 forwards before the last
// coordinate starts, (P-1) F: here 2, length 3 M+2 = 20. In flight until BW: at
// most min(2P-1, M), here 5. Below M = 2P-1 that is too little for the paper's
// warm-up, so coordinates run as many of its extra forwards as fit in between
// ZB-H1 (M = P) and ZB-H2: 3 M+P-1 for every M >= P. The paper lets coordinates
// start the next step at different times; a step that ends together keeps the
// makespan.

#include "Kinds.h"

#include <algorithm>

namespace piper::schedule {

void fillZeroBubbleH2(Schedule &s) {
  int P = s.P, extra = std::clamp(s.M - P, 0, P - 1);
  for (int rank = 0; rank < P; ++rank) {
    int ahead = P - 1 - rank; // as in ZB-H1
    int warmup = ahead + (P > 1 ? extra * ahead / (P - 1) : 0);
    alternateOneStage(s, rank, warmup, /*weightDelay=*/P - 1 + extra - warmup);
  }
}

} // namespace piper::schedule
