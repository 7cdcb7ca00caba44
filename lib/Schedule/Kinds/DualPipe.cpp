// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DualPipe: micro-batches enter at both ends, each half of them through its own
// copy of the stages, and a forward of one direction overlaps a backward of the
// other (DeepSeek-AI 2024, "DeepSeek-V3 Technical Report", section 3.2.1; the
// eight steps are those of the published deepseek-ai/DualPipe). Stages 2 and 3
// are the second copies of 0 and 1; the letters are the stages on a coordinate.
// P = 2, M = 4, F = BI = BW = 1, pairs as sum:
//
//   0 |F0a F2b F1a B2b---- F3bB0a----- B3b---- I1a W1a
//   1 |F2b F0a F3b B0a---- F1aB2b----- B1a---- I3b W3b
//
// Largest idle time of a coordinate (P/2-1) (FB+B-3 BW) for F = BI >= BW, with
// B the full backward and FB a pair: here 0, length 12, and 2 for P = 4 with
// pairs as sum. In flight: at most P+1, here 3.

#include "Kinds.h"

#include <algorithm>

namespace piper::schedule {

namespace {
/// Writes the actions of one coordinate, counting micro-batches by direction.
class DualWriter {
public:
  DualWriter(std::vector<Action> &actions, const DualRank &rank)
      : actions(actions), rank(rank) {}

  void forward(int d) { actions.push_back(nextForward(d)); }
  void backward(int d) { actions.push_back(nextBackward(d)); }
  void backwardInput(int d) {
    Action a = nextBackward(d);
    actions.push_back(Action::backwardInput(a.stage, a.microBatch));
    pending.push_back(Action::backwardWeight(a.stage, a.microBatch));
  }
  /// The oldest weight gradient not yet computed.
  void weight() { actions.push_back(pending[done++]); }
  void pair(int dF, int dB) {
    Action f = nextForward(dF), b = nextBackward(dB);
    actions.push_back(
        Action::pair(f.stage, f.microBatch, b.stage, b.microBatch));
  }

private:
  Action nextForward(int d) {
    return Action::forward(rank.stage[d], rank.firstMb[d] + forwards[d]++);
  }
  Action nextBackward(int d) {
    return Action::backward(rank.stage[d], rank.firstMb[d] + backwards[d]++);
  }

  std::vector<Action> &actions;
  const DualRank &rank;
  int forwards[2] = {0, 0}, backwards[2] = {0, 0};
  std::vector<Action> pending;
  size_t done = 0;
};
} // namespace

void fillDualSteps(std::vector<Action> &actions, const DualRank &rank) {
  DualWriter w(actions, rank);
  int inner = rank.half - 1 - rank.depth; // coordinates between here and middle
  int outer = rank.depth + 1;             // from here to the end, with this one
  int main = rank.microBatches - 2 * rank.half + outer;
  // 1, 2: forwards of the near direction, then of both.
  for (int i = 0; i < 2 * inner; ++i)
    w.forward(0);
  for (int i = 0; i < outer; ++i) {
    w.forward(0);
    w.forward(1);
  }
  // 3: the far direction comes back; weight gradients fill its gaps.
  for (int i = 0; i < inner; ++i) {
    w.backwardInput(1);
    w.weight();
    w.forward(1);
  }
  // 4: overlapped pairs both ways. In the middle the first one runs apart,
  // which lets the other coordinate go on sooner.
  for (int i = 0; i < main; ++i) {
    if (i == 0 && inner == 0) {
      w.forward(0);
      w.backward(1);
    } else {
      w.pair(0, 1);
    }
    w.pair(1, 0);
  }
  // 5: the near direction has no forwards left.
  for (int i = 0; i < inner; ++i) {
    w.backward(1);
    w.pair(1, 0);
  }
  // 6: backwards of both in turn, the second half of them split.
  for (int i = 0; i < 2 * outer; ++i) {
    int direction = i % 2 == 0 ? 1 : 0;
    if (i < outer)
      w.backward(direction);
    else
      w.backwardInput(direction);
  }
  // 7, 8: the last input gradients, then what is left of the weights.
  for (int i = 0; i < inner; ++i) {
    w.weight();
    w.backwardInput(0);
  }
  for (int i = 0; i < outer; ++i)
    w.weight();
}

void fillDualPipe(Schedule &s) {
  for (int r = 0; r < s.P; ++r) {
    DualRank rank;
    rank.half = s.P / 2;
    rank.depth = std::min(r, s.P - 1 - r);
    rank.microBatches = s.M / 2;
    int near = r < s.P / 2 ? 0 : 1; // the chain that enters near here
    for (int d : {0, 1}) {
      int chain = d == 0 ? near : 1 - near;
      rank.stage[d] = chain == 0 ? r : 2 * s.P - 1 - r;
      rank.firstMb[d] = chain == 0 ? 0 : s.M / 2;
    }
    fillDualSteps(s.ranks[r], rank);
  }
}

} // namespace piper::schedule
