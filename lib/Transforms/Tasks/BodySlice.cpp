// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of a body, and tasks that call them.

#include "BodySlice.h"

#include "llvm/ADT/Sequence.h"
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

namespace {
/// What some results of a body need.
struct Slice {
  Slice(func::FuncOp body, ArrayRef<unsigned> results) {
    Block &block = body.front();
    for (unsigned index : results)
      values.push_back(block.getTerminator()->getOperand(index));
    ops = findSlice(block, values);
    arguments = findArguments(block, ops, values);
    for (BlockArgument argument : arguments)
      part.operands.push_back(argument.getArgNumber());
  }
  SmallVector<Value> values;
  SmallVector<Operation *> ops;
  SmallVector<BlockArgument> arguments;
  BodyPart part;
};
} // namespace

SmallVector<unsigned> mlir::piper::sliceOperands(func::FuncOp body,
                                                 ArrayRef<unsigned> results) {
  return Slice(body, results).part.operands;
}

BodyPart mlir::piper::sliceBody(BodyTable &bodies, func::FuncOp body,
                                ArrayRef<unsigned> results, StringRef name) {
  if (results.size() == body.getNumResults())
    return {body,
            llvm::to_vector(llvm::seq<unsigned>(0, body.getNumArguments()))};
  Slice slice(body, results);
  slice.part.body = bodies.clone(
      name, slice.ops,
      SmallVector<Value>(slice.arguments.begin(), slice.arguments.end()),
      slice.values);
  return slice.part;
}

SmallVector<BitVector> mlir::piper::findDependences(func::FuncOp body) {
  Block &block = body.front();
  unsigned count = block.getNumArguments();
  DenseMap<Value, BitVector> depends;
  for (BlockArgument argument : block.getArguments()) {
    BitVector own(count);
    if (isFloat(argument))
      own.set(argument.getArgNumber());
    depends[argument] = own;
  }
  for (Operation &op : block.without_terminator()) {
    BitVector all(count);
    if (!isa<StopGradientOp>(op))
      for (Value operand : op.getOperands())
        all |= depends[operand];
    for (Value result : op.getResults())
      depends[result] = isFloat(result) ? all : BitVector(count);
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return depends[value]; });
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
