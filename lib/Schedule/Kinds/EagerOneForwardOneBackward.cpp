// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eager 1F1B: 1F1B with twice the warm-up, so that a transfer has the time of
// one action more before its consumer waits for it (Zhuang et al. 2023, "On
// Optimizing the Communication of Model Parallelism", section 4). P = 3, M = 5,
// F = 1, B = 2:
//
//   0 |F0 F1 F2 F3 F4 .  .  B0--- .  B1--- .  B2--- .  B3--- .  B4---
//   1 |.  F0 F1 F2 .  B0--- F3 B1--- F4 B2--- .  B3--- .  B4--- .  .
//   2 |.  .  F0 B0--- F1 B1--- F2 B2--- F3 B3--- F4 B4--- .  .  .  .
//
// Length and idle share of 1F1B where transfers are free: here 3 (M+P-1) = 21.
// In flight on coordinate r: min(2 (P-1-r) + 1, M), here 5, 3, 1.

#include "Kinds.h"

namespace piper::schedule {

void fillEagerOneForwardOneBackward(Schedule &s) {
  for (int rank = 0; rank < s.P; ++rank)
    alternateOneStage(s, rank, 2 * (s.P - 1 - rank));
}

} // namespace piper::schedule
