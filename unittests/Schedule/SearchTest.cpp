// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search: against all orders of tiny instances, against the named kinds,
// and against fixed bars.

#include "Piper/Schedule/Search.h"
#include "BruteForce.h"
#include "Piper/Schedule/Bounds.h"
#include "TestSchedules.h"

using namespace piper::schedule;

static Schedule problem(Placement placement, int P, int V, int M, int cap) {
  Schedule s = makePlacement(placement, P, V, M);
  s.kind = "search";
  if (cap)
    s.cap.assign(P, cap);
  return s;
}

/// Searches, verifies, and returns the makespan.
static double searched(const Schedule &problem, const Costs &costs,
                       const SearchEffort &effort = {}) {
  auto found = search(problem, costs, 1, effort);
  if (!found) {
    ADD_FAILURE() << found.error();
    return -1;
  }
  for (const std::string &error : verify(*found))
    ADD_FAILURE() << error;
  double length = run(*found, costs).makespan;
  EXPECT_GE(length, lowerBounds(*found, costs)->best() - 1e-9);
  return length;
}

static void compareWithAllOrders(Placement placement, int P, int V, int M,
                                 int cap, std::vector<int> costs, int comm) {
  BruteForce all;
  all.stageRank = makePlacement(placement, P, V, M).stageRank;
  all.P = P;
  all.M = M;
  std::copy(costs.begin(), costs.end(), all.cost);
  all.comm = comm;
  if (cap)
    all.cap = cap;
  // So little annealing that only exhaustive search can be exact.
  SearchEffort effort;
  effort.evaluations = 1000;
  EXPECT_DOUBLE_EQ(searched(problem(placement, P, V, M, cap),
                            Costs::uniform(costs[0], costs[1], costs[2], comm),
                            effort),
                   all.shortest())
      << "P=" << P << " V=" << V << " M=" << M << " cap=" << cap << " costs "
      << costs[0] << costs[1] << costs[2] << " comm=" << comm;
}

TEST(Search, EqualsAllOrdersWithOneChunk) {
  for (int P = 1; P <= 3; ++P)
    for (int M = 1; M <= 4; ++M)
      for (int cap : {0, 1, 2, 3})
        for (int comm : {0, 1})
          compareWithAllOrders(Placement::Loop, P, 1, M, cap, {1, 1, 1}, comm);
  for (int cap : {0, 2})
    for (int comm : {0, 1}) {
      compareWithAllOrders(Placement::Loop, 2, 1, 4, cap, {1, 2, 1}, comm);
      compareWithAllOrders(Placement::Loop, 3, 1, 3, cap, {2, 3, 1}, comm);
    }
}

TEST(Search, EqualsAllOrdersWithTwoChunks) {
  for (Placement placement : {Placement::Loop, Placement::V})
    for (int P = 1; P <= 2; ++P)
      for (int M = 1; M <= 3; ++M)
        for (int cap : {0, 2, 3})
          for (int comm : {0, 1})
            compareWithAllOrders(placement, P, 2, M, cap, {1, 1, 1}, comm);
  for (int cap : {0, 2, 3})
    compareWithAllOrders(Placement::V, 2, 2, 4, cap, {1, 1, 1}, 0);
  compareWithAllOrders(Placement::Loop, 2, 2, 4, 3, {1, 1, 1}, 0);
}

namespace {
struct Bar {
  int limit;
  double makespan;
};
} // namespace

// P = 8, M = 16, V placement, eager transfers; the limit is in chunk
// activations released at BW. V-Min takes 123 and 154.4 under the limit of 8.
TEST(Search, BarsForEqualCosts) {
  for (Bar bar :
       {Bar{8, 119}, Bar{10, 113}, Bar{12, 107}, Bar{14, 105}, Bar{16, 103}}) {
    SearchEffort effort;
    effort.goal = bar.makespan;
    EXPECT_LE(searched(problem(Placement::V, 8, 2, 16, bar.limit),
                       Costs::uniform(1, 1, 1), effort),
              bar.makespan + 1e-9)
        << "limit " << bar.limit;
  }
}

TEST(Search, BarsWithLatency) {
  for (Bar bar : {Bar{8, 144.8}, Bar{10, 128}, Bar{12, 121.8}, Bar{14, 117.3},
                  Bar{16, 114.1}}) {
    SearchEffort effort;
    effort.goal = bar.makespan;
    EXPECT_LE(searched(problem(Placement::V, 8, 2, 16, bar.limit),
                       Costs::uniform(1, 1.2, 1, 0.1), effort),
              bar.makespan + 1e-9)
        << "limit " << bar.limit;
  }
}

// Under the same limit, on the same placement, whatever the costs.
TEST(Search, NeverWorseThanANamedKind) {
  const Costs costs[] = {Costs::uniform(1, 1, 1),
                         Costs::uniform(1, 1.2, 1, 0.1),
                         *parseCosts("F=1,B=1.5,BI=1,BW=1")};
  SearchEffort effort;
  effort.evaluations = 1'000'000;
  for (const KindInfo &kind : kinds()) {
    if (kind.placement == Placement::Bidirectional)
      continue;
    for (int P : {3, 8})
      for (const Costs &c : costs) {
        Schedule named =
            make(kind.name, P, kind.chunks ? kind.chunks : 2, 2 * P);
        int limit = run(named).maxPeak();
        double found = searched(
            problem(kind.placement, P, named.V, 2 * P, limit), c, effort);
        EXPECT_LE(found, run(named, c).makespan + 1e-9)
            << kind.name << " P=" << P;
      }
  }
}

TEST(Search, DeterministicForASeed) {
  Request request = makeRequest("search", 4, 2, 8);
  request.placement = Placement::V;
  request.limit = {5};
  request.costs = Costs::uniform(1, 1.3, 0.8, 0.2);
  request.effort.evaluations = 3'000'000;
  Schedule first = *generate(request);
  EXPECT_EQ(generate(request)->ranks, first.ranks);
  request.seed = 2;
  EXPECT_NE(generate(request)->ranks, first.ranks);
}

TEST(Search, UnevenStagesAndLimits) {
  // A heavy last stage: no order beats the work of its coordinate.
  Request request = makeRequest("search", 4, 1, 12);
  request.costs.forward = {1, 1, 1, 3};
  request.costs.backward = {2, 2, 2, 6};
  request.costs.backwardInput = {1, 1, 1, 3};
  request.costs.backwardWeight = {1, 1, 1, 3};
  request.limit = {4, 3, 3, 2};
  request.effort.evaluations = 20'000'000;
  Schedule s = *generate(request);
  EXPECT_TRUE(verify(s).empty());
  EXPECT_DOUBLE_EQ(run(s, request.costs).makespan, 3 + 12 * 9);
}

TEST(Search, LargeInstanceEnds) {
  Request request = makeRequest("search", 16, 2, 64);
  request.placement = Placement::V;
  request.limit = {20};
  request.effort.evaluations = 20'000'000;
  Schedule s = *generate(request);
  EXPECT_TRUE(verify(s).empty());
  EXPECT_LE(run(s, Costs::uniform(1, 1, 1)).makespan, 443); // V-Min
}

TEST(Search, Refusals) {
  Schedule two = makePlacement(Placement::Bidirectional, 2, 2, 4);
  EXPECT_EQ(search(two, Costs()).error(),
            "kind 'search' needs one chain of stages but got 2");
  EXPECT_EQ(search(problem(Placement::V, 2, 2, 4, 1), Costs()).error(),
            "kind 'search' needs a limit of at least V = 2 chunk activations "
            "but got 1");
  EXPECT_EQ(search(problem(Placement::V, 64, 2, 4096, 0), Costs()).error(),
            "kind 'search' needs P * V * M of at most 262144 but got P = 64, V "
            "= 2, M = 4096");
  Costs costs;
  costs.forward = {1, 2};
  EXPECT_EQ(search(problem(Placement::V, 2, 2, 4, 4), costs).error(),
            "cost 'F' has 2 values, expected 1 or one for each of the 4 "
            "stages");
}
