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
                                    const std::vector<double> &start) {
  std::vector<int> order = g.topologicalOrder();
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return start[a] < start[b]; });
  return order;
}

static std::vector<double>
flatten(const std::vector<std::vector<double>> &ranks) {
  std::vector<double> all;
  for (const std::vector<double> &times : ranks)
    all.insert(all.end(), times.begin(), times.end());
  return all;
}

Result<ActionOrder> makeActionOrder(const Schedule &schedule,
                                    const Costs &costs, Overlap overlap) {
  SimulateOptions options;
  // A pair stands where both of its halves can run.
  options.overlap = overlap == Overlap::None ? Overlap::Sum : overlap;
  auto eager = simulate(schedule, costs, options);
  if (!eager)
    return Error{eager.error()};
  ActionGraph g;
  buildActionGraph(schedule, g);
  std::vector<double> start = flatten(eager->start), end = flatten(eager->end);
  std::vector<int> order = sortByStart(g, start);
  ActionOrder result;
  for (size_t i = 0; i < order.size(); ++i) {
    int node = order[i];
    // What starts as it ends comes behind its results.
    double done = end[node] - 1e-9 * (1 + end[node]);
    auto next = std::lower_bound(
        order.begin() + i + 1, order.end(), done,
        [&](int other, double time) { return start[other] < time; });
    result.actions.push_back({g.rankOf[node], g.indexOf(node)});
    result.leaves.push_back(static_cast<int>(next - order.begin()) - 1);
    result.ends.push_back(end[node]);
  }
  return result;
}

Result<std::vector<PlannedOp>> makeOpOrder(const Schedule &schedule,
                                           const Costs &costs, int prefetch,
                                           Overlap overlap) {
  if (prefetch < 0)
    return Error{"prefetch must be at least 0 but is " +
                 std::to_string(prefetch)};
  auto order = makeActionOrder(schedule, costs, overlap);
  if (!order)
    return Error{order.error()};
  ActionGraph g;
  buildActionGraph(schedule, g);
  auto nodeOf = [&](const PlannedOp &op) {
    return g.rankBegin[op.rank] + op.index;
  };
  std::vector<int> position(g.size());
  for (int i = 0; i < g.size(); ++i)
    position[nodeOf(order->actions[i])] = i;

  // Transfers behind the action they are anchored to, as they get ready.
  std::vector<std::vector<PlannedOp>> behind(g.size());
  size_t transfers = 0;
  for (const PlannedOp &consumer : order->actions) {
    int rank = consumer.rank, index = consumer.index;
    int earliest = index - 1 - prefetch;
    int anchor = earliest < 0 ? -1 : position[g.rankBegin[rank] + earliest];
    const ActionGraph::Needs &needs = g.needs[nodeOf(consumer)];
    for (bool backward : {false, true}) {
      int need = backward ? needs.backward : needs.forward;
      if (need < 0 || g.rankOf[need] == rank)
        continue;
      behind[std::max(anchor, order->leaves[position[need]])].push_back(
          {g.rankOf[need], g.indexOf(need), rank, index, backward});
      ++transfers;
    }
  }
  std::vector<PlannedOp> ops;
  ops.reserve(g.size() + transfers);
  auto readyOf = [&](const PlannedOp &op) {
    return order->ends[position[nodeOf(op)]];
  };
  for (int i = 0; i < g.size(); ++i) {
    std::stable_sort(behind[i].begin(), behind[i].end(),
                     [&](const PlannedOp &a, const PlannedOp &b) {
                       return readyOf(a) < readyOf(b);
                     });
    ops.push_back(order->actions[i]);
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
  OpTimes times;
  times.start.reserve(order.size());
  times.end.reserve(order.size());
  for (const PlannedOp &op : order) {
    int node = g.rankBegin[op.rank] + op.index;
    if (op.isTransfer()) {
      double start =
          std::max({op.backward ? done[node].end : done[node].forwardEnd,
                    outgoing[op.rank], incoming[op.toRank], lastStart[op.rank],
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
    times.start.push_back(done[node].start);
    times.end.push_back(done[node].end);
  }
  return times;
}

} // namespace piper::schedule
