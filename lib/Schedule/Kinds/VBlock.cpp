// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules built by repeating one block of four passes every six slots
// ("Pipeline Parallelism with Controllable Memory", Qi et al. 2024, section 3).

#include "Kinds.h"

#include <algorithm>
#include <utility>

namespace piper::schedule {

/// The four passes of all micro-batches on one coordinate, by slot. (A list
/// and not a table of slots: a deep pipeline has many more slots than actions.)
static std::vector<std::pair<int64_t, Action>>
repeatBlock(const Schedule &s, int rank, const VBlock &block) {
  int down = rank, up = 2 * s.P - 1 - rank;
  const std::pair<int, Action> passes[] = {
      {block.down(rank), Action::forward(down, 0)},
      {block.up(rank), Action::forward(up, 0)},
      {block.upBackward(rank), Action::backwardInput(up, 0)},
      {block.downBackward(rank), Action::backwardInput(down, 0)}};
  std::vector<std::pair<int64_t, Action>> slots;
  for (auto [slot, action] : passes)
    for (int mb = 0; mb < s.M; ++mb) {
      action.microBatch = mb;
      slots.push_back({slot + int64_t(VBlock::kPeriod) * mb, action});
    }
  std::sort(slots.begin(), slots.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  return slots;
}

void fillFromBlock(Schedule &s, const VBlock &block) {
  for (int rank = 0; rank < s.P; ++rank) {
    std::vector<Action> &actions = s.ranks[rank];
    std::vector<Action> pending;
    size_t done = 0;
    int64_t next = 0; // the first slot not yet used
    for (const auto &[slot, action] : repeatBlock(s, rank, block)) {
      for (; next < slot && done < pending.size(); ++next)
        actions.push_back(pending[done++]);
      next = slot + 1;
      actions.push_back(action);
      if (action.pass == Pass::BI)
        pending.push_back(
            Action::backwardWeight(action.stage, action.microBatch));
    }
    actions.insert(actions.end(), pending.begin() + done, pending.end());
  }
}

} // namespace piper::schedule
