// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest cut of a graph, by Dinic's algorithm.
//
// 1. Number the nodes by their distance from the source in what capacity is
//    left.
// 2. Push flow along paths of ascending distance until none is left; a node
//    that leads nowhere is left for good.
// 3. Again, until the sink cannot be reached.

#include "MinCut.h"

#include <algorithm>

using namespace mlir::piper;

void MinCut::addEdge(int from, int to, int64_t capacity) {
  edges.push_back({to, first[from], capacity});
  first[from] = static_cast<int>(edges.size()) - 1;
  edges.push_back({from, first[to], 0});
  first[to] = static_cast<int>(edges.size()) - 1;
}

bool MinCut::findLevels(int source, int sink) {
  level.assign(first.size(), -1);
  level[source] = 0;
  std::vector<int> queue = {source};
  for (size_t head = 0; head < queue.size(); ++head)
    for (int e = first[queue[head]]; e >= 0; e = edges[e].next)
      if (edges[e].capacity > 0 && level[edges[e].to] < 0) {
        level[edges[e].to] = level[queue[head]] + 1;
        queue.push_back(edges[e].to);
      }
  return level[sink] >= 0;
}

/// Pushes flow along one more path; 0 if there is none.
int64_t MinCut::augment(int source, int sink) {
  std::vector<int> path;
  int node = source;
  while (node != sink) {
    int &e = current[node];
    while (e >= 0 &&
           !(edges[e].capacity > 0 && level[edges[e].to] == level[node] + 1))
      e = edges[e].next;
    if (e >= 0) {
      path.push_back(e);
      node = edges[e].to;
      continue;
    }
    if (path.empty())
      return 0;
    node = edges[path.back() ^ 1].to;
    path.pop_back();
    current[node] = edges[current[node]].next;
  }
  int64_t flow = kInfinite;
  for (int e : path)
    flow = std::min(flow, edges[e].capacity);
  for (int e : path) {
    edges[e].capacity -= flow;
    edges[e ^ 1].capacity += flow;
  }
  return flow;
}

int64_t MinCut::run(int source, int sink) {
  int64_t total = 0;
  while (findLevels(source, sink)) {
    current = first;
    while (int64_t flow = augment(source, sink))
      total += flow;
  }
  return total;
}

std::vector<bool> MinCut::sinkSide(int sink) const {
  std::vector<bool> side(first.size());
  side[sink] = true;
  std::vector<int> stack = {sink};
  while (!stack.empty()) {
    int node = stack.back();
    stack.pop_back();
    // An edge of the node is the reverse of one that leads to it.
    for (int e = first[node]; e >= 0; e = edges[e].next)
      if (edges[e ^ 1].capacity > 0 && !side[edges[e].to]) {
        side[edges[e].to] = true;
        stack.push_back(edges[e].to);
      }
  }
  return side;
}
