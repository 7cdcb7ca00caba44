// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A repeated block whose ends move into earlier gaps under the same limit of
// memory ("Pipeline Parallelism with Controllable Memory", Qi et al. 2024,
// section 4, has the idea). One run on a clock of unit slots decides:
// 1. the forwards that the block has before a coordinate's first backward start
//    as soon as they can, those with earlier slots first;
// 2. then passes and weight gradients run in the order of their slots, which
//    leaves messages time to arrive;
// 3. when the forwards that are left fill at most half of the memory, weight
//    gradients wait for gaps, or until memory is full;
// 4. without forwards left, backwards start as soon as they can.
// A weight gradient always runs where the coordinate would wait otherwise.
//
// This ends for every block whose own order respects the limit: the unstarted
// pass with the earliest slot of all has its input, and the forwards started on
// its coordinate are at most those with earlier slots or of the warm-up.

#include "Kinds.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace piper::schedule {

static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

namespace {
class EarlyBlock {
public:
  EarlyBlock(Schedule &s, const VBlock &block, int cap);
  void run();

private:
  /// The four passes of a coordinate, in the order of the data flow.
  enum Row { Down, Up, UpBackward, DownBackward, NumRows };
  struct Coordinate {
    int64_t slot[NumRows] = {}; ///< of micro-batch 0
    int done[NumRows] = {};
    std::vector<Action> weights; ///< in the order of their backwards
    size_t weightsDone = 0;
    int live = 0;
    int64_t freeAt = 0;
    int64_t openSlot = 0; ///< of the block: the first not yet used
  };
  int stageOf(int rank, int row) const;
  int64_t nextSlot(const Coordinate &c, int row) const;
  bool canStart(int rank, int row, int64_t now) const;
  int choose(int rank, int64_t now) const;
  void deliver(std::vector<int64_t> &ready, int from, int to, int mb,
               int64_t time);
  void start(int rank, int row, int64_t now);
  void decide(int rank, int64_t now);

  Schedule &s;
  const int cap;
  std::vector<Coordinate> coordinates;
  std::vector<int64_t> readyF, readyB;   ///< arrival by stage * M + mb
  using Event = std::pair<int64_t, int>; ///< time, coordinate
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
};
} // namespace

EarlyBlock::EarlyBlock(Schedule &s, const VBlock &block, int cap)
    : s(s), cap(cap), coordinates(s.P),
      readyF(size_t(s.numStages()) * s.M, kNever), readyB(readyF) {
  std::fill_n(readyF.begin(), s.M, 0);
  for (int rank = 0; rank < s.P; ++rank) {
    int64_t *slot = coordinates[rank].slot;
    slot[Down] = block.down(rank);
    slot[Up] = block.up(rank);
    slot[UpBackward] = block.upBackward(rank);
    slot[DownBackward] = block.downBackward(rank);
    events.push({0, rank});
  }
}

int EarlyBlock::stageOf(int rank, int row) const {
  return row == Down || row == DownBackward ? rank : 2 * s.P - 1 - rank;
}

int64_t EarlyBlock::nextSlot(const Coordinate &c, int row) const {
  return c.done[row] == s.M
             ? kNever
             : c.slot[row] + int64_t(VBlock::kPeriod) * c.done[row];
}

bool EarlyBlock::canStart(int rank, int row, int64_t now) const {
  const Coordinate &c = coordinates[rank];
  if (c.done[row] == s.M)
    return false;
  bool forward = row == Down || row == Up;
  size_t cell = size_t(stageOf(rank, row)) * s.M + c.done[row];
  return (forward ? readyF : readyB)[cell] <= now &&
         !(forward && c.live >= cap);
}

/// The pass that starts now; NumRows where none can, or a weight gradient is
/// next.
int EarlyBlock::choose(int rank, int64_t now) const {
  const Coordinate &c = coordinates[rank];
  int64_t next[NumRows];
  for (int row = Down; row < NumRows; ++row)
    next[row] = nextSlot(c, row);
  int first = static_cast<int>(std::min_element(next, next + NumRows) - next);
  int forwardsLeft = 2 * s.M - c.done[Down] - c.done[Up];
  bool warmup = std::min(next[Down], next[Up]) < c.slot[UpBackward];
  bool steady = !warmup && forwardsLeft > cap / 2;
  if (steady && c.weightsDone < c.weights.size() && c.openSlot < next[first])
    return NumRows;
  // Two passes compete at either end; in between it is the turn of one.
  int best = NumRows;
  for (int row = Down; row < NumRows; ++row) {
    bool competes = warmup ? next[row] < c.slot[UpBackward]
                           : forwardsLeft == 0 || row == first;
    bool earlier = best == NumRows || next[row] < next[best];
    if (competes && earlier && canStart(rank, row, now))
      best = row;
  }
  return best;
}

void EarlyBlock::deliver(std::vector<int64_t> &ready, int from, int to, int mb,
                         int64_t time) {
  ready[size_t(to) * s.M + mb] = time;
  if (s.stageRank[to] != s.stageRank[from])
    events.push({time, s.stageRank[to]});
}

void EarlyBlock::start(int rank, int row, int64_t now) {
  Coordinate &c = coordinates[rank];
  c.openSlot = nextSlot(c, row) + 1;
  int stage = stageOf(rank, row), mb = c.done[row]++;
  if (row == Down || row == Up) {
    s.ranks[rank].push_back(Action::forward(stage, mb));
    ++c.live;
    if (stage + 1 < s.numStages())
      deliver(readyF, stage, stage + 1, mb, now + 1);
    else
      deliver(readyB, stage, stage, mb, now + 1);
    return;
  }
  s.ranks[rank].push_back(Action::backwardInput(stage, mb));
  c.weights.push_back(Action::backwardWeight(stage, mb));
  if (stage > 0)
    deliver(readyB, stage, stage - 1, mb, now + 1);
}

void EarlyBlock::decide(int rank, int64_t now) {
  Coordinate &c = coordinates[rank];
  int row = choose(rank, now);
  if (row != NumRows) {
    start(rank, row, now);
  } else if (c.weightsDone < c.weights.size()) {
    s.ranks[rank].push_back(c.weights[c.weightsDone++]);
    --c.live;
    ++c.openSlot;
  } else {
    return;
  }
  c.freeAt = now + 1;
  events.push({c.freeAt, rank});
}

void EarlyBlock::run() {
  while (!events.empty()) {
    auto [now, rank] = events.top();
    events.pop();
    if (coordinates[rank].freeAt <= now)
      decide(rank, now);
  }
}

void fillFromEarlyBlock(Schedule &s, const VBlock &block, int cap) {
  EarlyBlock(s, block, cap).run();
}

} // namespace piper::schedule
