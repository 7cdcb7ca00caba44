// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// interleaved.

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
