// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1F1B: after P-1-r forwards, coordinate r runs one forward and one backward in
// turn (Narayanan et al. 2019, "PipeDream", section 3.2; with a flush at the
// end of the step, Narayanan et al. 2021, "Memory-Efficient Pipeline-Parallel
// DNN Training", section 3.2). P = 4, M = 4, F = 1, B = 2:
//
//   0 |F0 F1 F2 F3 .  .  .  .  .  .  B0--- .  B1--- .  B2--- .  B3---
//   1 |.  F0 F1 F2 .  .  .  .  B0--- F3 B1--- .  B2--- .  B3--- .  .
//   2 |.  .  F0 F1 .  .  B0--- F2 B1--- F3 B2--- .  B3--- .  .  .  .
//   3 |.  .  .  F0 B0--- F1 B1--- F2 B2--- F3 B3--- .  .  .  .  .  .
//
// Share of idle time (P-1) / (M+P-1) as GPipe: here 3/7, length 21. In flight
// on coordinate r: min(P-r, M), here 4, 3, 2, 1.

#include "Kinds.h"

namespace piper::schedule {

void fillOneForwardOneBackward(Schedule &s) {
  for (int rank = 0; rank < s.P; ++rank)
    alternateOneStage(s, rank, s.P - 1 - rank);
}

} // namespace piper::schedule
