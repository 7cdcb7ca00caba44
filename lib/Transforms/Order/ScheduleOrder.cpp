// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1. Make the total order of the actions by simulation. Without a backward,
//    the forwards of each coordinate in the schedule's order, of as many
//    micro-batches of each chain as the body has.
// 2. Give each action its tasks.
// 3. Lay them out; those of a pair alternate.

#include "ScheduleOrder.h"

#include "Piper/Schedule/OpOrder.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::piper;
namespace schedule = ::piper::schedule;
using schedule::Action;

static bool hasForward(const Action &action) {
  return action.pass == schedule::Pass::F || action.pass == schedule::Pass::FB;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

namespace {
/// An action of a schedule: `ranks[rank][index]`.
struct ActionRef {
  int rank, index;
  int64_t leaves = -1; ///< as in TaskOrder
  double ready = 0;
};
} // namespace

static FailureOr<std::vector<ActionRef>>
orderAll(func::FuncOp entry, const schedule::Schedule &given,
         const schedule::Costs &costs) {
  auto planned = schedule::makeActionOrder(given, costs);
  if (!planned)
    return entry.emitOpError()
           << "cannot run in the order of its schedule: " << planned.error();
  std::vector<ActionRef> order;
  for (auto [op, leaves, end] :
       llvm::zip_equal(planned->actions, planned->leaves, planned->ends))
    order.push_back({op.rank, op.index, leaves, end});
  return order;
}

/// The forwards of a schedule, for a body of other micro-batches: evaluation
/// may have fewer than training, and each copy of the stages has its own. Those
/// of one chain take the places of its first ones in the schedule.
static schedule::Schedule keepForwards(const schedule::Schedule &given,
                                       const BodyTasks &body) {
  schedule::Schedule kept = given;
  kept.M = static_cast<int>(body.microBatches());
  kept.mbChain.assign(kept.M, 0);
  for (TaskOp task : body.tasks())
    if (task.getMb() >= 0 && size_t(task.getCopy()) < given.chains.size())
      kept.mbChain[task.getMb()] = static_cast<int>(task.getCopy());
  // By chain, the next micro-batch of the body.
  std::vector<std::vector<int>> ofChain(given.chains.size());
  for (int mb = 0; mb < kept.M; ++mb)
    ofChain[kept.mbChain[mb]].push_back(mb);
  std::vector<int> numberOf(given.M, -1);
  std::vector<size_t> next(given.chains.size(), 0);
  for (int mb = 0; mb < given.M; ++mb) {
    int chain = given.chainOf(mb);
    if (next[chain] < ofChain[chain].size())
      numberOf[mb] = ofChain[chain][next[chain]++];
  }
  for (std::vector<Action> &rank : kept.ranks) {
    std::vector<Action> forwards;
    for (const Action &action : rank)
      if (hasForward(action) && numberOf[action.microBatch] >= 0)
        forwards.push_back(
            Action::forward(action.stage, numberOf[action.microBatch]));
    rank = std::move(forwards);
  }
  return kept;
}

/// Runs forwards alone on a clock; sorted by start.
static std::vector<ActionRef> orderForwards(const schedule::Schedule &given,
                                            const schedule::StageCosts &costs) {
  std::vector<int> before(given.numStages(), -1);
  for (const std::vector<int> &chain : given.chains)
    for (size_t i = 1; i < chain.size(); ++i)
      before[chain[i]] = chain[i - 1];
  std::vector<double> end(size_t(given.numStages()) * given.M, -1);
  std::vector<double> ready(given.P, 0);
  std::vector<size_t> next(given.P, 0);
  std::vector<std::pair<double, ActionRef>> started;
  // One action of a coordinate, unless it waits for another coordinate.
  auto runNext = [&](int rank) {
    const std::vector<Action> &list = given.ranks[rank];
    if (next[rank] == list.size())
      return false;
    const Action &action = list[next[rank]];
    double start = ready[rank];
    if (int stage = before[action.stage]; stage >= 0) {
      double made = end[size_t(stage) * given.M + action.microBatch];
      if (made < 0)
        return false;
      bool crosses = given.stageRank[stage] != rank;
      start = std::max(start, made + (crosses ? costs.comm : 0));
    }
    ready[rank] = end[size_t(action.stage) * given.M + action.microBatch] =
        start + costs.forward[action.stage];
    started.push_back({start, {rank, static_cast<int>(next[rank]++)}});
    return true;
  };
  for (bool any = true; any;) {
    any = false;
    for (int rank = 0; rank < given.P; ++rank)
      while (runNext(rank))
        any = true;
  }
  llvm::stable_sort(
      started, [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<ActionRef> order;
  for (const auto &[start, action] : started)
    order.push_back(action);
  return order;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

namespace {

/// Which action of an order runs each task. The chains of a schedule are the
/// copies of the stages, and visit the stages in order.
class ActionTable {
public:
  ActionTable(const schedule::Schedule &given,
              const std::vector<ActionRef> &order);
  /// -1 if there is none.
  int64_t actionOf(TaskOp task) const;

private:
  int64_t slotOf(int64_t stage, int64_t mb) const {
    return stage * given.M + mb;
  }
  const schedule::Schedule &given;
  std::vector<int64_t> forward, input, weight; ///< by slot
};

} // namespace

ActionTable::ActionTable(const schedule::Schedule &given,
                         const std::vector<ActionRef> &order)
    : given(given), forward(size_t(given.numStages()) * given.M, -1),
      input(forward), weight(forward) {
  for (auto [number, ref] : llvm::enumerate(order)) {
    const Action &action = given.ranks[ref.rank][ref.index];
    bool isPair = action.pass == schedule::Pass::FB;
    int64_t slot = slotOf(action.stage, action.microBatch);
    if (hasForward(action))
      forward[slot] = number;
    if (isPair)
      slot = slotOf(action.stageB, action.microBatchB);
    if (action.pass == schedule::Pass::B || action.pass == schedule::Pass::BI ||
        isPair)
      input[slot] = number;
    if (action.pass == schedule::Pass::B || action.pass == schedule::Pass::BW ||
        isPair)
      weight[slot] = number;
  }
}

int64_t ActionTable::actionOf(TaskOp task) const {
  int64_t stage = std::max<int64_t>(task.getStage(), 0);
  int64_t mb = std::max<int64_t>(task.getMb(), 0), copy = task.getCopy();
  if (copy < 0 || copy >= int64_t(given.chains.size()) || mb >= given.M ||
      stage >= int64_t(given.chains[copy].size()))
    return -1;
  int64_t slot = slotOf(given.chains[copy][stage], mb);
  if (task.getPass() == PassKind::F)
    return forward[slot];
  return task.getPass() == PassKind::BW ? weight[slot] : input[slot];
}

namespace {
/// The tasks of an action.
struct ActionTasks {
  SmallVector<TaskOp, 1> forward, backward;
};
} // namespace

FailureOr<TaskOrder>
mlir::piper::orderBySchedule(func::FuncOp entry, const BodyTasks &body,
                             const schedule::Schedule &whole,
                             const schedule::Costs &costs) {
  FailureOr<std::vector<ActionRef>> actions = std::vector<ActionRef>();
  std::optional<schedule::Schedule> forwards;
  if (body.isForwardOnly())
    forwards = keepForwards(whole, body);
  const schedule::Schedule &given = forwards ? *forwards : whole;
  if (forwards) {
    auto perStage = schedule::stageCosts(given, costs);
    if (!perStage)
      return entry.emitOpError() << perStage.error();
    *actions = orderForwards(given, *perStage);
  } else {
    actions = orderAll(entry, given, costs);
    if (failed(actions))
      return failure();
  }

  ActionTable table(given, *actions);
  std::vector<ActionTasks> tasks(actions->size());
  for (TaskOp task : body.tasks()) {
    int64_t action = table.actionOf(task);
    if (action < 0)
      return task.emitOpError()
             << "stands in no action of the schedule: " << describeTask(task)
             << " of " << given.numStages() << " stages and " << given.M
             << " micro-batches";
    int rank = (*actions)[action].rank;
    if (getCoordinate(task) != rank)
      return task.emitOpError()
             << "expects coordinate " << rank
             << ", where the schedule has its stage, but got "
             << getCoordinate(task);
    bool isForward = task.getPass() == PassKind::F;
    (isForward ? tasks[action].forward : tasks[action].backward)
        .push_back(task);
  }

  TaskOrder order;
  for (auto [number, ref] : llvm::enumerate(*actions)) {
    const auto &[forward, backward] = tasks[number];
    order.beginAction(ref.rank, !forward.empty() && !backward.empty());
    order.actions.back().leaves = ref.leaves;
    order.actions.back().ready = ref.ready;
    for (size_t i = 0; i < std::max(forward.size(), backward.size()); ++i) {
      if (i < forward.size())
        order.add(forward[i], number);
      if (i < backward.size())
        order.add(backward[i], number);
    }
  }
  return order;
}
