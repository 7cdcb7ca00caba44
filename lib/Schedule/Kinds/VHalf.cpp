// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// V-Half: the V of ZB-V, repeated so that an activation lives half as long as
// in 1F1B (Qi et al. 2024, "Pipeline Parallelism with Controllable Memory",
// sections 3 and 4; slots as published with the paper). P = 2, M = 2, F = BI =
// BW = 1:
//
//   0 |F0a .   .   F0b F1a I0b W0b F1b .   .   I0a I1b W0a W1b .   I1a W1a
//   1 |.   F0a F0b .   .   F1a F1b I0b W0b I0a W0a .   I1b W1b I1a W1a .
//
// In flight until BW: at most 2 floor((P+2)/2) chunk activations, here 4, and
// 10 for P = 8. The order is the one of the slots; the paper moves actions into
// earlier gaps on top, which makes the ramps at both ends shorter.

#include "Kinds.h"

namespace piper::schedule {

void fillVHalf(Schedule &s) {
  int P = s.P, gap = P % 2 == 0 ? 3 : 0;
  fillFromBlock(s, {[=](int r) { return 2 * r; },
                    [=](int r) { return 3 * P - 2 - r; },
                    [=](int r) { return 3 * P + gap - 1 + 2 * r; },
                    [=](int r) { return 6 * P + gap - 2 - r; }});
}

} // namespace piper::schedule
