// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The total order of actions and transfers, and its timing. Both walk the
// actions once; sorting by start time is the only step above linear.

#include "Piper/Schedule/OpOrder.h"

#include "ActionGraph.h"
#include "Piper/Schedule/Simulate.h"

#include <algorithm>

namespace piper::schedule {

/// Nodes by eager start time; ties keep topological order.
static std::vector<int> sortByStart(const ActionGraph &g,
                                    const Simulation &eager) {
  std::vector<int> order = g.topologicalOrder();
  auto startOf = [&](int node) {
    return eager.start[g.rankOf[node]][g.indexOf(node)];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return startOf(a) < startOf(b); });
  return order;
}

Result<std::vector<PlannedOp>> makeOpOrder(const Schedule &schedule,
                                           const Costs &costs, int prefetch,
                                           Overlap overlap) {
  if (prefetch < 0)
    return Error{"prefetch must be at least 0 but is " +
                 std::to_string(prefetch)};
  SimulateOptions options;
  options.overlap = overlap;
  auto eager = simulate(schedule, costs, options);
  if (!eager)
    return Error{eager.error()};
  ActionGraph g;
  buildActionGraph(schedule, g);
  std::vector<int> order = sortByStart(g, *eager);
  std::vector<int> position(g.size());
  for (int i = 0; i < g.size(); ++i)
    position[order[i]] = i;

  // Transfers behind the action they are anchored to, consumers in order.
  std::vector<std::vector<PlannedOp>> behind(g.size());
  size_t transfers = 0;
  for (int node : order) {
    int rank = g.rankOf[node], index = g.indexOf(node);
    int earliest = index - 1 - prefetch;
    int anchor = earliest < 0 ? -1 : position[g.rankBegin[rank] + earliest];
    for (bool backward : {false, true}) {
      int need = backward ? g.needs[node].backward : g.needs[node].forward;
      if (need < 0 || g.rankOf[need] == rank)
        continue;
      behind[std::max(anchor, position[need])].push_back(
          {g.rankOf[need], g.indexOf(need), rank, index, backward});
      ++transfers;
    }
  }
  std::vector<PlannedOp> ops;
  ops.reserve(order.size() + transfers);
  for (int i = 0; i < g.size(); ++i) {
    ops.push_back({g.rankOf[order[i]], g.indexOf(order[i])});
    ops.insert(ops.end(), behind[i].begin(), behind[i].end());
  }
  return ops;
}

Result<OpTimes> timeOpOrder(const Schedule &schedule, const Costs &costs,
                            const std::vector<PlannedOp> &order,
                            Overlap overlap) {
  ActionGraph g;
  std::vector<std::string> errors = buildActionGraph(schedule, g);
  if (!errors.empty())
    return Error{errors.front()};
  auto perStage = stageCosts(schedule, costs);
  if (!perStage)
    return Error{perStage.error()};

  std::vector<double> compute(schedule.P, 0), outgoing(schedule.P, 0),
      incoming(schedule.P, 0), lastStart(schedule.P, 0);
  std::vector<double> actionEnd(g.size(), 0), arrived(g.size(), 0);
  OpTimes times;
  times.start.reserve(order.size());
  times.end.reserve(order.size());
  for (const PlannedOp &op : order) {
    int node = g.rankBegin[op.rank] + op.index;
    double start, end;
    if (op.isTransfer()) {
      start = std::max({actionEnd[node], outgoing[op.rank], incoming[op.toRank],
                        lastStart[op.rank], lastStart[op.toRank]});
      end = start + perStage->comm;
      outgoing[op.rank] = incoming[op.toRank] = end;
      double &arrival = arrived[g.rankBegin[op.toRank] + op.toIndex];
      arrival = std::max(arrival, end);
    } else {
      start = std::max(compute[op.rank], arrived[node]);
      for (int need : g.needs[node].all())
        if (need >= 0 && g.rankOf[need] == op.rank)
          start = std::max(start, actionEnd[need]);
      end = start + durationOf(*g.actions[node], *perStage, overlap);
      compute[op.rank] = actionEnd[node] = end;
      lastStart[op.rank] = start;
    }
    times.start.push_back(start);
    times.end.push_back(end);
  }
  return times;
}

} // namespace piper::schedule
