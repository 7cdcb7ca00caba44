// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tasks of a body run before which, by data flow and by orders, and an
// order that respects both. Internal to `piper-order`.

#ifndef PIPER_LIB_TRANSFORMS_ORDER_TASKGRAPH_H
#define PIPER_LIB_TRANSFORMS_ORDER_TASKGRAPH_H

#include "TaskOrder.h"

#include "Directives/Directive.h"

namespace mlir::piper {

/// Tasks are numbered in program order.
class TaskGraph {
public:
  /// With the data flow, but for sums (`into` chains follow any order).
  TaskGraph(func::FuncOp entry, const BodyTasks &body, TaskCostTable &costs);

  /// Each task of `before` runs before each of `after`, as a directive says.
  void addOrder(ArrayRef<int64_t> before, ArrayRef<int64_t> after,
                int64_t directive);

  /// All tasks in an order that respects the graph: on each coordinate the
  /// next task is the one that could start first on a clock, of several the
  /// first in program order; recomputation right before what reads it. Fewer
  /// tasks than there are if the graph has a cycle.
  std::vector<TaskOp> makeOrder();

  /// A hop of a cycle: from a task to the next one's, because of a directive
  /// (0: the data flow).
  struct Hop {
    int64_t task;
    int64_t directive;
  };
  /// A short cycle that begins where a directive does, after a `makeOrder` that
  /// failed.
  std::vector<Hop> findCycle() const;

private:
  struct Edge {
    int64_t from, to, directive;
    double delay;
  };
  struct Successors;

  void addDataFlow(func::FuncOp entry, const TaskCostTable &costs);
  std::vector<int64_t> findAnyCycle() const;
  std::vector<int64_t> findShortestCycle(int64_t through) const;
  int64_t directiveOf(int64_t from, int64_t to) const;
  std::vector<TaskOp> sinkRecomputation(ArrayRef<int64_t> order) const;

  const BodyTasks &body;
  std::vector<double> costOf;
  /// Nodes from `body.tasks().size()` on are the boundaries of groups.
  int64_t nodes;
  std::vector<Edge> edges;
  /// Nodes without a place in the order, after a `makeOrder` that failed.
  std::vector<bool> isStuck;
};

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_ORDER_TASKGRAPH_H
