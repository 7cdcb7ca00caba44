// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// looped.

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
