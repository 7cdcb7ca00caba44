// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search in four steps:
// 1. the named kinds that run on this placement within the cap;
// 2. list schedules with keys of several shapes;
// 3. annealing, in turn from a loose list schedule, the shortest list schedule
//    and the shortest named kind;
// 4. on tiny instances, branch and bound below what was found.
// It ends as soon as a lower bound is met.

#include "Piper/Schedule/Search.h"

#include "../ListScheduler.h"
#include "Anneal.h"
#include "Exhaustive.h"
#include "Piper/Schedule/Bounds.h"
#include "Piper/Schedule/Generate.h"
#include "Piper/Schedule/Simulate.h"
#include "Piper/Schedule/Verify.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace piper::schedule {

static constexpr double kSlack = 1e-9;

namespace {
/// The shortest order found so far.
class Shortest {
public:
  Shortest(const Schedule &problem, const Costs &costs)
      : problem(problem), costs(costs) {}

  void add(std::vector<std::vector<Action>> ranks) {
    Schedule s = problem;
    s.ranks = std::move(ranks);
    auto sim = simulate(s, costs);
    if (!sim || sim->makespan >= makespan)
      return;
    makespan = sim->makespan;
    order = std::move(s.ranks);
  }

  double makespan = std::numeric_limits<double>::infinity();
  std::vector<std::vector<Action>> order;

private:
  const Schedule &problem;
  const Costs &costs;
};
} // namespace

static void addNamedKinds(const Schedule &problem, Shortest &shortest) {
  for (const KindInfo &kind : kinds()) {
    Request request;
    request.kind = kind.name;
    request.P = problem.P;
    request.V = problem.V;
    request.M = problem.M;
    auto schedule = generate(request);
    if (!schedule || schedule->stageRank != problem.stageRank ||
        schedule->chains != problem.chains)
      continue;
    schedule->cap = problem.cap;
    if (verify(*schedule).empty())
      shortest.add(std::move(schedule->ranks));
  }
}

/// Keys that let a micro-batch spend `down` forward times on each stage on its
/// way to the last stage and `up` back; weight gradients follow `delay` behind.
static ListKeys slopeKeys(const StageCosts &costs, int V, double down,
                          double up, double delay) {
  int stages = static_cast<int>(costs.forward.size());
  auto mean = [&](const std::vector<double> &list) {
    return std::accumulate(list.begin(), list.end(), 0.0) / stages;
  };
  double slot = mean(costs.forward);
  ListKeys keys;
  keys.interval =
      V * (slot + mean(costs.backwardInput) + mean(costs.backwardWeight));
  keys.forward.resize(stages);
  keys.backward.resize(stages);
  keys.weight.resize(stages);
  for (int stage = 0; stage < stages; ++stage) {
    keys.forward[stage] = down * slot * stage;
    keys.backward[stage] = slot * (down * stages + up * (stages - 1 - stage));
    keys.weight[stage] = keys.backward[stage] + delay * slot;
  }
  return keys;
}

/// Returns the list schedule that annealing improves most in our experience,
/// though it is not the shortest: micro-batches move at half speed, which
/// leaves gaps to fill, and weight gradients follow soon.
static std::vector<std::vector<Action>>
addListSchedules(const Schedule &problem, const StageCosts &costs,
                 Shortest &shortest) {
  ListScheduler scheduler(problem, costs);
  auto run = [&](const ListKeys &keys) {
    scheduler.run(keys);
    shortest.add(scheduler.ranks());
  };
  for (double down : {1.0, 2.0, 3.0})
    for (double up : {1.0, 2.0})
      for (double delay : {4.0, 8.0, ListKeys::kFiller})
        run(slopeKeys(costs, problem.V, down, up, delay));
  // Backwards first, whatever their micro-batch.
  ListKeys greedy = slopeKeys(costs, problem.V, 0, -1, ListKeys::kFiller);
  greedy.interval = 0;
  for (double hold : {0.0, 1.0}) {
    greedy.hold = hold;
    run(greedy);
  }
  scheduler.run(slopeKeys(costs, problem.V, 2, 2, 4));
  return scheduler.ranks();
}

/// Independent runs share the effort, where each still gets enough to pay.
static int runsFor(int64_t evaluations, int64_t actions) {
  int64_t each = 300 * actions * actions;
  return static_cast<int>(std::clamp<int64_t>(evaluations / each, 1, 6));
}

Result<Schedule> search(const Schedule &problem, const Costs &costs,
                        uint64_t seed, const SearchEffort &effort) {
  auto perStage = stageCosts(problem, costs);
  if (!perStage)
    return Error{perStage.error()};
  if (problem.chains.size() != 1)
    return Error{"kind 'search' needs one chain of stages but got " +
                 std::to_string(problem.chains.size())};
  if (int64_t(problem.numStages()) * problem.M > kMaxSearched)
    return Error{"kind 'search' needs P * V * M of at most " +
                 std::to_string(kMaxSearched) +
                 " but got P = " + std::to_string(problem.P) +
                 ", V = " + std::to_string(problem.V) +
                 ", M = " + std::to_string(problem.M)};
  for (int cap : problem.cap)
    if (cap < problem.V)
      return Error{"kind 'search' needs a limit of at least V = " +
                   std::to_string(problem.V) + " chunk activations but got " +
                   std::to_string(cap)};

  Shortest named(problem, costs), shortest(problem, costs);
  addNamedKinds(problem, named);
  std::vector<std::vector<std::vector<Action>>> starts;
  starts.push_back(addListSchedules(problem, *perStage, shortest));
  starts.push_back(shortest.order);
  if (!named.order.empty()) {
    starts.push_back(named.order);
    shortest.add(named.order);
  }
  Schedule result = problem;
  result.kind = "search";
  result.ranks = starts[0];
  auto bounds = lowerBounds(result, costs);
  double goal = std::max(effort.goal, bounds ? bounds->best() : 0);

  OrderGraph graph(problem, *perStage);
  int runs = runsFor(effort.evaluations, graph.size());
  for (int run = 0; run < runs; ++run) {
    if (shortest.makespan <= goal + kSlack ||
        !graph.assign(starts[run % starts.size()]))
      break;
    anneal(graph, {seed * 1000003 + run, effort.evaluations / runs, goal});
    shortest.add(graph.actions());
  }
  if (isTiny(problem, *perStage) && shortest.makespan > goal + kSlack) {
    auto proven = exhaustive(problem, *perStage, shortest.makespan);
    if (!proven.empty())
      shortest.add(std::move(proven));
  }
  result.ranks = shortest.order;
  return result;
}

} // namespace piper::schedule
