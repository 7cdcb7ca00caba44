// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looped breadth-first: V chunks on each coordinate, every chunk runs all its
// micro-batches before the next one starts (Lamy-Poirier 2023, "Breadth-First
// Pipeline Parallelism", section 4). P = 2, V = 2, M = 2, F = 1, B = 2 on each
// chunk:
//
//   0 |F0a F1a F0b F1b .   .   .   B0b---- B1b---- B0a---- B1a----
//   1 |.   F0a F1a F0b F1b B0b---- B1b---- B0a---- B1a---- .   .
//
// Share of idle time (P-1) / (V M+P-1) for M >= P: here 1/5, length 15. All V M
// activations are in flight; in return each chunk's parameters are needed once
// per pass.

#include "Kinds.h"

namespace piper::schedule {

void fillLoopedBreadthFirst(Schedule &s) {
  for (int rank = 0; rank < s.P; ++rank) {
    auto stageAt = [&](int chunk) { return chunk * s.P + rank; };
    alternate(
        s.ranks[rank], s.V * s.M, s.V * s.M,
        [&](int k) { return Action::forward(stageAt(k / s.M), k % s.M); },
        [&](int k) {
          return Action::forward(stageAt(s.V - 1 - k / s.M), k % s.M);
        });
  }
}

} // namespace piper::schedule
