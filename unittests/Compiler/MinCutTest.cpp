// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest cut of random graphs against the best of all cuts.

#include "Split/MinCut.h"

#include "gtest/gtest.h"

#include <random>

using mlir::piper::MinCut;

namespace {

struct Edge {
  int from, to;
  int64_t capacity;
};

/// The best of all sets of nodes with node 0 outside and node 1 inside, and the
/// nodes that are in every best set: best sets are closed under intersection.
struct BestCut {
  int64_t capacity = INT64_MAX;
  unsigned inside = 0;
};

BestCut findBestCut(int numNodes, const std::vector<Edge> &edges) {
  BestCut best;
  for (unsigned set = 0; set < (1u << numNodes); ++set) {
    if ((set & 1) || !(set & 2))
      continue;
    int64_t capacity = 0;
    for (const Edge &edge : edges)
      if (!(set >> edge.from & 1) && (set >> edge.to & 1))
        capacity = std::min(capacity + edge.capacity, MinCut::kInfinite);
    if (capacity < best.capacity)
      best = {capacity, set};
    else if (capacity == best.capacity)
      best.inside &= set;
  }
  return best;
}

} // namespace

TEST(MinCutTest, IsTheBestOfAllCuts) {
  std::mt19937 random(7);
  int compared = 0;
  for (int round = 0; round < 2000; ++round) {
    int numNodes = 2 + random() % 7;
    std::vector<Edge> edges;
    for (int count = random() % (3 * numNodes); count > 0; --count) {
      int from = random() % numNodes, to = random() % numNodes;
      bool infinite = random() % 6 == 0;
      edges.push_back(
          {from, to, infinite ? MinCut::kInfinite : int64_t(random() % 10)});
    }
    BestCut best = findBestCut(numNodes, edges);
    if (best.capacity >= MinCut::kInfinite)
      continue;
    ++compared;
    MinCut graph(numNodes);
    for (const Edge &edge : edges)
      graph.addEdge(edge.from, edge.to, edge.capacity);
    ASSERT_EQ(graph.run(0, 1), best.capacity) << "round " << round;
    std::vector<bool> side = graph.sinkSide(1);
    for (int node = 0; node < numNodes; ++node)
      EXPECT_EQ(side[node], bool(best.inside >> node & 1))
          << "round " << round << " node " << node;
  }
  EXPECT_GT(compared, 1500);
}

/// A ladder whose paths have many lengths, and a chain so long that recursion
/// would run out of stack.
TEST(MinCutTest, TakesLargeGraphs) {
  constexpr int kNodes = 100000;
  MinCut chain(kNodes);
  for (int node = 2; node + 1 < kNodes; ++node)
    chain.addEdge(node, node + 1, 1000 + (node * 7919) % 1000);
  chain.addEdge(0, 2, MinCut::kInfinite);
  chain.addEdge(kNodes - 1, 1, 5000);
  EXPECT_EQ(chain.run(0, 1), 1000);

  // Rung i leads from the source into one side and from the other to the sink:
  // each carries its own 1.
  constexpr int kRungs = 400;
  MinCut ladder(2 + 2 * kRungs);
  for (int i = 0; i < kRungs; ++i) {
    int left = 2 + 2 * i, right = left + 1;
    ladder.addEdge(0, left, 1);
    ladder.addEdge(left, right, MinCut::kInfinite);
    ladder.addEdge(right, 1, i == 0 ? kRungs : 0);
    if (i > 0)
      ladder.addEdge(right, right - 2, MinCut::kInfinite);
  }
  EXPECT_EQ(ladder.run(0, 1), kRungs);
}
