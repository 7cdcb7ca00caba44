// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of kinds: name, sizes, placement and generator of each.

#include "Kinds.h"

#include "Piper/Schedule/Generate.h"

namespace piper::schedule {

static const char *interleavedRule(int P, int M) {
  int rounds = M < P ? 1 : M / P;
  return M % rounds == 0 ? nullptr
                         : "rounds = max(1, floor(M / P)) to divide M";
}

static const char *dualPipeRule(int P, int M) {
  if (P % 2 != 0)
    return "an even P";
  if (M % 2 != 0 || M < 2 * P)
    return "an even M >= 2 P";
  return nullptr;
}

static const char *dualPipeVRule(int P, int M) {
  return M < 2 * P ? "M >= 2 P" : nullptr;
}

const std::vector<KindInfo> &kinds() {
  static const std::vector<KindInfo> table = {
      {"gpipe", "all forwards, then all backwards", Placement::Loop, 1, false,
       nullptr, fillGPipe},
      {"1f1b", "one forward, one backward", Placement::Loop, 1, false, nullptr,
       fillOneForwardOneBackward},
      {"eager_1f1b", "1F1B with twice the warm-up, to hide transfers",
       Placement::Loop, 1, false, nullptr, fillEagerOneForwardOneBackward},
      {"interleaved_1f1b", "1F1B over V chunks per coordinate", Placement::Loop,
       0, false, interleavedRule, fillInterleaved},
      {"looped_bfs", "breadth first over V chunks", Placement::Loop, 0, false,
       nullptr, fillLoopedBreadthFirst},
      {"zb_h1", "split backward in 1F1B's memory", Placement::Loop, 1, true,
       nullptr, fillZeroBubbleH1},
      {"zb_h2", "split backward, no bubble, twice the memory", Placement::Loop,
       1, true, nullptr, fillZeroBubbleH2},
      {"interleaved_zb", "split backward over V chunks", Placement::Loop, 0,
       true, interleavedRule, fillInterleavedZeroBubble},
      {"zbv", "V-shaped, no bubble in 1F1B's memory", Placement::V, 2, true,
       nullptr, fillZeroBubbleV},
      {"v_half", "V-shaped, half of 1F1B's memory", Placement::V, 2, true,
       nullptr, fillVHalf},
      {"v_min", "V-shaped, a third of 1F1B's memory", Placement::V, 2, true,
       nullptr, fillVMin},
      {"dualpipe", "two directions, overlapped pairs", Placement::Bidirectional,
       2, true, dualPipeRule, fillDualPipe},
      {"dualpipev", "DualPipe folded into a V", Placement::V, 2, true,
       dualPipeVRule, fillDualPipeV},
  };
  return table;
}

} // namespace piper::schedule
