// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tasks of a step's body and the actions that they make up: what a schedule
// puts in order. Internal to the passes that order.

#ifndef PIPER_LIB_TRANSFORMS_ORDER_TASKORDER_H
#define PIPER_LIB_TRANSFORMS_ORDER_TASKORDER_H

#include "Tasks/DescribeTask.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace mlir::piper {

/// All tasks of one stage, pass (F, B, BI or BW) and micro-batch.
struct ActionKey {
  PassKind pass = PassKind::F;
  int64_t stage = 0, mb = 0, copy = 0;

  bool isForward() const { return pass == PassKind::F; }
  bool operator==(const ActionKey &o) const { return tuple() == o.tuple(); }
  bool operator!=(const ActionKey &o) const { return !(*this == o); }
  std::tuple<int64_t, int64_t, int64_t, int64_t> tuple() const {
    return {static_cast<int64_t>(pass), stage, mb, copy};
  }
};

/// The tasks that run once for each micro-batch, or all of F, B, BI, BW and R
/// in a step of one.
class BodyTasks {
public:
  explicit BodyTasks(func::FuncOp entry);

  /// In program order.
  ArrayRef<TaskOp> tasks() const { return all; }
  bool contains(TaskOp task) const;
  bool isForwardOnly() const { return forwardOnly; }
  int64_t microBatches() const { return count; }

  /// A whole backward has its recomputation with it; of a split one, BI has
  /// that and the tasks of pass B that add its gradients. Where one half has no
  /// tasks (a first stage has no gradient of its input, one without weights
  /// none of these), the other is the whole.
  ActionKey actionOf(TaskOp task) const;

private:
  std::vector<TaskOp> all;
  bool forwardOnly = true;
  int64_t count = 1;
  /// By stage, micro-batch and copy: which halves there are.
  std::map<std::tuple<int64_t, int64_t, int64_t>, unsigned> halves;
};

/// An order of the tasks of the body, cut into actions.
struct TaskOrder {
  struct Action {
    int64_t coordinate = 0;
    /// Of its last task; of the task before it for an action without tasks.
    int64_t lastPosition = -1;
    /// A forward and a backward whose tasks alternate.
    bool isPair = false;
    /// The action behind which its results leave, -1: itself; and the time when
    /// they are ready, where that is known.
    int64_t leaves = -1;
    double ready = 0;
  };
  std::vector<TaskOp> tasks;
  /// The action of each task. Those of one coordinate ascend.
  std::vector<int64_t> actionOf;
  std::vector<Action> actions;

  void beginAction(int64_t coordinate, bool isPair) {
    actions.push_back({coordinate, int64_t(tasks.size()) - 1, isPair, -1, 0});
  }
  /// Appends a task to an action.
  void add(TaskOp task, int64_t action) {
    actions[action].lastPosition = tasks.size();
    tasks.push_back(task);
    actionOf.push_back(action);
  }
};

/// Reads back the actions that an order consists of: runs of tasks with equal
/// keys on each coordinate. A forward that is not finished when a backward
/// begins, or the reverse, is one action with it.
TaskOrder cutIntoActions(ArrayRef<TaskOp> order,
                         function_ref<ActionKey(TaskOp)> keyOf);
inline TaskOrder cutIntoActions(ArrayRef<TaskOp> order, const BodyTasks &body) {
  return cutIntoActions(order,
                        [&](TaskOp task) { return body.actionOf(task); });
}

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_ORDER_TASKORDER_H
