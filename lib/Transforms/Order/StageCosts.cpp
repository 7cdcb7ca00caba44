// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds up the costs of tasks by stage.

#include "StageCosts.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::piper;
namespace schedule = ::piper::schedule;

namespace {
/// The work of one stage for one micro-batch.
struct StageWork {
  double forward = 0, input = 0, weight = 0;
  bool isSplit = false;
  double backward() const { return input + weight; }
};
} // namespace

double mlir::piper::getMessageCost(Type type, const TaskCostTable &costs) {
  RankedTensorType tensor = getLocalTensor(type);
  int64_t bits = tensor.getElementTypeBitWidth();
  return costs.costs().ofMessage(tensor.getNumElements() *
                                 std::max<int64_t>(bits / 8, 1));
}

static double medianMessage(func::FuncOp entry, const BodyTasks &body,
                            const TaskCostTable &costs) {
  std::vector<double> messages;
  for (auto transfer : entry.getOps<TransferOp>())
    if (auto task = transfer.getInput().getDefiningOp<TaskOp>();
        task && body.contains(task))
      messages.push_back(getMessageCost(transfer.getOut().getType(), costs));
  if (messages.empty())
    return 0;
  auto middle = messages.begin() + messages.size() / 2;
  std::nth_element(messages.begin(), middle, messages.end());
  return *middle;
}

schedule::Costs mlir::piper::getStageCosts(func::FuncOp entry,
                                           const BodyTasks &body,
                                           int64_t stages,
                                           TaskCostTable &costs) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, StageWork> work;
  for (TaskOp task : body.tasks()) {
    int64_t stage = std::max<int64_t>(task.getStage(), 0);
    StageWork &entry =
        work[{stage, std::max<int64_t>(task.getMb(), 0), task.getCopy()}];
    PassKind pass = task.getPass();
    entry.isSplit |= pass == PassKind::BI || pass == PassKind::BW;
    double &sum = pass == PassKind::F    ? entry.forward
                  : pass == PassKind::BW ? entry.weight
                                         : entry.input;
    sum += costs.of(task);
  }
  schedule::Costs result;
  result.forward.assign(stages, 0);
  result.backward = result.backwardInput = result.backwardWeight =
      result.forward;
  std::vector<bool> isWhole(stages, false), isSplit(stages, false);
  // The last micro-batch counts: the first one has nothing to accumulate into.
  for (const auto &[place, entry] : work) {
    int64_t stage = std::get<0>(place);
    if (stage >= stages)
      continue;
    result.forward[stage] = entry.forward;
    if (!entry.isSplit || !isWhole[stage])
      result.backward[stage] = entry.backward();
    if (entry.isSplit || !isSplit[stage]) {
      result.backwardInput[stage] = entry.input;
      result.backwardWeight[stage] = entry.weight;
    }
    isWhole[stage] = isWhole[stage] || !entry.isSplit;
    isSplit[stage] = isSplit[stage] || entry.isSplit;
  }
  result.comm = medianMessage(entry, body, costs);
  return result;
}
