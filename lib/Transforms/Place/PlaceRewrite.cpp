// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives the values of an entry point their types, in one sweep over its tasks:
// each operand is read where the task runs.
//
// 1. A chain of accumulators is cut where the copy changes: it becomes one
//    chain for each copy.
// 2. A value that one coordinate lacks is transferred, right behind its
//    producer; one that several need is broadcast.
// 3. What is a sum of values on several coordinates (parts of the two copies,
//    of the segments that use a parameter, of the norm) is added by one
//    all-reduce, before its first use. A sum that nothing reads is not made.

#include "EntryPlacer.h"

using namespace mlir;
using namespace mlir::piper;

//===----------------------------------------------------------------------===//
// Reading a value
//===----------------------------------------------------------------------===//

SmallVector<Value> EntryPlacer::partsOf(Value value) {
  if (auto found = sums.find(value); found != sums.end())
    return found->second;
  Value other = otherCopy.lookup(value);
  if (!other)
    return {value};
  if (value.getDefiningOp<TaskOp>().getCopy() == 0)
    return {value, other};
  return {other, value};
}

Value EntryPlacer::transfer(Value value, int64_t coordinate) {
  Value &known = transferred[{value, coordinate}];
  if (known)
    return known;
  Operation *producer = value.getDefiningOp();
  Operation *&last = lastTransfer[producer];
  OpBuilder builder(entry.getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else if (producer)
    builder.setInsertionPointAfter(producer);
  else
    builder.setInsertionPointToStart(&entry.front());
  Type type = sets.distribute(value.getType(), sets.get(coordinate));
  auto op = TransferOp::create(builder, value.getLoc(), type, value);
  last = op;
  return known = op;
}

Value EntryPlacer::reduce(Value value, ArrayRef<Value> parts) {
  Value &known = reduced[value];
  if (known)
    return known;
  OpBuilder builder(cursor);
  return known = AllReduceOp::create(
             builder, value.getLoc(),
             sets.distribute(value.getType(), target(value)), parts,
             builder.getStrArrayAttr({"pp"}));
}

/// `source`, which is what `value` is made of, as one that is on all of `set`.
Value EntryPlacer::deliver(Value value, Set set, Value source) {
  if (covers(source, set))
    return source;
  if (sets[set].size() == 1)
    return transfer(source, sets[set].front());
  return reduce(value, source);
}

Value EntryPlacer::read(Value value, Set set) {
  if (isInput(value))
    return value;
  // Nearly all values are of stages that have one copy: none is a sum.
  auto producer = value.getDefiningOp<TaskOp>();
  if (!producer || (!hasCopies && isPinned(producer)))
    return deliver(value, set, value);
  SmallVector<Value> parts = partsOf(value);
  if (parts.size() == 1)
    return deliver(value, set, parts.front());
  Value sum = reduce(value, parts);
  return covers(sum, set) ? sum : transfer(sum, sets[set].front());
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Links the accumulators of a task to those of its own copy; the first task of
/// a copy writes what others add to.
LogicalResult EntryPlacer::cutChain(TaskOp task) {
  SmallVector<Value> own;
  unsigned first = task->getNumResults() - task.getInto().size();
  for (auto [index, value] : llvm::enumerate(task.getInto())) {
    auto link = value.getDefiningOp<TaskOp>();
    if (!link || !isPinned(link)) {
      own.push_back(value);
      continue;
    }
    bool isOwn = link.getCopy() == task.getCopy();
    if (Value mine = isOwn ? value : otherCopy.lookup(value))
      own.push_back(mine);
    if (Value other = isOwn ? otherCopy.lookup(value) : value)
      otherCopy[task->getResult(first + index)] = other;
  }
  if (own.size() == task.getInto().size() || own.empty()) {
    task.getIntoMutable().assign(own);
    return success();
  }
  return task.emitOpError() << "expects operands of 'into' that all come from "
                               "the same micro-batches, so that the chain can "
                               "be cut between the two copies of its stage";
}

LogicalResult EntryPlacer::rewriteTask(TaskOp task, Set on) {
  if (hasCopies && isPinned(task) && failed(cutChain(task)))
    return failure();
  unsigned inputs = task.getInputs().size();
  for (OpOperand &operand : task->getOpOperands()) {
    Value value = operand.get();
    auto producer = value.getDefiningOp<TaskOp>();
    // An accumulator of the own copy is not the sum of both.
    bool isLink = operand.getOperandNumber() >= inputs && isPinned(task) &&
                  producer && isPinned(producer);
    Value there = isLink ? deliver(value, on, value) : read(value, on);
    if (there != value)
      operand.set(there);
  }
  for (OpResult result : task->getResults())
    result.setType(sets.distribute(result.getType(), on));
  return success();
}

/// A sum of parts that all lie where it is needed stays a task. The parts of
/// any other are added by one all-reduce, left to right.
void EntryPlacer::rewriteSum(TaskOp task, Set on) {
  Value first = task.getInputs()[0], second = task.getInputs()[1];
  SmallVector<Value> parts = partsOf(first);
  // (a + b) + c is one sum; a + (b + c) would round otherwise.
  if (sums.contains(second))
    parts.push_back(read(second, target(second)));
  else
    llvm::append_range(parts, partsOf(second));
  bool isLocal = parts.size() == 2 && llvm::all_of(parts, [&](Value part) {
                   return sets.of(part.getType()) == on;
                 });
  if (!isLocal) {
    sums[task->getResult(0)] = parts;
    replaced.push_back(task);
    return;
  }
  for (auto [operand, part] : llvm::zip_equal(task->getOpOperands(), parts))
    operand.set(part);
  task->getResult(0).setType(sets.distribute(task->getResult(0).getType(), on));
}

void EntryPlacer::rewriteResults() {
  Operation *terminator = entry.front().getTerminator();
  cursor = terminator;
  for (OpOperand &operand : terminator->getOpOperands()) {
    auto next = entry.getResultAttrOfType<StringAttr>(
        operand.getOperandNumber(), PiperDialect::NextAttrHelper::getNameStr());
    auto found = next ? states.find(next) : states.end();
    Value value = operand.get();
    if (isInput(value))
      continue;
    // An output is read from any coordinate that has it.
    Set set =
        found != states.end() ? ofState(found->second) : CoordinateSets::kNone;
    operand.set(read(value, set));
  }
  Builder builder(entry.getContext());
  entry.setFunctionType(builder.getFunctionType(
      entry.front().getArgumentTypes(), terminator->getOperandTypes()));
}

LogicalResult EntryPlacer::rewrite() {
  findDemands();
  for (BlockArgument argument : entry.getArguments())
    if (!isInput(argument))
      argument.setType(sets.distribute(argument.getType(),
                                       ofState(argument.getArgNumber())));
  for (Operation &op : llvm::make_early_inc_range(entry.front())) {
    auto task = dyn_cast<TaskOp>(op);
    if (!task)
      continue;
    cursor = task;
    auto found = steps.find(task);
    Step step = found == steps.end() ? Step{Kind::Stage, -1, stageSet(task)}
                                     : found->second;
    if (step.kind == Kind::Table)
      splitTable(task);
    else if (step.kind == Kind::Sum)
      rewriteSum(task, step.on);
    else if (failed(rewriteTask(task, step.on)))
      return failure();
  }
  rewriteResults();
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  return success();
}
