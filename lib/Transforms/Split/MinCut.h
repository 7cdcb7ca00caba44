// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The smallest cut between two nodes of a directed graph.

#ifndef PIPER_LIB_TRANSFORMS_SPLIT_MINCUT_H
#define PIPER_LIB_TRANSFORMS_SPLIT_MINCUT_H

#include <cstdint>
#include <vector>

namespace mlir::piper {

/// A graph with capacities, and its smallest cut (Dinic's algorithm, without
/// recursion). Requires: some cut has no edge of `kInfinite`, and the finite
/// capacities add up to less than that.
class MinCut {
public:
  static constexpr int64_t kInfinite = int64_t(1) << 61;

  explicit MinCut(int numNodes) : first(numNodes, -1) {}

  void addEdge(int from, int to, int64_t capacity);

  /// The capacity of the smallest cut, which is the largest flow.
  int64_t run(int source, int sink);

  /// After `run`: for each node whether it is on the side of the sink in the
  /// smallest cut that is nearest to the sink, so that as few nodes as possible
  /// are. An edge into that side from the other is cut.
  std::vector<bool> sinkSide(int sink) const;

private:
  struct Edge {
    int to;
    /// The next edge of the same node, or -1.
    int next;
    int64_t capacity;
  };

  bool findLevels(int source, int sink);
  int64_t augment(int source, int sink);

  /// Edge i and its reverse i ^ 1.
  std::vector<Edge> edges;
  /// The first edge of each node, and the one where the search goes on.
  std::vector<int> first, current;
  std::vector<int> level;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_SPLIT_MINCUT_H
