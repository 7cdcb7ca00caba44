// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies that add what they make to accumulators.

#include "Accumulators.h"

using namespace mlir;
using namespace mlir::piper;

/// What a call accumulates must be a value of its own that can be added.
static LogicalResult verifyAccumulated(TaskOp task, Value part, int64_t result,
                                       ValueRange returned) {
  if (!part.getDefiningOp() || llvm::count(returned, part) != 1)
    return task.emitOpError()
           << "cannot add up result #" << result << ": in the body '"
           << task.getCallee() << "' it is an operand or another result";
  return success();
}

FailureOr<func::FuncOp> AccumulatorBodies::build(TaskOp task,
                                                 func::FuncOp body) {
  size_t count = task.getInto().size();
  func::FuncOp result = body.clone();
  result.setName((body.getSymName() + ".into").str());
  Block &block = result.front();
  Operation *terminator = block.getTerminator();
  unsigned first = terminator->getNumOperands() - count;
  for (unsigned index = first; index < terminator->getNumOperands(); ++index) {
    Value part = terminator->getOperand(index);
    if (failed(
            verifyAccumulated(task, part, index, terminator->getOperands()))) {
      result.erase();
      return failure();
    }
    // Right after the part is made, which then needs memory for a short time.
    OpBuilder builder(result.getContext());
    builder.setInsertionPointAfter(part.getDefiningOp());
    Value sum = block.addArgument(part.getType(), task.getLoc());
    terminator->setOperand(index, AddOp::create(builder, part.getLoc(),
                                                part.getType(), sum, part));
  }
  result.setFunctionType(
      FunctionType::get(result.getContext(), block.getArgumentTypes(),
                        body.getFunctionType().getResults()));
  symbols.insert(result);
  return result;
}

LogicalResult AccumulatorBodies::lower(TaskOp task) {
  size_t count = task.getInto().size();
  if (count == 0)
    return success();
  StringAttr callee = task.getCalleeAttr().getAttr();
  func::FuncOp &into = known[{callee, count}];
  if (!into) {
    FailureOr<func::FuncOp> built =
        build(task, symbols.lookup<func::FuncOp>(callee));
    if (failed(built))
      return failure();
    into = *built;
  }
  task.setCallee(into.getSymName());
  // The accumulators follow the inputs in the list of operands already.
  task.getProperties().operandSegmentSizes = {
      static_cast<int32_t>(task->getNumOperands()), 0};
  return success();
}
