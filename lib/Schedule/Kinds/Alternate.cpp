// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop all one-direction kinds share: warm up, alternate, drain.

#include "Kinds.h"

#include <algorithm>

namespace piper::schedule {

void alternate(std::vector<Action> &actions, int total, int warmup,
               const Sequence &forward, const Sequence &backward,
               int weightDelay) {
  auto emit = [&](Pass pass, Action what) {
    what.pass = pass;
    actions.push_back(what);
  };
  warmup = std::min(warmup, total);
  for (int k = 0; k < warmup; ++k)
    emit(Pass::F, forward(k));
  bool split = weightDelay >= 0;
  for (int k = 0; k < total; ++k) {
    if (warmup + k < total)
      emit(Pass::F, forward(warmup + k));
    emit(split ? Pass::BI : Pass::B, backward(k));
    if (split && k >= weightDelay)
      emit(Pass::BW, backward(k - weightDelay));
  }
  if (split)
    for (int k = std::max(0, total - weightDelay); k < total; ++k)
      emit(Pass::BW, backward(k));
}

void alternateOneStage(Schedule &s, int rank, int warmup, int weightDelay) {
  auto inOrder = [rank](int k) { return Action::forward(rank, k); };
  alternate(s.ranks[rank], s.M, warmup, inOrder, inOrder, weightDelay);
}

int interleavedRound(int P, int M) { return M / std::max(1, M / P); }

static Action interleavedAt(const Schedule &s, int rank, int k, bool reverse) {
  int round = interleavedRound(s.P, s.M);
  int chunk = k / round % s.V;
  int mb = k / (round * s.V) * round + k % round;
  if (reverse)
    chunk = s.V - 1 - chunk;
  return Action::forward(chunk * s.P + rank, mb);
}

Action interleavedForward(const Schedule &s, int rank, int k) {
  return interleavedAt(s, rank, k, false);
}

Action interleavedBackward(const Schedule &s, int rank, int k) {
  return interleavedAt(s, rank, k, true);
}

} // namespace piper::schedule
