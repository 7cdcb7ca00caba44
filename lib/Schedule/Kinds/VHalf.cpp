// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vhalf.

#include "Kinds.h"

namespace piper::schedule {

void fillVHalf(Schedule &s) {
  int P = s.P, gap = P % 2 == 0 ? 3 : 0;
  fillFromBlock(s, {[=](int r) { return 2 * r; },
                    [=](int r) { return 3 * P - 2 - r; },
                    [=](int r) { return 3 * P + gap - 1 + 2 * r; },
                    [=](int r) { return 6 * P + gap - 2 - r; }});
}

} // namespace piper::schedule
