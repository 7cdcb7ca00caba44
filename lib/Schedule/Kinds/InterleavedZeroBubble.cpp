// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interleaved zero bubble: the chunk order of interleaved 1F1B with the split
// backward of ZB-H1 (Qi et al. 2023, "Zero Bubble Pipeline Parallelism", has
// the parts; this combination is PyTorch's), and, the backward being shorter,
// one forward of warm-up per coordinate instead of two. P = 2, V = 2, M = 2, F
// = BI = BW = 1:
//
//   0 |F0a F1a F0b F1b .   I0b W0b I1b W1b I0a W0a I1a W1a
//   1 |.   F0a F1a F0b I0b F1b I1b W0b I0a W1b I1a W0a W1a
//
// Idle time (P-1) (F+BI-BW) for equal costs and M a multiple of P: here 1,
// length 3 V M+1 = 13. In flight until BW: at most V P on every coordinate,
// here 4.

#include "Kinds.h"

namespace piper::schedule {

void fillInterleavedZeroBubble(Schedule &s) {
  int round = interleavedRound(s.P, s.M);
  for (int rank = 0; rank < s.P; ++rank)
    alternate(
        s.ranks[rank], s.V * s.M, (s.V - 1) * round + s.P - 1 - rank,
        [&](int k) { return interleavedForward(s, rank, k); },
        [&](int k) { return interleavedBackward(s, rank, k); },
        /*weightDelay=*/rank);
}

} // namespace piper::schedule
