// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds and relinks chains of accumulating tasks.

#include "IntoChains.h"

using namespace mlir;
using namespace mlir::piper;

/// The last results of a task, which `into` operands are tied to.
static ResultRange lastResults(TaskOp task, size_t count) {
  return task->getResults().take_back(count);
}

/// The task whose sums are all that `task` accumulates into, and which nobody
/// else reads; null if there is none.
static TaskOp findPrevious(TaskOp task) {
  OperandRange into = task.getInto();
  if (into.empty())
    return {};
  auto previous = into.front().getDefiningOp<TaskOp>();
  if (!previous || previous->getNumResults() < into.size() ||
      (!previous.getInto().empty() && previous.getInto().size() != into.size()))
    return {};
  for (auto [sum, operand] :
       llvm::zip_equal(lastResults(previous, into.size()), into))
    if (sum != operand || !sum.hasOneUse())
      return {};
  return previous;
}

IntoChains::IntoChains(Block &block) {
  DenseMap<Operation *, TaskOp> next;
  for (auto task : block.getOps<TaskOp>())
    if (TaskOp previous = findPrevious(task)) {
      next[previous] = task;
      linked.insert(task);
    }
  for (auto task : block.getOps<TaskOp>()) {
    if (linked.contains(task) || !next.contains(task))
      continue;
    std::vector<TaskOp> &chain = chains.emplace_back();
    for (TaskOp member = task; member; member = next.lookup(member))
      chain.push_back(member);
  }
}

bool IntoChains::isLink(OpOperand &operand) const {
  if (!linked.contains(operand.getOwner()))
    return false;
  auto [begin, size] =
      cast<TaskOp>(operand.getOwner()).getODSOperandIndexAndLength(1);
  return operand.getOperandNumber() >= begin &&
         operand.getOperandNumber() < begin + size;
}

/// In place where the number of operands stays.
static void setInto(TaskOp task, ValueRange values) {
  auto [begin, size] = task.getODSOperandIndexAndLength(1);
  if (size != values.size())
    return task.getIntoMutable().assign(values);
  for (auto [i, value] : llvm::enumerate(values))
    task->setOperand(begin + i, value);
}

static void relinkChain(ArrayRef<TaskOp> before, ArrayRef<TaskOp> after) {
  TaskOp first = before.front(), last = before.back();
  size_t count = last.getInto().size();
  SmallVector<Value> initial(first.getInto());
  SmallVector<OpOperand *> users;
  for (OpResult sum : lastResults(last, count))
    for (OpOperand &use : sum.getUses())
      users.push_back(&use);
  // Chain tasks never read the last sum: their operands alone move in memory.
  setInto(after.front(), initial);
  for (size_t i = 1; i < after.size(); ++i)
    setInto(after[i], lastResults(after[i - 1], count));
  TaskOp newLast = after.back();
  unsigned begin = last->getNumResults() - count;
  unsigned newBegin = newLast->getNumResults() - count;
  for (OpOperand *use : users) {
    unsigned index = cast<OpResult>(use->get()).getResultNumber() - begin;
    use->set(newLast->getResult(newBegin + index));
  }
}

void IntoChains::relink(function_ref<int64_t(TaskOp)> positionOf) const {
  for (const std::vector<TaskOp> &chain : chains) {
    std::vector<TaskOp> after = chain;
    llvm::stable_sort(after, [&](TaskOp a, TaskOp b) {
      return positionOf(a) < positionOf(b);
    });
    if (after != chain)
      relinkChain(chain, after);
  }
}
