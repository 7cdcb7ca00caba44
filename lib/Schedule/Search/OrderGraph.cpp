// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Incremental longest paths under moves of single actions.

#include "OrderGraph.h"

#include <algorithm>

namespace piper::schedule {

int OrderGraph::id(Pass pass, int stage, int mb) const {
  int row = pass == Pass::F ? 0 : pass == Pass::BI ? 1 : 2;
  return (row * stages + stage) * microBatches + mb;
}

void OrderGraph::link(int node, int need, double comm) {
  double lag = fixed[need].rank != fixed[node].rank ? comm : 0;
  headOf[node].need = need;
  headOf[node].lag = lag;
  TailInput &producer = tailOf[need];
  int slot = producer.user[0] == size() ? 0 : 1;
  producer.user[slot] = node;
  producer.lag[slot] = lag;
}

OrderGraph::OrderGraph(const Schedule &problem, const StageCosts &costs)
    : stages(problem.numStages()), microBatches(problem.M),
      count(3 * stages * microBatches), cap(problem.cap) {
  if (cap.empty())
    cap.assign(problem.P, problem.V * problem.M);
  headOf.resize(count);
  tailOf.resize(count);
  fixed.resize(count);
  const std::vector<double> *rows[] = {&costs.forward, &costs.backwardInput,
                                       &costs.backwardWeight};
  for (int node = 0; node < count; ++node) {
    int kind = node / microBatches, row = kind / stages, stage = kind % stages;
    double cost = (*rows[row])[stage];
    headOf[node] = {count, count, 0, cost};
    tailOf[node] = {count, {count, count}, {0, 0}, cost};
    fixed[node] = {problem.stageRank[stage], kind,
                   row == 0 ? 1 : (row == 2 ? -1 : 0)};
    costSum += cost;
  }
  for (int stage = 0; stage < stages; ++stage)
    for (int mb = 0; mb < microBatches; ++mb) {
      if (stage > 0)
        link(id(Pass::F, stage, mb), id(Pass::F, stage - 1, mb), costs.comm);
      // The own forward of an earlier stage is implied.
      link(id(Pass::BI, stage, mb),
           stage + 1 < stages ? id(Pass::BI, stage + 1, mb)
                              : id(Pass::F, stage, mb),
           costs.comm);
      link(id(Pass::BW, stage, mb), id(Pass::BI, stage, mb), costs.comm);
    }
  for (auto *list : {&index, &place, &topological, &open})
    list->resize(count);
  for (auto *list : {&finish, &finishBefore, &rest, &restBefore})
    list->assign(count + 1, 0);
}

bool OrderGraph::assign(const std::vector<std::vector<Action>> &ranks) {
  orders.assign(ranks.size(), {});
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    auto &order = orders[rank];
    for (const Action &a : ranks[rank]) {
      bool pair = a.pass == Pass::FB;
      if (a.pass == Pass::F || pair)
        order.push_back(id(Pass::F, a.stage, a.microBatch));
      int stage = pair ? a.stageB : a.stage;
      int mb = pair ? a.microBatchB : a.microBatch;
      bool full = a.pass == Pass::B || pair;
      if (full || a.pass == Pass::BI)
        order.push_back(id(Pass::BI, stage, mb));
      if (full || a.pass == Pass::BW)
        order.push_back(id(Pass::BW, stage, mb));
    }
    relink(static_cast<int>(rank), 0, static_cast<int>(order.size()) - 1);
  }
  // Any permutation will do to sort all of it as one window.
  for (int node = 0; node < size(); ++node)
    topological[node] = place[node] = node;
  if (!sortWindow(0, size() - 1))
    return false;
  updateHeads(0);
  // By time, which keeps later windows short.
  std::stable_sort(topological.begin(), topological.end(), [&](int a, int b) {
    return finish[a] - headOf[a].cost < finish[b] - headOf[b].cost;
  });
  for (int i = 0; i < size(); ++i)
    place[topological[i]] = i;
  updateTails(size() - 1);
  updateLength();
  return true;
}

std::vector<std::vector<Action>> OrderGraph::actions() const {
  static const Pass passes[] = {Pass::F, Pass::BI, Pass::BW};
  std::vector<std::vector<Action>> ranks(orders.size());
  for (size_t rank = 0; rank < orders.size(); ++rank)
    for (int node : orders[rank]) {
      int kind = fixed[node].kind;
      ranks[rank].push_back(
          {passes[kind / stages], kind % stages, node % microBatches});
    }
  return ranks;
}

/// The place nearest to `to` that keeps the micro-batches of a pass and stage
/// in order, and BW behind its BI on the same coordinate.
int OrderGraph::clampTarget(const std::vector<int> &order, int from,
                            int to) const {
  int moved = order[from];
  auto mayPass = [&](int first, int second) {
    return fixed[first].kind != fixed[second].kind &&
           headOf[second].need != first;
  };
  int at = from;
  while (at < to && mayPass(moved, order[at + 1]))
    ++at;
  while (at > to && mayPass(order[at - 1], moved))
    --at;
  return at;
}

/// Sets index and neighbours of the actions at [low, high] of an order.
void OrderGraph::relink(int rank, int low, int high) {
  const auto &order = orders[rank];
  int length = static_cast<int>(order.size());
  for (int i = low; i <= high; ++i) {
    index[order[i]] = i;
    headOf[order[i]].before = i > 0 ? order[i - 1] : size();
    tailOf[order[i]].after = i + 1 < length ? order[i + 1] : size();
  }
  if (low > 0)
    tailOf[order[low - 1]].after = order[low];
  if (high + 1 < length)
    headOf[order[high + 1]].before = order[high];
}

void OrderGraph::shift(int rank, int from, int to) {
  auto at = orders[rank].begin();
  if (from < to)
    std::rotate(at + from, at + from + 1, at + to + 1);
  else
    std::rotate(at + to, at + from, at + from + 1);
  relink(rank, std::min(from, to), std::max(from, to));
}

/// Whether the activations in flight stay under the cap within [low, high].
bool OrderGraph::fits(int rank, int low, int high) const {
  const auto &order = orders[rank];
  int live = 0;
  for (int i = 0; i <= high; ++i) {
    live += fixed[order[i]].delta;
    if (i >= low && live > cap[rank])
      return false;
  }
  return true;
}

/// Sorts the nodes at [low, high] of the topological order by the edges among
/// them; all others keep their places. False on a cycle, places unchanged.
bool OrderGraph::sortWindow(int low, int high) {
  auto inside = [&](int node) {
    return node != size() && place[node] >= low && place[node] <= high;
  };
  last.low = low;
  last.window.assign(topological.begin() + low, topological.begin() + high + 1);
  std::vector<int> &sorted = topological;
  int end = low;
  for (int node : last.window) {
    open[node] = inside(headOf[node].before) + inside(headOf[node].need);
    if (!open[node])
      sorted[end++] = node;
  }
  for (int i = low; i < end; ++i) {
    const TailInput &t = tailOf[sorted[i]];
    for (int user : {t.after, t.user[0], t.user[1]})
      if (inside(user) && --open[user] == 0)
        sorted[end++] = user;
  }
  if (end != high + 1) {
    std::copy(last.window.begin(), last.window.end(), sorted.begin() + low);
    return false;
  }
  for (int i = low; i <= high; ++i)
    place[sorted[i]] = i;
  return true;
}

void OrderGraph::updateHeads(int low) {
  for (int i = low; i < size(); ++i) {
    const HeadInput &n = headOf[topological[i]];
    finish[topological[i]] =
        std::max(finish[n.before], finish[n.need] + n.lag) + n.cost;
  }
  work += size() - low;
}

void OrderGraph::updateTails(int high) {
  for (int i = high; i >= 0; --i) {
    const TailInput &n = tailOf[topological[i]];
    double first = rest[n.user[0]] + n.lag[0];
    double second = rest[n.user[1]] + n.lag[1];
    rest[topological[i]] =
        std::max(rest[n.after], std::max(first, second)) + n.cost;
  }
  work += high + 1;
}

void OrderGraph::updateLength() {
  length = 0;
  for (const auto &order : orders)
    if (!order.empty())
      length = std::max(length, finish[order.back()]);
  // A path through a node is head + cost + tail = finish + rest - cost.
  pathSum = -costSum;
  for (int node = 0; node < size(); ++node)
    pathSum += finish[node] + rest[node];
}

bool OrderGraph::move(int rank, int from, int to) {
  const auto &order = orders[rank];
  int end = static_cast<int>(order.size()) - 1;
  to = clampTarget(order, from, std::max(0, std::min(to, end)));
  if (to == from)
    return false;
  shift(rank, from, to);
  int first = std::min(from, to), final = std::max(from, to);
  if (!fits(rank, first, final)) {
    shift(rank, to, from);
    return false;
  }
  int low = size(), high = 0;
  for (int i = first; i <= final; ++i) {
    low = std::min(low, place[order[i]]);
    high = std::max(high, place[order[i]]);
  }
  if (!sortWindow(low, high)) {
    shift(rank, to, from);
    return false;
  }
  last.rank = rank;
  last.from = from;
  last.to = to;
  last.length = length;
  last.pathSum = pathSum;
  finishBefore = finish;
  restBefore = rest;
  updateHeads(low);
  updateTails(high);
  updateLength();
  return true;
}

void OrderGraph::undo() {
  shift(last.rank, last.to, last.from);
  for (size_t i = 0; i < last.window.size(); ++i) {
    int at = last.low + static_cast<int>(i);
    topological[at] = last.window[i];
    place[topological[at]] = at;
  }
  finish.swap(finishBefore);
  rest.swap(restBefore);
  length = last.length;
  pathSum = last.pathSum;
}

} // namespace piper::schedule
