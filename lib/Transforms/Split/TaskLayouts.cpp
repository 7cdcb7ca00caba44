// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts of all values of an entry point. Tasks are visited in order; one
// that needs a value in parts which its producer would make whole sends the
// walk back to the producer.

#include "SplitBodies.h"

#include "Tasks/BodySlice.h"

using namespace mlir;
using namespace mlir::piper;

TaskSplit *TaskLayouts::producer(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? &tasks[indexOf.lookup(op)] : nullptr;
}

/// A task has a value that is complete only after all micro-batches and one
/// that each of them has.
LogicalResult TaskLayouts::verifyTogether(TaskSplit &split, Value sum,
                                          Value sample) {
  if (!sum || !sample)
    return success();
  if (isBackward(split.task) && isBackward(producer(sum)->task)) {
    InFlightDiagnostic diagnostic =
        producer(sum)->task.emitError()
        << "expects the loss to be linear in what is summed over '" << axis.name
        << "', so that it can be split into micro-batches, but its gradient "
           "depends on such a sum";
    diagnostic.attachNote(split.task.getLoc())
        << "each sample of what begins here needs the gradient";
    return diagnostic;
  }
  InFlightDiagnostic diagnostic =
      split.task.emitOpError()
      << "mixes the samples of '" << axis.name
      << "': it uses a sum over all of them beside single ones, and "
         "micro-batches run one after another";
  diagnostic.attachNote(producer(sum)->task.getLoc())
      << "the sum is made by the task that begins here";
  return diagnostic;
}

LogicalResult TaskLayouts::visit(TaskSplit &split,
                                 std::optional<BodySplit::Demand> &demand) {
  TaskOp task = split.task;
  Value sum, sample;
  bool afterOthers = false;
  SmallVector<SplitLayout> operands;
  for (Value operand : task.getInputs()) {
    SplitLayout own = layout(operand);
    TaskSplit *source = producer(operand);
    if (own.isPartial() || (source && source->isLate))
      sum = operand;
    if (own.isSplit())
      sample = operand;
    afterOthers |= source && source->perMicroBatch;
    operands.push_back(own);
  }
  if (!split.isOnce() && failed(verifyTogether(split, sum, sample)))
    return failure();
  // What runs once sees whole values, and sums when they are complete.
  bool isSingle = split.isOnce() || sum;
  if (isSingle)
    operands.assign(operands.size(), SplitLayout::whole());
  if (failed(bodies.follow(task, axis, operands, split.wanted, split.variant,
                           demand)))
    return failure();
  if (demand)
    return success();
  SplitVariant &variant = *split.variant;
  bool differs = variant.split.usesOrigin(), hasParts = false;
  for (const SplitLayout &result : variant.results) {
    differs |= result.isPartial();
    hasParts |= result.isSplit();
  }
  // The backward of a linear loss has the batch from nowhere: it is the same
  // for all micro-batches, but belongs to each.
  split.perMicroBatch =
      !isSingle && (sample || afterOthers || differs || hasParts);
  split.isLate = isSingle && (sum || afterOthers);
  if (isSingle && differs)
    return task.emitOpError()
           << "runs once for all micro-batches but would differ between them";
  for (auto [result, own] : llvm::zip_equal(task.getOuts(), variant.results))
    layouts[result] = own;
  return success();
}

/// Asks the producer of an operand for its parts; returns its index.
FailureOr<unsigned> TaskLayouts::ask(TaskSplit &split,
                                     const BodySplit::Demand &demand) {
  Value value = split.task.getInputs()[demand.operand];
  TaskSplit *source = producer(value);
  if (source) {
    source->wanted[cast<OpResult>(value).getResultNumber()] = demand.layout;
    return source - tasks.begin();
  }
  unsigned index = cast<BlockArgument>(value).getArgNumber();
  if (auto input = entry.getArgAttrOfType<InputAttr>(
          index, PiperDialect::InputAttrHelper::getNameStr()))
    return demand.op->emitOpError()
           << "expects dimension " << demand.layout.dim << " of input '"
           << input.getName().getValue() << "' to be named '" << axis.name
           << "', as it goes along the samples of another operand";
  auto param = entry.getArgAttrOfType<ParamAttr>(
      index, PiperDialect::ParamAttrHelper::getNameStr());
  return demand.op->emitOpError()
         << "mixes the samples of '" << axis.name << "': dimension "
         << demand.layout.dim << " of "
         << (param ? ("parameter '" + param.getName().getValue() + "'").str()
                   : "argument #" + std::to_string(index))
         << " has something of its own for each of them";
}

LogicalResult TaskLayouts::run(ArrayRef<int64_t> inputs) {
  for (auto [argument, dim] : llvm::zip_equal(entry.getArguments(), inputs))
    if (dim >= 0)
      layouts[argument] = SplitLayout::split(
          dim, cast<RankedTensorType>(argument.getType()).getDimSize(dim));
  for (auto task : entry.front().getOps<TaskOp>()) {
    indexOf[task] = tasks.size();
    tasks.push_back({task, nullptr, {}});
    tasks.back().wanted.resize(task.getNumResults());
  }
  for (unsigned i = 0; i < tasks.size(); ++i) {
    std::optional<BodySplit::Demand> demand;
    if (failed(visit(tasks[i], demand)))
      return failure();
    if (!demand)
      continue;
    FailureOr<unsigned> source = ask(tasks[i], *demand);
    if (failed(source))
      return failure();
    // The loop goes on with the producer.
    i = *source - 1;
  }
  return success();
}
