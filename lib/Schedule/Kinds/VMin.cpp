// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vmin.

#include "Kinds.h"

namespace piper::schedule {

void fillVMin(Schedule &s) {
  int P = s.P, gap = P % 3 == 0 ? 2 : 0;
  fillFromBlock(s,
                {[=](int r) { return r; }, [=](int r) { return 2 * P - 1 - r; },
                 [=](int r) { return 2 * P + gap + r; },
                 [=](int r) { return 4 * P + gap - 1 - r; }});
}

} // namespace piper::schedule
