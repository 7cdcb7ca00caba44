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
  // A pair stands where both of its halves can run.
  options.overlap = overlap == Overlap::None ? Overlap::Sum : overlap;
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
  std::vector<ActionTime> done(g.size());
  std::vector<double> forwardInput(g.size(), 0), backwardInput(g.size(), 0);
  int last = -1; // action before the transfer
  OpTimes times;
  times.start.reserve(order.size());
  times.end.reserve(order.size());
  for (const PlannedOp &op : order) {
    int node = g.rankBegin[op.rank] + op.index;
    if (op.isTransfer()) {
      // The first half's result leaves before the second half starts.
      bool isBetween = node == last && !op.backward;
      double start =
          std::max({op.backward ? done[node].end : done[node].forwardEnd,
                    outgoing[op.rank], incoming[op.toRank],
                    isBetween ? done[node].start : lastStart[op.rank],
                    lastStart[op.toRank]});
      double end = start + perStage->comm;
      outgoing[op.rank] = incoming[op.toRank] = end;
      auto &input = op.backward ? backwardInput : forwardInput;
      input[g.rankBegin[op.toRank] + op.toIndex] = end;
      times.start.push_back(start);
      times.end.push_back(end);
      continue;
    }
    // What the coordinate makes itself is there when it is free.
    done[node] =
        timeAction(*g.actions[node], *perStage, overlap, compute[op.rank],
                   forwardInput[node], backwardInput[node]);
    compute[op.rank] = done[node].end;
    lastStart[op.rank] = done[node].backwardStart;
    last = node;
    times.start.push_back(done[node].start);
    times.end.push_back(done[node].end);
  }
  return times;
}

} // namespace piper::schedule
