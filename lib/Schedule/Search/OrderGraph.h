// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order of split-backward actions that local search can change and time
// again cheaply. Internal to this library.

#ifndef PIPER_LIB_SCHEDULE_SEARCH_ORDERGRAPH_H
#define PIPER_LIB_SCHEDULE_SEARCH_ORDERGRAPH_H

#include "Piper/Schedule/Costs.h"
#include "Piper/Schedule/Schedule.h"

#include <vector>

namespace piper::schedule {

/// Every action is a node with a *head* (its earliest start) and a *tail* (the
/// longest path from its end to the end of the schedule). A move takes one
/// action to another place in its coordinate's order. Nodes are kept in a
/// topological order: a move re-sorts only the nodes between the ends of the
/// moved range, and computes heads (tails) again from there to the end (to the
/// start), which most moves change anyway.
class OrderGraph {
public:
  /// Requires: one chain with stages in order, as makePlacement makes them.
  OrderGraph(const Schedule &problem, const StageCosts &costs);

  /// Takes over an order (full backwards and pairs are split); false where it
  /// contradicts the data flow.
  bool assign(const std::vector<std::vector<Action>> &ranks);
  std::vector<std::vector<Action>> actions() const;

  int size() const { return count; }
  int rankOf(int node) const { return fixed[node].rank; }
  int indexOf(int node) const { return index[node]; }
  double makespan() const { return length; }
  /// Mean over all nodes of the longest path through them.
  double meanPath() const { return pathSum / size(); }
  /// The longest path through `node`.
  double pathThrough(int node) const {
    return finish[node] + rest[node] - headOf[node].cost;
  }

  double meanCost() const { return costSum / size(); }

  /// Moves the action at `from` of coordinate `rank` to `to` (cut to the ends
  /// of the order), or as near to it as the order within its stage allows.
  /// False, and nothing changed, where that leaves it in place, breaks the
  /// memory limit or makes a cycle.
  bool move(int rank, int from, int to);
  /// Takes back the last successful move.
  void undo();

  /// Heads and tails computed so far: the measure of effort.
  int64_t evaluated() const { return work; }

private:
  /// What a head is computed from. Neighbours that do not exist are the node
  /// `size()`, which ends at 0.
  struct HeadInput {
    int before = 0; ///< on the same coordinate
    int need = 0;   ///< the action whose result this one needs
    double lag = 0; ///< transfer time from `need`
    double cost = 0;
  };
  struct TailInput {
    int after = 0; ///< on the same coordinate
    int user[2] = {0, 0};
    double lag[2] = {0, 0}; ///< transfer times to the users
    double cost = 0;
  };
  struct Fixed {
    int rank = 0;
    int kind = 0;  ///< pass and stage: these stay in micro-batch order
    int delta = 0; ///< change of the activations in flight
  };

  int id(Pass pass, int stage, int mb) const;
  void link(int node, int need, double comm);
  int clampTarget(const std::vector<int> &order, int from, int to) const;
  void relink(int rank, int low, int high);
  void shift(int rank, int from, int to);
  bool fits(int rank, int low, int high) const;
  bool sortWindow(int low, int high);
  void updateHeads(int low);
  void updateTails(int high);
  void updateLength();

  const int stages, microBatches;
  int count = 0;
  std::vector<int> cap;
  std::vector<HeadInput> headOf;
  std::vector<TailInput> tailOf;
  std::vector<Fixed> fixed;
  std::vector<std::vector<int>> orders;     ///< node ids per coordinate
  std::vector<int> index;                   ///< of a node in its order
  std::vector<int> topological, place;      ///< nodes sorted, and the inverse
  std::vector<double> finish, finishBefore; ///< head + cost; before the move
  std::vector<double> rest, restBefore;     ///< cost + tail
  double length = 0, pathSum = 0, costSum = 0;
  int64_t work = 0;

  /// What else `undo` needs.
  struct Change {
    int rank = 0, from = 0, to = 0, low = 0;
    double length = 0, pathSum = 0;
    std::vector<int> window;
  } last;
  std::vector<int> open; ///< scratch: predecessors not yet sorted
};

} // namespace piper::schedule

#endif // PIPER_LIB_SCHEDULE_SEARCH_ORDERGRAPH_H
