// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// zbv.

#include "Kinds.h"

namespace piper::schedule {

void fillZeroBubbleV(Schedule &s) {
  int P = s.P;
  fillFromBlock(s, {[=](int r) { return 4 * r; },
                    [=](int r) { return 6 * P - 2 - 2 * r; },
                    [=](int r) { return 6 * P - 1 + 4 * r; },
                    [=](int r) { return 12 * P - 2 - 2 * r; }, 2 * P});
}

} // namespace piper::schedule
