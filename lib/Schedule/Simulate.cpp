// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a schedule on a clock: one pass over its actions in topological order.

#include "Piper/Schedule/Simulate.h"

#include "ActionGraph.h"
#include "Piper/Schedule/OpOrder.h"

#include <algorithm>

namespace piper::schedule {

double Simulation::maxIdle() const {
  return idle.empty() ? 0 : *std::max_element(idle.begin(), idle.end());
}

double Simulation::maxSpanIdle() const {
  return spanIdle.empty() ? 0
                          : *std::max_element(spanIdle.begin(), spanIdle.end());
}

int Simulation::maxPeak() const {
  return peak.empty() ? 0 : *std::max_element(peak.begin(), peak.end());
}

double Simulation::bubbleRatio() const {
  double total = 0;
  for (double value : idle)
    total += value;
  return makespan > 0 ? total / (makespan * idle.size()) : 0;
}

/// Most activations alive when `release` frees them; a pair counts its new one
/// first.
static int peakOf(const std::vector<Action> &actions, Pass release) {
  int live = 0, peak = 0;
  for (const Action &a : actions) {
    live += a.pass == Pass::F || a.pass == Pass::FB;
    peak = std::max(peak, live);
    live -= a.pass == Pass::B || a.pass == Pass::FB || a.pass == release;
  }
  return peak;
}

/// Start and end of every action under eager transfers.
static void runEager(const ActionGraph &g, const std::vector<int> &order,
                     const StageCosts &costs, Overlap overlap,
                     std::vector<double> &start, std::vector<double> &end) {
  std::vector<double> forwardEnd(g.size(), 0);
  for (int node : order) {
    bool isFirst = node == g.rankBegin[g.rankOf[node]];
    auto arrival = [&](int need, const std::vector<double> &ends) {
      if (need < 0)
        return 0.0;
      bool crosses = g.rankOf[need] != g.rankOf[node];
      return ends[need] + (crosses ? costs.comm : 0);
    };
    const ActionGraph::Needs &needs = g.needs[node];
    ActionTime time = timeAction(
        *g.actions[node], costs, overlap, isFirst ? 0 : end[node - 1],
        arrival(needs.forward, forwardEnd),
        std::max(arrival(needs.backward, end), arrival(needs.own, end)));
    start[node] = time.start;
    forwardEnd[node] = time.forwardEnd;
    end[node] = time.end;
  }
}

/// The same under rendezvous transfers: the op order, timed.
static Result<bool> runRendezvous(const Schedule &schedule,
                                  const ActionGraph &g, const Costs &costs,
                                  const SimulateOptions &options,
                                  std::vector<double> &start,
                                  std::vector<double> &end) {
  auto order = makeOpOrder(schedule, costs, options.prefetch, options.overlap);
  if (!order)
    return Error{order.error()};
  auto times = timeOpOrder(schedule, costs, *order, options.overlap);
  if (!times)
    return Error{times.error()};
  for (size_t i = 0; i < order->size(); ++i) {
    const PlannedOp &op = (*order)[i];
    if (op.isTransfer())
      continue;
    int node = g.rankBegin[op.rank] + op.index;
    start[node] = times->start[i];
    end[node] = times->end[i];
  }
  return true;
}

/// Everything that is read off the starts and ends.
static Simulation summarize(const Schedule &schedule, const ActionGraph &g,
                            const StageCosts &costs, Overlap overlap,
                            const std::vector<double> &start,
                            const std::vector<double> &end) {
  Simulation sim;
  std::vector<double> updates(schedule.P, 0), first(schedule.P, 0),
      last(schedule.P, 0);
  for (int stage = 0; stage < schedule.numStages(); ++stage)
    updates[schedule.stageRank[stage]] += costs.update[stage];
  for (int rank = 0; rank < schedule.P; ++rank) {
    int begin = g.rankBegin[rank], finish = g.rankBegin[rank + 1];
    sim.start.emplace_back(start.begin() + begin, start.begin() + finish);
    sim.end.emplace_back(end.begin() + begin, end.begin() + finish);
    double work = updates[rank];
    for (int node = begin; node < finish; ++node)
      work += durationOf(*g.actions[node], costs, overlap);
    if (begin != finish)
      first[rank] = start[begin], last[rank] = end[finish - 1];
    last[rank] += updates[rank];
    sim.makespan = std::max(sim.makespan, last[rank]);
    sim.busy.push_back(work);
    sim.spanIdle.push_back(last[rank] - first[rank] - work);
    sim.peak.push_back(peakOf(schedule.ranks[rank], Pass::BW));
    sim.peakAtInput.push_back(peakOf(schedule.ranks[rank], Pass::BI));
  }
  for (double work : sim.busy)
    sim.idle.push_back(sim.makespan - work);
  return sim;
}

Result<Simulation> simulate(const Schedule &schedule, const Costs &costs,
                            const SimulateOptions &options) {
  ActionGraph graph;
  std::vector<std::string> errors = buildActionGraph(schedule, graph);
  if (!errors.empty())
    return Error{errors.front()};
  auto perStage = stageCosts(schedule, costs);
  if (!perStage)
    return Error{perStage.error()};

  std::vector<double> start(graph.size(), 0), end(graph.size(), 0);
  if (options.transfers == Transfers::Eager) {
    std::vector<int> order = graph.topologicalOrder();
    if (static_cast<int>(order.size()) != graph.size())
      return Error{"the order contradicts the data flow"};
    runEager(graph, order, *perStage, options.overlap, start, end);
  } else {
    auto run = runRendezvous(schedule, graph, costs, options, start, end);
    if (!run)
      return Error{run.error()};
  }
  return summarize(schedule, graph, *perStage, options.overlap, start, end);
}

} // namespace piper::schedule
