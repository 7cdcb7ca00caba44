// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1. Where stages are: from the tasks, or as given.
// 2. The tasks cut into actions, each at its first task.
// 3. The actions that have no tasks, where a schedule is given.

#include "ReadSchedule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace mlir;
using namespace mlir::piper;
namespace schedule = ::piper::schedule;
using schedule::Action;

/// Stage s of copy c has the number c * S + s.
static FailureOr<schedule::Schedule> readPlacement(const BodyTasks &body) {
  constexpr int64_t kMax = schedule::kMaxStageMicroBatches;
  int64_t stages = 1, copies = 1, coordinates = 1, microBatches = 1;
  for (TaskOp task : body.tasks()) {
    int64_t largest = std::max(
        {task.getStage(), task.getMb(), task.getCopy(), getCoordinate(task)});
    bool fits = largest < kMax && task.getCopy() < 2;
    if (fits) {
      stages = std::max(stages, task.getStage() + 1);
      copies = std::max(copies, task.getCopy() + 1);
      coordinates = std::max(coordinates, getCoordinate(task) + 1);
      microBatches = std::max(microBatches, task.getMb() + 1);
      fits = stages * copies * microBatches <= kMax;
    }
    if (!fits)
      return task.emitOpError()
             << "expects at most 2 copies and " << kMax
             << " stages times micro-batches but got " << describeTask(task);
  }
  schedule::Schedule result;
  result.kind = "order";
  result.P = static_cast<int>(coordinates);
  result.V =
      static_cast<int>(std::max<int64_t>(1, stages * copies / coordinates));
  result.M = static_cast<int>(microBatches);
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

//===----------------------------------------------------------------------===//
// Actions without tasks
//===----------------------------------------------------------------------===//

namespace {

/// The actions of a schedule, of which some have no tasks: one half of a
/// backward may be all of it.
class GivenActions {
public:
  explicit GivenActions(const schedule::Schedule &given);
  /// Whether it has this backward in halves.
  bool isSplit(const ActionKey &key) const {
    return split.count({given.chains[key.copy][key.stage], int(key.mb)});
  }
  /// Adds those that `rank`, the list of coordinate `number`, has not, each
  /// behind the one that it follows in the schedule.
  void addMissing(std::vector<Action> &rank, size_t number) const;

private:
  /// The parts of an action: two of a pair.
  using Part = std::tuple<schedule::Pass, int, int>;
  static SmallVector<Part, 2> partsOf(const Action &action) {
    if (action.pass != schedule::Pass::FB)
      return {{action.pass, action.stage, action.microBatch}};
    return {{schedule::Pass::F, action.stage, action.microBatch},
            {schedule::Pass::B, action.stageB, action.microBatchB}};
  }
  const schedule::Schedule &given;
  std::set<std::pair<int, int>> split;
};

} // namespace

GivenActions::GivenActions(const schedule::Schedule &given) : given(given) {
  for (const auto &rank : given.ranks)
    for (const Action &action : rank)
      if (action.pass == schedule::Pass::BI)
        split.insert({action.stage, action.microBatch});
}

void GivenActions::addMissing(std::vector<Action> &rank, size_t number) const {
  std::set<Part> present;
  for (const Action &action : rank)
    for (const Part &part : partsOf(action))
      present.insert(part);
  std::vector<Action> result;
  std::map<Part, std::vector<Action>> behind;
  std::optional<Part> last;
  for (const Action &action : given.ranks[number]) {
    SmallVector<Part, 2> parts = partsOf(action);
    bool isHere = llvm::any_of(
        parts, [&](const Part &part) { return present.count(part); });
    if (isHere)
      last = parts.back();
    else
      (last ? behind[*last] : result).push_back(action);
  }
  for (const Action &action : rank) {
    result.push_back(action);
    for (const Part &part : partsOf(action))
      if (auto found = behind.find(part); found != behind.end())
        llvm::append_range(result, found->second);
  }
  rank = std::move(result);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Within the sizes of the schedule.
static bool isIn(const schedule::Schedule &in, const ActionKey &key) {
  return key.copy >= 0 && key.copy < int64_t(in.chains.size()) &&
         key.stage < int64_t(in.chains[key.copy].size()) && key.mb < in.M;
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
  for (TaskOp task : body.tasks())
    if (!isIn(*result, body.actionOf(task)) || getCoordinate(task) >= result->P)
      return task.emitOpError()
             << "stands in no action of a schedule with P = " << result->P
             << ", M = " << result->M << " and " << result->numStages()
             << " stages: " << describeTask(task);

  std::optional<GivenActions> actions;
  if (given)
    actions.emplace(*given);
  auto keyOf = [&](TaskOp task) {
    ActionKey key = body.actionOf(task);
    if (actions && !key.isForward()) {
      bool isWeight = task.getPass() == PassKind::BW;
      key.pass = !actions->isSplit(key) ? PassKind::B
                 : isWeight             ? PassKind::BW
                                        : PassKind::BI;
    }
    return key;
  };
  TaskOrder order = cutIntoActions(body.tasks(), keyOf);
  // The keys of each action: one, or the two of a pair. An action that others
  // interrupt stands where it begins.
  std::vector<SmallVector<ActionKey, 2>> keys(order.actions.size());
  std::set<std::tuple<int64_t, int64_t, int64_t, int64_t>> seen;
  for (auto [task, action] : llvm::zip_equal(order.tasks, order.actionOf))
    if (ActionKey key = keyOf(task); seen.insert(key.tuple()).second)
      keys[action].push_back(key);
  result->ranks.assign(result->P, {});
  for (auto [action, list] : llvm::zip_equal(order.actions, keys))
    append(result->ranks[action.coordinate], list, *result);
  if (actions)
    for (auto [number, rank] : llvm::enumerate(result->ranks))
      actions->addMissing(rank, number);
  return result;
}
