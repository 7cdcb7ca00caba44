// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts tasks into actions.

#include "TaskOrder.h"

#include "Directives/Directive.h"

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

constexpr unsigned kHasInput = 1, kHasWeight = 2;

static std::tuple<int64_t, int64_t, int64_t> placeOf(TaskOp task) {
  return {std::max<int64_t>(task.getStage(), 0),
          std::max<int64_t>(task.getMb(), 0), task.getCopy()};
}

BodyTasks::BodyTasks(func::FuncOp entry) : count(getMicroBatches(entry)) {
  for (auto task : entry.getOps<TaskOp>()) {
    if (!contains(task))
      continue;
    all.push_back(task);
    forwardOnly &= task.getPass() == PassKind::F;
    if (task.getPass() == PassKind::BI)
      halves[placeOf(task)] |= kHasInput;
    if (task.getPass() == PassKind::BW)
      halves[placeOf(task)] |= kHasWeight;
  }
}

bool BodyTasks::contains(TaskOp task) const {
  return task.getPass() != PassKind::U && task.getPass() != PassKind::Once &&
         (task.getMb() >= 0 || count == 1);
}

ActionKey BodyTasks::actionOf(TaskOp task) const {
  auto [stage, mb, copy] = placeOf(task);
  if (task.getPass() == PassKind::F)
    return {PassKind::F, stage, mb, copy};
  auto found = halves.find({stage, mb, copy});
  if (found == halves.end() || found->second != (kHasInput | kHasWeight))
    return {PassKind::B, stage, mb, copy};
  bool isWeight = task.getPass() == PassKind::BW;
  return {isWeight ? PassKind::BW : PassKind::BI, stage, mb, copy};
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

namespace {
/// The action that a coordinate is at: one key, or two that alternate.
struct Running {
  int64_t action = -1;
  ActionKey first, second;
  bool isPair = false;
};
} // namespace

TaskOrder mlir::piper::cutIntoActions(ArrayRef<TaskOp> order,
                                      function_ref<ActionKey(TaskOp)> keyOf) {
  DenseMap<std::tuple<int64_t, int64_t, int64_t, int64_t>, int64_t> left;
  for (TaskOp task : order)
    ++left[keyOf(task).tuple()];
  std::map<int64_t, Running> running;
  TaskOrder result;
  for (TaskOp task : order) {
    ActionKey key = keyOf(task);
    int64_t coordinate = getCoordinate(task);
    Running &at = running[coordinate];
    bool isSame =
        at.action >= 0 && (key == at.first || (at.isPair && key == at.second));
    bool joins = at.action >= 0 && !isSame && !at.isPair &&
                 key.isForward() != at.first.isForward() &&
                 left[at.first.tuple()] > 0;
    if (joins) {
      at.second = key;
      at.isPair = result.actions[at.action].isPair = true;
    } else if (!isSame) {
      result.beginAction(coordinate, /*isPair=*/false);
      at = {int64_t(result.actions.size()) - 1, key, ActionKey(), false};
    }
    --left[key.tuple()];
    result.add(task, at.action);
  }
  return result;
}
