// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DualPipeV: DualPipe cut in half and folded into a V: one copy of the stages,
// two chunks on each coordinate, chunk 0 taking the part of the near direction
// and chunk 1 of the far one (Qi et al. 2025, "DualPipe could be better without
// the Dual"; the steps are those of the published deepseek-ai/DualPipe). P = 2,
// M = 4, F = BI = BW = 1 on each chunk, pairs as sum:
//
//   0 |F0a F1a F2a F0b I0b W0b F1b F3aB1b----- .   F2bB0a-----
//   1 |.   F0a F0b F1a F1b F2a B0b---- F2bB0a----- F3aB1b-----
//   ..
//   0 |B2b---- .   F3bB1a----- B3b---- I2a W2a I3a W3a
//   1 |F3bB1a----- B2b---- B2a---- .   I3b I3a W3b W3a
//
// Largest idle time of a coordinate (P-1) (FB+B-3 BW) for F = BI >= BW: here 2,
// length 26. In flight: at most 2P+1 chunk activations, here 5.

#include "Kinds.h"

namespace piper::schedule {

void fillDualPipeV(Schedule &s) {
  for (int r = 0; r < s.P; ++r) {
    DualRank rank;
    rank.half = s.P;
    rank.depth = r;
    rank.microBatches = s.M;
    rank.stage[0] = r;
    rank.stage[1] = 2 * s.P - 1 - r;
    fillDualSteps(s.ranks[r], rank);
  }
}

} // namespace piper::schedule
