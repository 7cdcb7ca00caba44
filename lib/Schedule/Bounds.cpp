// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lower bounds from the chain of one micro-batch and the work of a coordinate.

#include "Piper/Schedule/Bounds.h"

#include "ActionGraph.h"

#include <algorithm>
#include <limits>

namespace piper::schedule {

double LowerBounds::best() const {
  return std::max({criticalPath, work, ramp, residence});
}

namespace {
/// What one stage does at least, and when it can do it.
struct StageTimes {
  bool split = false, full = false;
  double gradient = 0; ///< until the gradient of its input exists
  double closing = 0;  ///< until its activation is released
  double firstForward = 0, firstBackward = 0;
  double after = 0; ///< that must follow its backward on other stages
};
} // namespace

static void markBackwards(const ActionGraph &g,
                          std::vector<StageTimes> &stages) {
  for (const Action *a : g.actions) {
    if (a->pass == Pass::BI)
      stages[a->stage].split = true;
    if (a->pass == Pass::B)
      stages[a->stage].full = true;
    if (a->pass == Pass::FB)
      stages[a->stageB].full = true;
  }
}

static void timeChain(const Schedule &s, const StageCosts &costs,
                      const std::vector<int> &chain,
                      std::vector<StageTimes> &stages) {
  auto hop = [&](size_t i) {
    bool crosses = s.stageRank[chain[i]] != s.stageRank[chain[i + 1]];
    return crosses ? costs.comm : 0;
  };
  for (int stage : chain) {
    StageTimes &t = stages[stage];
    double bi = costs.backwardInput[stage], b = costs.backward[stage];
    double both = bi + costs.backwardWeight[stage];
    t.gradient = !t.split ? b : !t.full ? bi : std::min(b, bi);
    t.closing = !t.split ? b : !t.full ? both : std::min(b, both);
  }
  size_t n = chain.size();
  for (size_t i = 0; i + 1 < n; ++i)
    stages[chain[i + 1]].firstForward =
        stages[chain[i]].firstForward + costs.forward[chain[i]] + hop(i);
  StageTimes &last = stages[chain[n - 1]];
  last.firstBackward = last.firstForward + costs.forward[chain[n - 1]];
  for (size_t i = n - 1; i > 0; --i)
    stages[chain[i - 1]].firstBackward =
        stages[chain[i]].firstBackward + stages[chain[i]].gradient + hop(i - 1);
  for (size_t i = 1; i < n; ++i) {
    const StageTimes &lower = stages[chain[i - 1]];
    stages[chain[i]].after =
        hop(i - 1) +
        std::max(lower.closing, lower.gradient + (i > 1 ? lower.after : 0));
  }
}

namespace {
/// One coordinate: sums and extremes over its actions and stages.
struct RankTotals {
  double busy = 0, update = 0;
  int forwards = 0, weights = 0; ///< counts of F and of BW
  double longestForward = 0, longestWeight = 0;
  double firstForward = std::numeric_limits<double>::infinity();
  double firstBackward = std::numeric_limits<double>::infinity();
  double after = std::numeric_limits<double>::infinity();
  double lives = 0;
};
} // namespace

static std::vector<RankTotals> totals(const Schedule &s, const ActionGraph &g,
                                      const StageCosts &costs, Overlap overlap,
                                      const std::vector<StageTimes> &stages) {
  std::vector<RankTotals> ranks(s.P);
  for (int stage = 0; stage < s.numStages(); ++stage) {
    RankTotals &r = ranks[s.stageRank[stage]];
    const StageTimes &t = stages[stage];
    r.update += costs.update[stage];
    r.firstForward = std::min(r.firstForward, t.firstForward);
    r.firstBackward = std::min(r.firstBackward, t.firstBackward);
    r.after = std::min(r.after, t.after);
    r.longestForward = std::max(r.longestForward, costs.forward[stage]);
    r.longestWeight = std::max(r.longestWeight, costs.backwardWeight[stage]);
  }
  for (int node = 0; node < g.size(); ++node) {
    const Action &a = *g.actions[node];
    RankTotals &r = ranks[g.rankOf[node]];
    r.busy += durationOf(a, costs, overlap);
    if (a.pass == Pass::F || a.pass == Pass::FB) {
      const StageTimes &t = stages[a.stage];
      r.lives += t.firstBackward + t.closing - t.firstForward;
      ++r.forwards;
    }
    r.weights += a.pass == Pass::BW;
  }
  return ranks;
}

Result<LowerBounds> lowerBounds(const Schedule &schedule, const Costs &costs,
                                Overlap overlap) {
  ActionGraph g;
  std::vector<std::string> errors = buildActionGraph(schedule, g);
  if (!errors.empty())
    return Error{errors.front()};
  auto perStage = stageCosts(schedule, costs);
  if (!perStage)
    return Error{perStage.error()};
  std::vector<StageTimes> stages(schedule.numStages());
  markBackwards(g, stages);
  for (const auto &chain : schedule.chains)
    timeChain(schedule, *perStage, chain, stages);
  std::vector<RankTotals> ranks =
      totals(schedule, g, *perStage, overlap, stages);

  LowerBounds bounds;
  for (int stage = 0; stage < schedule.numStages(); ++stage)
    bounds.criticalPath =
        std::max(bounds.criticalPath,
                 stages[stage].firstBackward + stages[stage].closing +
                     ranks[schedule.stageRank[stage]].update);
  for (int rank = 0; rank < schedule.P; ++rank) {
    const RankTotals &r = ranks[rank];
    if (r.forwards == 0)
      continue;
    int cap = schedule.cap.empty() ? r.forwards : schedule.cap[rank];
    double early = std::min(std::min(cap, r.forwards) * r.longestForward,
                            r.firstBackward - r.firstForward);
    double late = std::min(cap, r.weights) * r.longestWeight + r.update;
    bounds.work = std::max(bounds.work, r.busy + r.update);
    bounds.ramp =
        std::max(bounds.ramp, r.firstBackward - early + r.busy + r.update +
                                  std::max(0.0, r.after - late));
    if (!schedule.cap.empty() && cap > 0)
      bounds.residence = std::max(bounds.residence, r.lives / cap + r.update);
  }
  return bounds;
}

} // namespace piper::schedule
