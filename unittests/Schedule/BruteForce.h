// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All orders of a tiny instance with whole-numbered costs, tick by tick: the
// judge of the search. Shares nothing with it.

#ifndef PIPER_UNITTESTS_SCHEDULE_BRUTEFORCE_H
#define PIPER_UNITTESTS_SCHEDULE_BRUTEFORCE_H

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

namespace piper::schedule {

/// Every coordinate, at every tick, starts any action that it may or stays
/// idle; states of one tick are a set. Micro-batches of a stage run in order.
class BruteForce {
public:
  std::vector<int> stageRank;
  int P = 1, M = 1;
  int cost[3] = {1, 1, 1}; ///< F, BI, BW; at least 1
  int comm = 0;            ///< 0 or 1
  int cap = 1 << 20;

  /// The least number of ticks in which all actions can end.
  int shortest() {
    stages = static_cast<int>(stageRank.size());
    std::string start(3 * stages + 3 * P, '\0');
    std::unordered_set<std::string> now = {start};
    for (int tick = 0;; ++tick) {
      std::unordered_set<std::string> next;
      for (const std::string &state : now) {
        if (isDone(state))
          return tick;
        choose(state, 0, next);
      }
      now.swap(next);
    }
  }

private:
  // State: how often each pass of each stage has *started*; per coordinate the
  // running action + 1, its ticks left, and the action + 1 that has just ended.
  char &count(std::string &s, int pass, int stage) const {
    return s[pass * stages + stage];
  }
  int ended(const std::string &s, int pass, int stage, bool elsewhere) const {
    int action = pass * stages + stage, rank = stageRank[stage];
    int done = s[action];
    done -= s[3 * stages + rank] == action + 1;
    if (elsewhere && comm)
      done -= s[3 * stages + 2 * P + rank] == action + 1;
    return done;
  }
  bool isDone(const std::string &s) const {
    for (int i = 0; i < 3 * stages; ++i)
      if (s[i] != M)
        return false;
    for (int r = 0; r < P; ++r)
      if (s[3 * stages + r])
        return false;
    return true;
  }

  bool mayStart(const std::string &s, int pass, int stage) const {
    int n = s[pass * stages + stage], rank = stageRank[stage];
    if (n == M)
      return false;
    auto has = [&](int otherPass, int other) {
      return ended(s, otherPass, other, stageRank[other] != rank) > n;
    };
    if (pass == 2)
      return has(1, stage);
    if (pass == 1)
      return has(0, stage) && (stage + 1 == stages || has(1, stage + 1));
    int live = 0;
    for (int other = 0; other < stages; ++other)
      if (stageRank[other] == rank)
        live += s[other] - s[2 * stages + other];
    return live < cap && (stage == 0 || has(0, stage - 1));
  }

  void choose(const std::string &s, int rank,
              std::unordered_set<std::string> &next) const {
    if (rank == P) {
      next.insert(tick(s));
      return;
    }
    choose(s, rank + 1, next); // idle, or running
    if (s[3 * stages + rank])
      return;
    for (int pass = 0; pass < 3; ++pass)
      for (int stage = 0; stage < stages; ++stage) {
        if (stageRank[stage] != rank || !mayStart(s, pass, stage))
          continue;
        std::string started = s;
        ++count(started, pass, stage);
        started[3 * stages + rank] =
            static_cast<char>(pass * stages + stage + 1);
        started[3 * stages + P + rank] = static_cast<char>(cost[pass]);
        // Started in this tick: others must not see it as ended.
        choose(started, rank + 1, next);
      }
  }

  std::string tick(std::string s) const {
    for (int r = 0; r < P; ++r) {
      char &running = s[3 * stages + r], &left = s[3 * stages + P + r];
      char &justEnded = s[3 * stages + 2 * P + r];
      justEnded = 0;
      if (running && --left == 0) {
        justEnded = comm ? running : 0;
        running = 0;
      }
    }
    return s;
  }

  int stages = 0;
};

} // namespace piper::schedule

#endif // PIPER_UNITTESTS_SCHEDULE_BRUTEFORCE_H
