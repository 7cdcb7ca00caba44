// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of a body, and tasks that call them.

#include "Piper/Transforms/BodySlice.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::piper;

SmallVector<Operation *> mlir::piper::findSlice(Block &block,
                                                ArrayRef<Value> results,
                                                const DenseSet<Value> &given) {
  DenseSet<Operation *> needed;
  SmallVector<Value> stack(results);
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op && !given.contains(value) && needed.insert(op).second)
      llvm::append_range(stack, op->getOperands());
  }
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    if (needed.contains(&op))
      ops.push_back(&op);
  return ops;
}

SmallVector<BlockArgument> mlir::piper::findArguments(Block &block,
                                                      ArrayRef<Operation *> ops,
                                                      ArrayRef<Value> results) {
  DenseSet<Value> used(results.begin(), results.end());
  for (Operation *op : ops)
    used.insert(op->operand_begin(), op->operand_end());
  return llvm::filter_to_vector(
      block.getArguments(),
      [&](BlockArgument argument) { return used.contains(argument); });
}

std::string mlir::piper::deriveName(StringRef name, StringRef suffix,
                                    StringRef replacement) {
  size_t at = name.rfind(suffix);
  if (at != StringRef::npos) {
    StringRef rest = name.drop_front(at + suffix.size());
    bool isNumber = rest.consume_front("_") && !rest.empty() &&
                    llvm::all_of(rest, [](char c) { return llvm::isDigit(c); });
    if (at + suffix.size() == name.size() || isNumber)
      return (name.take_front(at) + replacement +
              name.drop_front(at + suffix.size()))
          .str();
  }
  return (name + replacement).str();
}

TaskOp mlir::piper::createTaskLike(OpBuilder &builder, TaskOp like,
                                   func::FuncOp body, ValueRange operands,
                                   PassKind pass) {
  TaskOp task = createTask(builder, like.getLoc(), body, operands, pass,
                           like.getTagsAttr(), like.getSalt());
  task.setSegment(like.getSegment());
  task.setMb(like.getMb());
  task.setStage(like.getStage());
  task.setCopy(like.getCopy());
  return task;
}

bool mlir::piper::isBackward(TaskOp task) {
  return task.getPass() == PassKind::B || task.getPass() == PassKind::BI ||
         task.getPass() == PassKind::BW;
}
