// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1. Where stages are: from the forward tasks, or as given.
// 2. The tasks cut into actions, each at its first task.

#include "ReadSchedule.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace mlir;
using namespace mlir::piper;
namespace schedule = ::piper::schedule;
using schedule::Action;

/// Stage s of copy c has the number c * S + s.
static FailureOr<schedule::Schedule> readPlacement(const BodyTasks &body) {
  int64_t stages = 1, copies = 1, coordinates = 1;
  for (TaskOp task : body.tasks()) {
    stages = std::max(stages, task.getStage() + 1);
    copies = std::max(copies, task.getCopy() + 1);
    coordinates = std::max(coordinates, getCoordinate(task) + 1);
    constexpr int64_t kMax = schedule::kMaxStageMicroBatches;
    if (stages > kMax || copies > 2 || task.getMb() >= kMax ||
        coordinates > kMax || stages * copies > kMax / body.microBatches())
      return task.emitOpError()
             << "expects at most 2 copies and " << kMax
             << " stages times micro-batches but got " << describeTask(task);
  }
  schedule::Schedule result;
  result.kind = "order";
  result.P = static_cast<int>(coordinates);
  result.V =
      static_cast<int>(std::max<int64_t>(1, stages * copies / coordinates));
  result.M = static_cast<int>(body.microBatches());
  result.stageRank.assign(stages * copies, 0);
  for (int64_t copy = 0; copy < copies; ++copy) {
    result.chains.emplace_back(stages);
    std::iota(result.chains.back().begin(), result.chains.back().end(),
              static_cast<int>(copy * stages));
  }
  if (copies > 1)
    result.mbChain.assign(result.M, 0);
  for (TaskOp task : body.tasks()) {
    ActionKey key = body.actionOf(task);
    int64_t copy = std::max<int64_t>(key.copy, 0);
    result.stageRank[copy * stages + key.stage] =
        static_cast<int>(getCoordinate(task));
    if (copies > 1)
      result.mbChain[key.mb] = static_cast<int>(copy);
  }
  return result;
}

static schedule::Pass toPass(PassKind pass) {
  switch (pass) {
  case PassKind::F:
    return schedule::Pass::F;
  case PassKind::BI:
    return schedule::Pass::BI;
  case PassKind::BW:
    return schedule::Pass::BW;
  default:
    return schedule::Pass::B;
  }
}

/// One action for a forward and a whole backward, else one for each key.
static void append(std::vector<Action> &rank, ArrayRef<ActionKey> keys,
                   const schedule::Schedule &in) {
  auto stageOf = [&](const ActionKey &key) {
    return in.chains[key.copy][key.stage];
  };
  auto find = [&](PassKind pass) {
    return llvm::find_if(
        keys, [&](const ActionKey &key) { return key.pass == pass; });
  };
  const auto *f = find(PassKind::F), *b = find(PassKind::B);
  if (keys.size() == 2 && f != keys.end() && b != keys.end()) {
    rank.push_back(Action::pair(stageOf(*f), static_cast<int>(f->mb),
                                stageOf(*b), static_cast<int>(b->mb)));
    return;
  }
  for (const ActionKey &key : keys)
    rank.push_back({toPass(key.pass), stageOf(key), static_cast<int>(key.mb)});
}

FailureOr<schedule::Schedule>
mlir::piper::readSchedule(const BodyTasks &body,
                          const schedule::Schedule *given) {
  FailureOr<schedule::Schedule> result;
  if (given)
    result = *given;
  else
    result = readPlacement(body);
  if (failed(result))
    return failure();
  result->ranks.assign(result->P, {});
  TaskOrder order = cutIntoActions(body.tasks(), body);
  // The keys of each action: one, or the two of a pair. An action that others
  // interrupt stands where it begins.
  std::vector<SmallVector<ActionKey, 2>> keys(order.actions.size());
  std::set<std::tuple<int64_t, int64_t, int64_t, int64_t>> seen;
  for (auto [task, action] : llvm::zip_equal(order.tasks, order.actionOf)) {
    ActionKey key = body.actionOf(task);
    if (key.copy < 0 || key.copy >= int64_t(result->chains.size()) ||
        key.stage >= int64_t(result->chains[key.copy].size()) ||
        key.mb >= result->M || order.actions[action].coordinate >= result->P)
      return task.emitOpError()
             << "stands in no action of a schedule with P = " << result->P
             << ", M = " << result->M << " and " << result->numStages()
             << " stages: " << describeTask(task);
    if (seen.insert(key.tuple()).second)
      keys[action].push_back(key);
  }
  for (auto [action, list] : llvm::zip_equal(order.actions, keys))
    append(result->ranks[action.coordinate], list, *result);
  return result;
}
