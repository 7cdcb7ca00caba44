// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// V-Half: the V of ZB-V, repeated so that an activation lives half as long as
// in 1F1B (Qi et al. 2024, "Pipeline Parallelism with Controllable Memory",
// sections 3 and 4; slots as published with the paper), with both ends moved
// into earlier gaps. P = 2, M = 2, F = BI = BW = 1:
//
//   0 |F0a F1a .   F0b I0b F1b I1b I0a W0b I1a W1b W0a W1a
//   1 |.   F0a F0b F1a F1b I0b I0a I1b I1a W0b W0a W1b W1a
//
// In flight until BW: at most 2 floor((P+2)/2) chunk activations, here 4, and
// 10 for P = 8. Length for equal costs and M >= P: 6 M+3 P-7 for even P >= 4 (1
// for P = 2), 6 M+3 P-4 for odd P >= 3: here 13, and 113 for P = 8, M = 16.

#include "Kinds.h"

namespace piper::schedule {

void fillVHalf(Schedule &s) {
  int P = s.P, gap = P % 2 == 0 ? 3 : 0;
  VBlock block = {[=](int r) { return 2 * r; },
                  [=](int r) { return 3 * P - 2 - r; },
                  [=](int r) { return 3 * P + gap - 1 + 2 * r; },
                  [=](int r) { return 6 * P + gap - 2 - r; }};
  fillFromEarlyBlock(s, block, /*cap=*/2 * ((P + 2) / 2));
}

} // namespace piper::schedule
