// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// zbh2.

#include "Kinds.h"

namespace piper::schedule {

void fillZeroBubbleH2(Schedule &s) {
  for (int rank = 0; rank < s.P; ++rank)
    alternateOneStage(s, rank, 2 * (s.P - 1 - rank), /*weightDelay=*/2 * rank);
}

} // namespace piper::schedule
