// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interleaved 1F1B: V chunks on each coordinate, 1F1B over the chunks in groups
// of one round of micro-batches (Narayanan et al. 2021, "Efficient Large-Scale
// Language Model Training on GPU Clusters Using Megatron-LM", section 2.2.2). A
// round has M / max(1, floor(M/P)) micro-batches, P in the paper. P = 2, V = 2,
// M = 2, F = 1, B = 2 on each chunk:
//
//   0 |F0a F1a F0b F1b .   .   B0b---- .   B1b---- B0a---- B1a----
//   1 |.   F0a F1a F0b B0b---- F1b B1b---- B0a---- B1a---- .   .
//
// Share of idle time (P-1) / (V M+P-1) for M a multiple of P: here 1/5, length
// 3 (V M+P-1) = 15. In flight on coordinate r for rounds of P: at most
// (V-1) P + 2 (P-1-r) + 1, for P = 4, V = 2: 11, 9, 7, 5.

#include "Kinds.h"

namespace piper::schedule {

void fillInterleaved(Schedule &s) {
  int round = interleavedRound(s.P, s.M);
  for (int rank = 0; rank < s.P; ++rank)
    alternate(
        s.ranks[rank], s.V * s.M, (s.V - 1) * round + 2 * (s.P - 1 - rank),
        [&](int k) { return interleavedForward(s, rank, k); },
        [&](int k) { return interleavedBackward(s, rank, k); });
}

} // namespace piper::schedule
