// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Depth-first search over decisions in the order of time:
// 1. take the coordinate whose next decision comes first;
// 2. it starts any action that is ready, or waits for its next arrival, and
//    then starts what arrives at that moment or waits on (an action that was
//    ready before could have started before);
// 3. leave a branch whose lower bound is no shorter than the best order, or
//    whose state has been met with no later times.
// Micro-batches of a stage are alike, so each pass runs them in order.

#include "Exhaustive.h"

#include <algorithm>
#include <limits>
#include <map>

namespace piper::schedule {

static constexpr double kNever = std::numeric_limits<double>::infinity();
static constexpr double kSlack = 1e-9;

bool isTiny(const Schedule &problem, const StageCosts &costs) {
  if (problem.numStages() * int64_t(problem.M) > 16)
    return false;
  auto takesTime = [](const std::vector<double> &list) {
    return std::all_of(list.begin(), list.end(),
                       [](double cost) { return cost > 0; });
  };
  return takesTime(costs.forward) && takesTime(costs.backwardInput);
}

namespace {
class BranchAndBound {
public:
  BranchAndBound(const Schedule &problem, const StageCosts &costs,
                 double bound);
  void search();
  std::vector<std::vector<Action>> best;

private:
  /// All that decides the future; copied at each decision.
  struct State {
    std::vector<int> nextF, nextB, nextW; ///< per stage
    std::vector<int> live;                ///< per coordinate
    std::vector<double> freeAt;           ///< end of the last action, or ...
    std::vector<char> waiting;            ///< ... when it began to wait
    std::vector<double> readyF, readyB;   ///< by stage * M + micro-batch
  };
  double arrivalAfter(const State &s, int rank) const;
  double decisionTime(const State &s, int rank) const;
  bool canStart(const State &s, Pass pass, int stage, double now) const;
  State start(State s, Pass pass, int stage, double now);
  double lowerBound(const State &s) const;
  bool isDominated(const State &s);
  void decide(const State &s);

  const Schedule &problem;
  const StageCosts &costs;
  int stages, M;
  std::vector<int> cap;
  double bound;
  std::vector<std::vector<Action>> order;
  /// Times of the states met, by their counts.
  std::map<std::vector<int>, std::vector<std::vector<double>>> met;
};
} // namespace

BranchAndBound::BranchAndBound(const Schedule &problem, const StageCosts &costs,
                               double bound)
    : problem(problem), costs(costs), stages(problem.numStages()), M(problem.M),
      cap(problem.cap), bound(bound), order(problem.P) {
  if (cap.empty())
    cap.assign(problem.P, problem.V * M);
}

void BranchAndBound::search() {
  State s;
  s.nextF.assign(stages, 0);
  s.nextB = s.nextW = s.nextF;
  s.live.assign(problem.P, 0);
  s.freeAt.assign(problem.P, 0);
  s.waiting.assign(problem.P, 0);
  s.readyF.assign(size_t(stages) * M, kNever);
  s.readyB = s.readyF;
  std::fill_n(s.readyF.begin(), M, 0.0);
  decide(s);
}

/// The next known arrival of a waiting coordinate.
double BranchAndBound::arrivalAfter(const State &s, int rank) const {
  double soonest = kNever;
  for (int stage = 0; stage < stages; ++stage) {
    if (problem.stageRank[stage] != rank)
      continue;
    for (int mb = 0; mb < M; ++mb)
      for (double ready : {s.readyF[stage * M + mb], s.readyB[stage * M + mb]})
        if (ready > s.freeAt[rank] + kSlack)
          soonest = std::min(soonest, ready);
  }
  return soonest;
}

double BranchAndBound::decisionTime(const State &s, int rank) const {
  bool open = false;
  for (int stage = 0; stage < stages; ++stage)
    open |= problem.stageRank[stage] == rank && s.nextW[stage] < M;
  if (!open)
    return kNever;
  return s.waiting[rank] ? arrivalAfter(s, rank) : s.freeAt[rank];
}

bool BranchAndBound::canStart(const State &s, Pass pass, int stage,
                              double now) const {
  int rank = problem.stageRank[stage];
  if (pass == Pass::BW)
    return !s.waiting[rank] && s.nextW[stage] < s.nextB[stage];
  bool forward = pass == Pass::F;
  int mb = forward ? s.nextF[stage] : s.nextB[stage];
  if (mb >= M || (forward && s.live[rank] >= cap[rank]))
    return false;
  double ready = (forward ? s.readyF : s.readyB)[stage * M + mb];
  return s.waiting[rank] ? ready < now + kSlack && ready > now - kSlack
                         : ready < now + kSlack;
}

BranchAndBound::State BranchAndBound::start(State s, Pass pass, int stage,
                                            double now) {
  int rank = problem.stageRank[stage];
  auto deliver = [&](std::vector<double> &ready, int to, int mb, double end) {
    bool crosses = problem.stageRank[to] != rank;
    ready[to * M + mb] = end + (crosses ? costs.comm : 0);
  };
  int mb = 0;
  double end = now;
  if (pass == Pass::F) {
    mb = s.nextF[stage]++;
    end += costs.forward[stage];
    ++s.live[rank];
    if (stage + 1 < stages)
      deliver(s.readyF, stage + 1, mb, end);
    else
      deliver(s.readyB, stage, mb, end);
  } else if (pass == Pass::BI) {
    mb = s.nextB[stage]++;
    end += costs.backwardInput[stage];
    if (stage > 0)
      deliver(s.readyB, stage - 1, mb, end);
  } else {
    mb = s.nextW[stage]++;
    end += costs.backwardWeight[stage];
    --s.live[rank];
  }
  s.freeAt[rank] = end;
  s.waiting[rank] = 0;
  order[rank].push_back({pass, stage, mb});
  return s;
}

/// Work left on each coordinate, and the chain each next action starts.
double BranchAndBound::lowerBound(const State &s) const {
  std::vector<double> left(problem.P, 0);
  double longest = 0, chainBack = 0;
  std::vector<double> backFrom(stages);
  for (int stage = 0; stage < stages; ++stage) {
    int rank = problem.stageRank[stage];
    left[rank] += (M - s.nextF[stage]) * costs.forward[stage] +
                  (M - s.nextB[stage]) * costs.backwardInput[stage] +
                  (M - s.nextW[stage]) * costs.backwardWeight[stage];
    if (stage > 0 && rank != problem.stageRank[stage - 1])
      chainBack += costs.comm;
    chainBack += costs.backwardInput[stage];
    backFrom[stage] = chainBack + costs.backwardWeight[0];
    if (s.nextB[stage] < M) {
      double ready = s.readyB[stage * M + s.nextB[stage]];
      if (ready < kNever)
        longest = std::max(longest,
                           std::max(ready, s.freeAt[rank]) + backFrom[stage]);
    }
  }
  double chain = backFrom[stages - 1];
  for (int stage = stages - 1; stage >= 0; --stage) {
    int rank = problem.stageRank[stage];
    chain += costs.forward[stage];
    if (stage + 1 < stages && rank != problem.stageRank[stage + 1])
      chain += costs.comm;
    longest = std::max(longest, s.freeAt[rank] + left[rank]);
    if (s.nextF[stage] == M)
      continue;
    double ready = s.readyF[stage * M + s.nextF[stage]];
    if (ready < kNever)
      longest = std::max(longest, std::max(ready, s.freeAt[rank]) + chain);
  }
  return longest;
}

bool BranchAndBound::isDominated(const State &s) {
  std::vector<int> counts = s.nextF;
  counts.insert(counts.end(), s.nextB.begin(), s.nextB.end());
  counts.insert(counts.end(), s.nextW.begin(), s.nextW.end());
  counts.insert(counts.end(), s.waiting.begin(), s.waiting.end());
  std::vector<double> times = s.freeAt;
  for (int stage = 0; stage < stages; ++stage) {
    for (int mb = s.nextF[stage]; mb < M; ++mb)
      times.push_back(s.readyF[stage * M + mb]);
    for (int mb = s.nextB[stage]; mb < M; ++mb)
      times.push_back(s.readyB[stage * M + mb]);
  }
  auto &known = met[counts];
  auto notLater = [](const std::vector<double> &a,
                     const std::vector<double> &b) {
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] > b[i] + kSlack)
        return false;
    return true;
  };
  for (const auto &other : known)
    if (notLater(other, times))
      return true;
  known.erase(
      std::remove_if(known.begin(), known.end(),
                     [&](const auto &other) { return notLater(times, other); }),
      known.end());
  known.push_back(std::move(times));
  return false;
}

void BranchAndBound::decide(const State &s) {
  if (lowerBound(s) > bound - kSlack || isDominated(s))
    return;
  int rank = 0;
  double now = kNever;
  for (int r = 0; r < problem.P; ++r) {
    double time = decisionTime(s, r);
    if (time < now) {
      now = time;
      rank = r;
    }
  }
  if (now == kNever) {
    bool complete = std::all_of(s.nextW.begin(), s.nextW.end(),
                                [&](int count) { return count == M; });
    if (complete) {
      bound = *std::max_element(s.freeAt.begin(), s.freeAt.end());
      best = order;
    }
    return;
  }
  for (Pass pass : {Pass::BI, Pass::F, Pass::BW})
    for (int stage = 0; stage < stages; ++stage) {
      if (problem.stageRank[stage] != rank || !canStart(s, pass, stage, now))
        continue;
      decide(start(s, pass, stage, now));
      order[rank].pop_back();
    }
  State wait = s;
  wait.waiting[rank] = 1;
  wait.freeAt[rank] = now;
  decide(wait);
}

std::vector<std::vector<Action>>
exhaustive(const Schedule &problem, const StageCosts &costs, double bound) {
  BranchAndBound search(problem, costs, bound);
  search.search();
  return search.best;
}

} // namespace piper::schedule
