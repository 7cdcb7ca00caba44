// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of a schedule: completeness and placement (ActionGraph), order
// against data flow, ascending backwards, memory.

#include "Piper/Schedule/Verify.h"

#include "ActionGraph.h"

#include <algorithm>

namespace piper::schedule {

/// From any coordinate that cannot go on, follow what it waits for until a
/// coordinate repeats: that is the cycle.
static std::string describeCycle(const ActionGraph &g,
                                 const std::vector<int> &order) {
  std::vector<char> done(g.size(), 0);
  for (int node : order)
    done[node] = 1;
  auto headOf = [&](int rank) {
    int node = g.rankBegin[rank];
    while (node < g.rankBegin[rank + 1] && done[node])
      ++node;
    return node;
  };
  auto blockerOf = [&](int node) {
    for (int need : g.needs[node].all())
      if (need >= 0 && !done[need])
        return need;
    return -1;
  };

  int ranks = static_cast<int>(g.rankBegin.size()) - 1, rank = 0;
  while (headOf(rank) == g.rankBegin[rank + 1])
    ++rank;
  std::vector<int> visited; // coordinates in order of visit
  std::vector<char> seen(ranks, 0);
  while (!seen[rank]) {
    seen[rank] = 1;
    visited.push_back(rank);
    rank = g.rankOf[blockerOf(headOf(rank))];
  }
  std::string text = "the order contradicts the data flow:";
  auto start = std::find(visited.begin(), visited.end(), rank);
  for (auto it = start; it != visited.end(); ++it) {
    int head = headOf(*it), blocker = blockerOf(head);
    text += (it == start ? " " : "; ") + std::string("coordinate ") +
            std::to_string(*it) + " stands at " + toString(*g.actions[head]) +
            ", which needs " + toString(*g.actions[blocker]) +
            ", later on coordinate " + std::to_string(g.rankOf[blocker]);
  }
  return text;
}

static void checkAscending(const Schedule &s,
                           std::vector<std::string> &errors) {
  std::vector<int> last(s.numStages(), -1);
  for (const auto &rank : s.ranks)
    for (const Action &a : rank) {
      if (a.pass == Pass::F || a.pass == Pass::BW)
        continue;
      int stage = a.pass == Pass::FB ? a.stageB : a.stage;
      int mb = a.pass == Pass::FB ? a.microBatchB : a.microBatch;
      if (mb < last[stage] && errors.size() < kMaxErrors)
        errors.push_back(
            "backwards of a stage must ascend in micro-batch but " +
            toString(a) + " follows mb " + std::to_string(last[stage]));
      last[stage] = mb;
    }
}

static void checkMemory(const Schedule &s, std::vector<std::string> &errors) {
  for (int rank = 0; rank < static_cast<int>(s.cap.size()); ++rank) {
    int live = 0, peak = 0;
    const Action *at = nullptr;
    for (const Action &a : s.ranks[rank]) {
      live += a.pass == Pass::F || a.pass == Pass::FB;
      if (live > peak) {
        peak = live;
        at = &a;
      }
      live -= a.pass == Pass::B || a.pass == Pass::BW || a.pass == Pass::FB;
    }
    if (peak <= s.cap[rank] || errors.size() >= kMaxErrors)
      continue;
    std::string stages;
    for (int stage = 0; stage < s.numStages(); ++stage)
      if (s.stageRank[stage] == rank)
        stages += (stages.empty() ? "" : ", ") + std::to_string(stage);
    errors.push_back("coordinate " + std::to_string(rank) + " (stage " +
                     stages + ") needs " + std::to_string(peak) +
                     " chunk activations at " + toString(*at) +
                     " but its limit is " + std::to_string(s.cap[rank]));
  }
}

std::vector<std::string> verify(const Schedule &schedule,
                                const VerifyOptions &options) {
  ActionGraph graph;
  std::vector<std::string> errors = buildActionGraph(schedule, graph);
  if (!errors.empty())
    return errors;
  std::vector<int> order = graph.topologicalOrder();
  if (static_cast<int>(order.size()) != graph.size())
    errors.push_back(describeCycle(graph, order));
  if (options.ascendingBackwards)
    checkAscending(schedule, errors);
  checkMemory(schedule, errors);
  return errors;
}

} // namespace piper::schedule
