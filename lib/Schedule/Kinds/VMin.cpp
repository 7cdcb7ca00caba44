// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// V-Min: the V of ZB-V, repeated so that an activation lives as briefly as it
// can, a third as long as in 1F1B (Qi et al. 2024, "Pipeline Parallelism with
// Controllable Memory", sections 3 and 4; slots as published with the paper).
// P = 2, M = 2, F = BI = BW = 1:
//
//   0 |F0a .   .   F0b I0b W0b F1a I0a W0a F1b I1b W1b .   I1a W1a
//   1 |.   F0a F0b .   .   I0b I0a F1a F1b W0b W0a I1b I1a W1b W1a
//
// In flight until BW: at most 2 floor((P+4)/3) chunk activations, here 4, and 8
// for P = 8. Length for equal costs and long steps 6 M+4 P-5 (2 more for P a
// multiple of 3): here 15, and 123 for P = 8, M = 16.

#include "Kinds.h"

namespace piper::schedule {

void fillVMin(Schedule &s) {
  int P = s.P, gap = P % 3 == 0 ? 2 : 0;
  fillFromBlock(s,
                {[=](int r) { return r; }, [=](int r) { return 2 * P - 1 - r; },
                 [=](int r) { return 2 * P + gap + r; },
                 [=](int r) { return 4 * P + gap - 1 - r; }});
}

} // namespace piper::schedule
