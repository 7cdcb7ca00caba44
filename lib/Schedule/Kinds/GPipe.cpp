// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPipe: every forward, then every backward (Huang et al. 2019, "GPipe:
// Efficient Training of Giant Neural Networks using Pipeline Parallelism",
// section 2.3). P = 4, M = 4, F = 1, B = 2:
//
//   0 |F0 F1 F2 F3 .  .  .  .  .  .  .  .  .  B0--- B1--- B2--- B3---
//   1 |.  F0 F1 F2 F3 .  .  .  .  .  .  B0--- B1--- B2--- B3--- .  .
//   2 |.  .  F0 F1 F2 F3 .  .  .  B0--- B1--- B2--- B3--- .  .  .  .
//   3 |.  .  .  F0 F1 F2 F3 B0--- B1--- B2--- B3--- .  .  .  .  .  .
//
// Share of idle time (P-1) / (M+P-1): here 3/7, length 3 (M+P-1) = 21. All M
// activations are in flight on every coordinate.

#include "Kinds.h"

namespace piper::schedule {

void fillGPipe(Schedule &s) {
  for (int rank = 0; rank < s.P; ++rank)
    alternateOneStage(s, rank, s.M);
}

} // namespace piper::schedule
