// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1F1B.

#include "Kinds.h"

namespace piper::schedule {

void fillOneForwardOneBackward(Schedule &s) {
  for (int rank = 0; rank < s.P; ++rank)
    alternateOneStage(s, rank, s.P - 1 - rank);
}

} // namespace piper::schedule
