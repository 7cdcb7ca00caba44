// Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of a body: what some of its values need.

#ifndef PIPER_LIB_TRANSFORMS_TASKS_BODYSLICE_H
#define PIPER_LIB_TRANSFORMS_TASKS_BODYSLICE_H

#include "Piper/Transforms/BodyTable.h"

#include "llvm/ADT/BitVector.h"

#include <string>

namespace mlir::piper {

/// Whether `value` can have a gradient.
inline bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// The ops of `block` that `results` depend on, in program order, without
/// looking behind the values `given`.
SmallVector<Operation *> findSlice(Block &block, ArrayRef<Value> results,
                                   const DenseSet<Value> &given = {});

/// The arguments of `block` that `ops` read or that are among `results`, in
/// order.
SmallVector<BlockArgument>
findArguments(Block &block, ArrayRef<Operation *> ops, ArrayRef<Value> results);

/// A body that makes some of the results of another, and the operands of the
/// other that it takes.
struct BodyPart {
  func::FuncOp body;
  SmallVector<unsigned> operands;
};

/// The operands of `body` that these results need.
SmallVector<unsigned> sliceOperands(func::FuncOp body,
                                    ArrayRef<unsigned> results);
/// The body that makes these results of `body` and nothing else; `body` itself
/// where these are all.
BodyPart sliceBody(BodyTable &bodies, func::FuncOp body,
                   ArrayRef<unsigned> results, StringRef name);

/// For each result of `body` the operands on which it depends through
/// floating-point values other than stopped gradients.
SmallVector<llvm::BitVector> findDependences(func::FuncOp body);

/// The name of a body made from that of another: `suffix` is replaced by
/// `replacement` where it ends the name or stands before a number that made the
/// name unique ("layer.bw_0": "layer.bi_0"), and the replacement is appended
/// where the name has no such suffix.
std::string deriveName(StringRef name, StringRef suffix, StringRef replacement);

/// A call of `body` that is another part of `like`: the same tags, salt,
/// segment, micro-batch, stage and copy.
TaskOp createTaskLike(OpBuilder &builder, TaskOp like, func::FuncOp body,
                      ValueRange operands, PassKind pass);

/// Whether a task is of the backward: B, or one of its halves.
bool isBackward(TaskOp task);

} // namespace mlir::piper

#endif // PIPER_LIB_TRANSFORMS_TASKS_BODYSLICE_H
