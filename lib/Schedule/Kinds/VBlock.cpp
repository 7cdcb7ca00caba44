// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules built by repeating one block of four passes every six slots
// ("Pipeline Parallelism with Controllable Memory", Qi et al. 2024, section 3).

#include "Kinds.h"

#include <utility>

namespace piper::schedule {

/// The slots of one coordinate, each empty or with an action: four of six
/// slots are taken in the steady state.
static std::vector<Action> repeatBlock(const Schedule &s, int rank,
                                       const VBlock &block) {
  int down = rank, up = 2 * s.P - 1 - rank, period = 6;
  const std::pair<int, Action> passes[] = {
      {block.down(rank), Action::forward(down, 0)},
      {block.up(rank), Action::forward(up, 0)},
      {block.upBackward(rank), Action::backwardInput(up, 0)},
      {block.downBackward(rank), Action::backwardInput(down, 0)}};
  size_t length = block.downBackward(rank) + period * (s.M - 1) + 1;
  std::vector<Action> slots(length, Action::forward(-1, -1));
  for (auto [slot, action] : passes)
    for (int mb = 0; mb < s.M; ++mb) {
      action.microBatch = mb;
      slots[slot + period * mb] = action;
    }
  return slots;
}

void fillFromBlock(Schedule &s, const VBlock &block) {
  for (int rank = 0; rank < s.P; ++rank) {
    std::vector<Action> &actions = s.ranks[rank];
    std::vector<Action> pending;
    size_t done = 0;
    for (const Action &slot : repeatBlock(s, rank, block)) {
      if (slot.stage >= 0)
        actions.push_back(slot);
      else if (done < pending.size())
        actions.push_back(pending[done++]);
      if (slot.pass == Pass::BI)
        pending.push_back(Action::backwardWeight(slot.stage, slot.microBatch));
    }
    actions.insert(actions.end(), pending.begin() + done, pending.end());
  }
}

} // namespace piper::schedule
