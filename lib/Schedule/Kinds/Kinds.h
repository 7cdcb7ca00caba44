// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the generators share, and their entry points for the table of kinds.
// Internal to this library.

#ifndef PIPER_LIB_SCHEDULE_KINDS_H
#define PIPER_LIB_SCHEDULE_KINDS_H

#include "Piper/Schedule/Schedule.h"

#include <functional>
#include <vector>

namespace piper::schedule {

void fillGPipe(Schedule &s);
void fillOneForwardOneBackward(Schedule &s);
void fillEagerOneForwardOneBackward(Schedule &s);
void fillInterleaved(Schedule &s);
void fillLoopedBreadthFirst(Schedule &s);
void fillZeroBubbleH1(Schedule &s);
void fillZeroBubbleH2(Schedule &s);
void fillInterleavedZeroBubble(Schedule &s);
void fillZeroBubbleV(Schedule &s);
void fillVHalf(Schedule &s);
void fillVMin(Schedule &s);
void fillDualPipe(Schedule &s);
void fillDualPipeV(Schedule &s);

/// Micro-batches of one round of an interleaved schedule: rounds = max(1,
/// floor(M / P)), which must divide M.
int interleavedRound(int P, int M);

/// The stage and micro-batch of a coordinate's k-th forward or backward.
using Sequence = std::function<Action(int k)>;

/// `warmup` forwards, then one forward and one backward in turn until both are
/// used up (`total` of each). With `weightDelay` >= 0 the backwards are split
/// and the BW of a backward runs `weightDelay` backwards later.
/// `forward(k)` and `backward(k)` give stage and micro-batch; the pass is set
/// here. Requires: 0 <= warmup.
void alternate(std::vector<Action> &actions, int total, int warmup,
               const Sequence &forward, const Sequence &backward,
               int weightDelay = -1);

/// One stage per coordinate, micro-batches in order: `alternate` for the
/// kinds with V = 1.
void alternateOneStage(Schedule &s, int rank, int warmup, int weightDelay = -1);

/// The two orders of the interleaved kinds: k -> (stage, mb), chunks in groups
/// of one round of micro-batches, ascending for forwards and descending for
/// backwards.
Action interleavedForward(const Schedule &s, int rank, int k);
Action interleavedBackward(const Schedule &s, int rank, int k);

/// A V-shaped building block: the slot in which coordinate r runs the four
/// passes of micro-batch 0, in the order of the data flow; micro-batch m runs
/// them 6 m slots later. Requires: on each coordinate the four slots differ
/// modulo 6.
struct VBlock {
  static constexpr int kPeriod = 6;
  std::function<int(int r)> down, up, upBackward, downBackward;
};

/// The order of the slots; weight gradients take the free ones, oldest first.
void fillFromBlock(Schedule &s, const VBlock &block);

/// The same block with earlier ends: its actions move into gaps before them
/// where that keeps at most `cap` activations. Requires: the block's own order
/// needs no more than `cap` until BI.
void fillFromEarlyBlock(Schedule &s, const VBlock &block, int cap);

/// The eight steps of DualPipe on one coordinate. Direction 0 is the one whose
/// forward enters near this coordinate. `depth` counts coordinates from the
/// ends (0) to the middle (`half` - 1), `microBatches` are those of one
/// direction; `stage[d]` and `firstMb[d]` are what direction d runs.
struct DualRank {
  int half = 0;
  int depth = 0;
  int microBatches = 0;
  int stage[2] = {0, 0};
  int firstMb[2] = {0, 0};
};
void fillDualSteps(std::vector<Action> &actions, const DualRank &rank);

} // namespace piper::schedule

#endif // PIPER_LIB_SCHEDULE_KINDS_H
