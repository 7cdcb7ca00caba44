// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The event loop of list scheduling: O(log P) per action.

#include "ListScheduler.h"

#include <algorithm>
#include <limits>

namespace piper::schedule {

static constexpr double kNever = std::numeric_limits<double>::infinity();
static constexpr double kSlack = 1e-9;

ListScheduler::ListScheduler(const Schedule &problem, const StageCosts &costs)
    : problem(problem), costs(costs), stagesOf(problem.P),
      position(problem.numStages()), cap(problem.cap) {
  for (int stage : problem.chains[0]) {
    auto &stages = stagesOf[problem.stageRank[stage]];
    position[stage] = static_cast<int>(stages.size());
    stages.push_back(stage);
  }
  if (cap.empty())
    cap.assign(problem.P, problem.V * problem.M);
}

bool ListScheduler::hasRoom(int stage) const {
  int rank = problem.stageRank[stage];
  int later = static_cast<int>(stagesOf[rank].size()) - 1 - position[stage];
  return live[rank] + 1 + later <= cap[rank];
}

void ListScheduler::consider(Choice &best, Pass pass, int stage,
                             double key) const {
  if (best.stage < 0 || key < best.key - kSlack)
    best = {pass, stage, key};
}

/// When the next action of `rank` that has a known producer becomes ready.
double ListScheduler::nextArrival(int rank, double now) const {
  double soonest = kNever;
  for (int stage : stagesOf[rank]) {
    int base = stage * problem.M;
    if (nextF[stage] < problem.M && hasRoom(stage) &&
        readyF[base + nextF[stage]] > now + kSlack)
      soonest = std::min(soonest, readyF[base + nextF[stage]]);
    if (nextB[stage] < problem.M && readyB[base + nextB[stage]] > now + kSlack)
      soonest = std::min(soonest, readyB[base + nextB[stage]]);
  }
  return soonest;
}

void ListScheduler::decide(int rank, double now) {
  Choice best, weight;
  for (int stage : stagesOf[rank]) {
    int base = stage * problem.M;
    int f = nextF[stage], b = nextB[stage], w = nextW[stage];
    if (b < problem.M && readyB[base + b] <= now + kSlack)
      consider(best, Pass::BI, stage,
               keys->backward[stage] + keys->interval * b);
    if (f < problem.M && readyF[base + f] <= now + kSlack && hasRoom(stage))
      consider(best, Pass::F, stage, keys->forward[stage] + keys->interval * f);
    if (w < b)
      consider(weight, Pass::BW, stage,
               keys->weight[stage] + keys->interval * w);
  }
  if (weight.stage >= 0 && (best.stage < 0 || weight.key < best.key - kSlack)) {
    bool filler = best.stage < 0;
    double wait = keys->hold * costs.backwardWeight[weight.stage];
    double arrival = filler && keys->hold > 0 ? nextArrival(rank, now) : kNever;
    if (arrival < now + wait - kSlack) {
      events.push({arrival, rank});
      return;
    }
    best = weight;
  }
  if (best.stage >= 0)
    start(best, rank, now);
}

void ListScheduler::deliver(std::vector<double> &ready, int from, int to,
                            int mb, double end) {
  int source = problem.stageRank[from], target = problem.stageRank[to];
  double arrival = end + (source != target ? costs.comm : 0);
  ready[to * problem.M + mb] = arrival;
  if (target != source)
    events.push({arrival, target});
}

void ListScheduler::start(const Choice &choice, int rank, double now) {
  int stage = choice.stage, last = problem.numStages() - 1;
  int place = problem.stageRank[stage];
  double end = now;
  switch (choice.pass) {
  case Pass::F: {
    int mb = nextF[stage]++;
    end += costs.forward[stage];
    ++live[place];
    actions[rank].push_back(Action::forward(stage, mb));
    // Requires stages numbered in chain order, as makePlacement does.
    if (stage < last)
      deliver(readyF, stage, stage + 1, mb, end);
    else
      readyB[stage * problem.M + mb] = end;
    break;
  }
  case Pass::BI: {
    int mb = nextB[stage]++;
    end += costs.backwardInput[stage];
    actions[rank].push_back(Action::backwardInput(stage, mb));
    if (stage > 0)
      deliver(readyB, stage, stage - 1, mb, end);
    break;
  }
  default: {
    int mb = nextW[stage]++;
    end += costs.backwardWeight[stage];
    --live[place];
    actions[rank].push_back(Action::backwardWeight(stage, mb));
    break;
  }
  }
  freeAt[rank] = end;
  makespan = std::max(makespan, end);
  events.push({end, rank});
}

double ListScheduler::run(const ListKeys &listKeys) {
  keys = &listKeys;
  size_t cells = size_t(problem.numStages()) * problem.M;
  readyF.assign(cells, kNever);
  readyB.assign(cells, kNever);
  std::fill_n(readyF.begin(), problem.M, 0.0);
  nextF.assign(problem.numStages(), 0);
  nextB = nextW = nextF;
  live.assign(problem.P, 0);
  freeAt.assign(problem.P, 0);
  actions.assign(problem.P, {});
  makespan = 0;
  for (int rank = 0; rank < problem.P; ++rank)
    events.push({0, rank});
  while (!events.empty()) {
    auto [now, rank] = events.top();
    events.pop();
    if (freeAt[rank] <= now + kSlack)
      decide(rank, now);
  }
  return makespan;
}

} // namespace piper::schedule
